package privacytest

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// TestSparseHistogramsCountOnce: a replay finds a record that adds 2 to one count, where the
// threshold is priced for a record that adds 1 to each of several.
func TestSparseHistogramsCountOnce(t *testing.T) {
	e := accountant.SparseHistogram{Sigma: 10, Threshold: 60, Cells: 4}
	for _, each := range []int64{1, 2} {
		f := Replay[[]string]{Budget: accountant.Budget{Epsilon: 100, Delta: 1e-5},
			Data: []string{"a", "a", "b"}, Neighbour: []string{"a", "a", "b", "c"},
			Run: func(ctx context.Context, l *ledger.Ledger, d []string) (any, error) {
				g, err := mechanism.Begin(ctx, l).Spend("texts", e)
				if err != nil {
					return nil, err
				}
				counts := map[string]int64{}
				for _, text := range d {
					for number := range 4 / (each * each) {
						counts[fmt.Sprint(text, number)] += each
					}
				}
				return g.SparseHistogram([]map[string]int64{counts})
			}}.Findings(t)
		if (len(f) > 0) != (each > 1) {
			t.Errorf("records that add %d: findings %q", each, f)
		}
	}
}
