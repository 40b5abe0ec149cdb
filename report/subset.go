package report

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// some returns the ascending numbers of most rows drawn at random, or nil for all rows if d has no
// more than that.
func some(d records.Data, most int, seed uint64) []int32 {
	if d.Len() <= most {
		return nil
	}
	return compare.Draw(rand.New(rand.NewPCG(seed, 0x736f6d65)), d.Len(), most)
}

// atMost returns d or, if it has more than most rows, that many of its rows drawn at random.
func atMost(d records.Data, most int, seed uint64) records.Data {
	if rows := some(d, most, seed); rows != nil {
		return judge.Rows(d, rows)
	}
	return d
}
