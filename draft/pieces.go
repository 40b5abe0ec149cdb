package draft

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// pieces are the parts of all users that the pieces of a stream so far have stated.
type pieces struct {
	n    int
	of   int
	held map[int]bool
}

// add refuses a further piece in which a user may be who was in one before: that user would count
// twice. Where a ledger protects records there is no such question.
func (s *pieces) add(d records.Data, ledger *accountant.Ledger) error {
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
