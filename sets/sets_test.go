package sets_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

// plans returns plans of all methods for one schema.
func plans(t testing.TB, s records.Schema, b accountant.Budget) map[string]synth.PassProgram {
	t.Helper()
	c := sets.Common{Schema: s, Budget: b, MaxItems: min(3, s.MaxItems()), Seed: 1}
	out := map[string]synth.PassProgram{}
	add := func(name string, p synth.PassProgram, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = p
	}
	p, err := sets.Independent{Common: c}.Plan()
	add("independent", p, err)
	p, err = sets.MWEM{Common: c, Rounds: 4, Domain: 60, Queries: 70}.Plan()
	add("mwem", p, err)
	return out
}

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// visible returns everything that a fit releases.
func visible(p synth.PassProgram) func(context.Context, *ledger.Ledger,
	records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
		g, err := p.FitOn(ctx, l, d)
		if err != nil {
			return nil, err
		}
		rows, err := g.Sample(ctx, 50, synth.Seed(9))
		if err != nil {
			return nil, err
		}
		var b device.Batch
		rows.Range(0, rows.Len(), &b)
		return []any{b.Sparse.Items, b.Sparse.Offsets, g.Guarantee().Epsilon}, nil
	}
}

// TestNothingButReleasesDependsOnARecord replays whole fits on neighbouring data sets.
func TestNothingButReleasesDependsOnARecord(t *testing.T) {
	for _, r := range relations {
		budget := accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
		for _, s := range []records.Schema{records.Sets(9, 4), records.Sets(40, 12)} {
			for name, p := range plans(t, s, budget) {
				for i, pair := range privacytest.Neighbours(t, s, r, 12, 3) {
					if i%6 != len(name)%6 {
						continue
					}
					t.Run(fmt.Sprintf("%v/%v/%s/%s", r, s, name, pair.Name), func(t *testing.T) {
						privacytest.Replay[records.Data]{Run: visible(p), Budget: budget, Data: pair.Data,
							Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
					})
				}
			}
		}
	}
}

// userDefined is a data set with an invalid last set: its items are repeated, out of order or
// outside the universe.
type userDefined struct {
	records.Data
	row []uint32
}

func (f userDefined) Range(lo, hi int, b *device.Batch) {
	f.Data.Range(lo, hi, b)
	s := &device.Sparse{Cols: b.Sparse.Cols, Offsets: []int{0}}
	for i := range b.Rows {
		row := b.Sparse.Row(i)
		if lo+i == f.Len()-1 {
			row = f.row
		}
		s.Items = append(s.Items, row...)
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	b.Sparse = s
}

func TestUserDefinedRowsMoveNothingTooFar(t *testing.T) {
	s := records.Sets(9, 4)
	rows := make([][]uint32, 8)
	for i := range rows {
		rows[i] = []uint32{uint32(i), 8}
	}
	table := must(records.FromItems(s, rows))(t)
	for _, row := range [][]uint32{{3, 3, 3, 3, 3, 3}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {99, 1 << 31},
		{0, 1, 2, 3, 4, 5, 6, 7, 8}} {
		for _, r := range relations {
			budget := accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
			other := records.Data(table.Slice(0, 7))
			if r == accountant.ReplaceOne {
				other = table
			}
			for name, p := range plans(t, s, budget) {
				t.Run(fmt.Sprintf("%v/%s/%v", r, name, row), func(t *testing.T) {
					privacytest.Replay[records.Data]{Run: visible(p), Budget: budget,
						Data: userDefined{table, row}, Neighbour: other, Seeds: 1}.Check(t)
				})
			}
		}
	}
}

func TestMistakesAreParameterErrors(t *testing.T) {
	bad := sets.Common{Schema: records.Binary(4), MaxItems: -1}
	var wrong *param.Error
	for name, err := range map[string]error{
		"independent": second(sets.Independent{Common: bad}.Plan()),
		"mwem":        second(sets.MWEM{Common: bad, Rounds: -1, Queries: 1 << 30}.Plan()),
	} {
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestWithHardlyAnyNoise checks that with very little noise, every method reproduces the
// frequencies of items.
func TestWithHardlyAnyNoise(t *testing.T) {
	const n, fakes = 20000, 40000
	s := records.Sets(8, 8)
	rng := rand.New(rand.NewPCG(3, 9))
	rows := make([][]uint32, n)
	for i := range rows {
		if rng.Float64() < 0.3 { // items 0 and 1 occur together, and item 2 without them
			rows[i] = []uint32{0, 1}
		} else if rng.Float64() < 0.5 {
			rows[i] = []uint32{2}
		}
		if rng.Float64() < 0.2 {
			rows[i] = append(rows[i], 3)
		}
	}
	table := must(records.FromItems(s, rows))(t)
	budget := accountant.Budget{Epsilon: 200, Delta: 1e-5}
	for name, p := range plans(t, s, budget) {
		g := must(p.FitOn(privacytest.Seeded(t, context.Background(), 1),
			ledger.New(budget), table))(t)
		fake := must(g.Sample(context.Background(), fakes, synth.Seed(5)))(t)
		real, got := frequencies(table), frequencies(fake)
		tolerance := 0.02
		if name == "mwem" {
			tolerance = 0.2 // four rounds are far from convergence
		}
		for i, f := range real {
			if math.Abs(got[i]-f) > tolerance {
				t.Errorf("%s: frequency %d is %.3f, want %.3f", name, i, got[i], f)
			}
		}
	}
}

// frequencies returns the frequencies of 8 items.
func frequencies(d records.Data) [8]float64 {
	var out [8]float64
	records.EachSet(d, func(_ int, items []uint32) error {
		for _, item := range items {
			out[item] += 1 / float64(d.Len())
		}
		return nil
	})
	return out
}
