package draft

import (
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// pieces holds the parts that the pieces of a stream have stated so far.
type pieces struct {
	n    int
	of   int
	held map[int]bool
}

// add returns an error for a piece that may hold a user of an earlier piece. Such a user would
// count twice. A ledger that protects records needs no such check.
func (s *pieces) add(d records.Data, ledger *ledger.Ledger) error {
	if ledger.Unit() == records.UnitRecord {
		return nil
	}
	part, of := records.PartOf(d)
	if s.n++; s.n > 1 && (of == 0 || of != s.of || s.held[part]) {
		return param.New("draft.FitStream.parts", "pieces that may hold one "+ledger.Unit()+" twice",
			"one piece, or pieces that state different parts by records.WithPart")
	}
	if s.of = of; s.held == nil {
		s.held = map[int]bool{}
	}
	s.held[part] = true
	return nil
}
