package privacytest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// partSums releases the sums of disjoint parts. The function parts returns the part of each record.
func partSums(n int, parts func(b *device.Batch) []int) func(context.Context, *ledger.Ledger,
	records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
		ledgers, err := l.Disjoint(ledger.Parts{Purpose: "parts", N: n, Fixed: true,
			MovesCovered: true})
		if err != nil {
			return nil, err
		}
		var b device.Batch
		d.Range(0, d.Len(), &b)
		of := parts(&b)
		std := mechanism.SumSensitivity(l.Relation(), d.Schema().MaxNorm())
		all := make([][]float64, n)
		for p, part := range ledgers {
			g, err := mechanism.Begin(ctx, part).Spend("sums", accountant.Gaussian{NoiseMultiplier: 1})
			if err != nil {
				return nil, err
			}
			sum := mechanism.NewFixedSum(d.Schema().Dim(), mechanism.GridFor(std))
			for row := range b.Rows {
				if of[row] == p {
					sum.AddRow(b.Dense.Row(row), 1)
				}
			}
			all[p] = make([]float64, sum.Dim())
			if err := g.Release(1, mechanism.Part{Sum: sum, Std: std, Out: all[p]}); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// byValue returns the parts of records by their first value.
func byValue(n int) func(b *device.Batch) []int {
	return func(b *device.Batch) []int {
		of := make([]int, b.Rows)
		for i := range of {
			of[i] = int(min(max((float64(b.Dense.Row(i)[0])+1)/2*float64(n), 0), float64(n-1)))
		}
		return of
	}
}

// byRank returns parts of equal sizes, by the rank of the first value.
func byRank(n int) func(b *device.Batch) []int {
	return func(b *device.Batch) []int {
		order, of := all(b.Rows), make([]int, b.Rows)
		slices.SortStableFunc(order, func(i, j int32) int {
			return cmp.Compare(b.Dense.Row(int(i))[0], b.Dense.Row(int(j))[0])
		})
		for rank, row := range order {
			of[row] = rank * n / b.Rows
		}
		return of
	}
}

// TestARecordIsInOnePart: if the rank of a record decides its part, an added record moves others to
// other parts, and the price of disjoint parts is too small. Each sum moves by no more than
// declared, so only the number of changed parts shows the fault. Half of the pairs under
// add-or-remove-one show it; in the others no record moves. Under replace-one a record may leave a
// part and enter another, so pairs show the fault only if a third part changes. Parts by value
// pass.
func TestARecordIsInOnePart(t *testing.T) {
	s := records.Interval(2, -1, 1)
	for _, c := range []struct {
		relation            accountant.Relation
		parts, every, least int
	}{{accountant.AddOrRemoveOne, 2, 2, 13}, {accountant.ReplaceOne, 5, 8, 2}} {
		found := 0
		for i, p := range Neighbours(t, s, c.relation, 6, 1) {
			if i%c.every != 0 {
				continue
			}
			findings := func(parts func(b *device.Batch) []int) []string {
				return Replay[records.Data]{Run: partSums(c.parts, parts), Budget: toyBudget(c.relation),
					Data: p.Data, Neighbour: p.Neighbour, Seeds: 1}.Findings(t)
			}
			if i%(4*c.every) == 0 {
				if f := findings(byValue(c.parts)); len(f) > 0 {
					t.Errorf("%v, %s: correct parts are accused: %v", c.relation, p.Name, f)
				}
			}
			found += number(len(findings(byRank(c.parts))) > 0)
		}
		if found < c.least {
			t.Errorf("%v: parts by rank are found in %d pairs, want at least %d", c.relation, found, c.least)
		}
	}
}

// TestTailsOfNoiseAreReached: a run that returns the number of records only if its noise is large
// is found, although noise is so large once in 4,300 draws.
func TestTailsOfNoiseAreReached(t *testing.T) {
	for _, sign := range []float64{-1, 0, 1} {
		f := replayed(t, accountant.AddOrRemoveOne, make([]float64, 3), make([]float64, 4),
			func(ctx context.Context, l *ledger.Ledger, d []float64) (any, error) {
				g, err := mechanism.Begin(ctx, l).Spend("count", accountant.Gaussian{NoiseMultiplier: 1})
				if err != nil {
					return nil, err
				}
				sum, out := mechanism.NewFixedSum(1, mechanism.GridFor(1)), make([]float64, 1)
				sum.AddInt(0, int64(len(d)))
				if err := g.Release(1, mechanism.Part{Sum: sum, Std: 1, Out: out}); err != nil {
					return nil, err
				}
				if sign*(out[0]-float64(len(d))) > 3.5 {
					return len(d), nil
				}
				return math.Round(out[0]), nil
			})
		if (len(f) > 0) != (sign != 0) {
			t.Errorf("large noise of sign %v: got findings %v", sign, f)
		}
	}
}
