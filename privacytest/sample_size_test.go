package privacytest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// each returns steps on Poisson samples in which every record has several rows. A record counts if
// any of its rows is drawn. A record with a single row is drawn with the event's probability. If
// inParts is set, the records are in two disjoint parts, by their sign.
func each(rows int, inParts bool) func(context.Context, *ledger.Ledger, []float64) (any,
	error) {
	return func(ctx context.Context, l *ledger.Ledger, d []float64) (any, error) {
		if !inParts {
			return severalRows(ctx, l, d, rows)
		}
		parts, err := l.Disjoint(
			ledger.Parts{Purpose: "signs", N: 2, Fixed: true, MovesCovered: true})
		if err != nil {
			return nil, err
		}
		negative := func(x float64) bool { return x < 0 }
		a, err := severalRows(ctx, parts[0], slices.DeleteFunc(slices.Clone(d), negative), rows)
		if err != nil {
			return nil, err
		}
		b, err := severalRows(ctx, parts[1], slices.DeleteFunc(slices.Clone(d),
			func(x float64) bool { return !negative(x) }), rows)
		return [][]float64{a, b}, err
	}
}

// readsAll is the key of a context in which steps read records outside their samples.
type readsAll struct{}

func severalRows(ctx context.Context, l *ledger.Ledger, d []float64, each int) ([]float64,
	error) {
	event := accountant.PoissonSampled{Probability: 0.01,
		Event: accountant.Gaussian{NoiseMultiplier: 1}}
	a, err := mechanism.Begin(ctx, l).Reserve("steps", event, 20)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 1)
	for a.Remaining() > 0 {
		g, err := a.Next()
		if err != nil {
			return nil, err
		}
		rows, _ := g.PoissonSample(each*len(d), nil, nil)
		for i := range rows {
			rows[i] /= int32(each)
		}
		std := mechanism.SumSensitivity(l.Relation(), 1)
		s := mechanism.NewFixedSum(1, mechanism.GridFor(std))
		if more, _ := ctx.Value(readsAll{}).(bool); more {
			s.AddRow64([]float64{d[len(d)-1] / 4}, 1)
			s.AddRow64([]float64{d[0] / 4}, 1)
		}
		for _, row := range slices.Compact(rows) {
			s.AddRow64([]float64{min(max(d[row], -1), 1)}, 1)
		}
		if err := g.Release(1, mechanism.Part{Sum: s, Std: std, Out: out}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// TestARecordCountsForOneRowOfASample: if a record counts for 50 rows of a Poisson sample, it is
// drawn with up to 50 times the event's probability. Replay finds this in the first seed, for every
// place of the changed record. It also finds this for data of unknown size and in disjoint parts.
// The same steps with one row for each record pass.
func TestARecordCountsForOneRowOfASample(t *testing.T) {
	type hidden struct{ rows []float64 }
	base := make([]float64, 19)
	for i := range base {
		base[i] = math.Sin(float64(i + 1))
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		budget := accountant.Budget{Epsilon: 1000, Delta: 1e-5, Relation: r}
		for _, at := range []int{0, 9, 19} {
			a, b := base, slices.Insert(slices.Clone(base), at, 1)
			if r == accountant.ReplaceOne {
				a = slices.Insert(slices.Clone(base), at, 0.5)
			}
			for _, inParts := range []bool{false, true} {
				if inParts && (at != 19 || r == accountant.ReplaceOne) {
					continue // see TestStepsInParts
				}
				name := fmt.Sprintf("%v, record %d, parts %v", r, at, inParts)
				check := func(what string, findings func(rows int) []string) {
					if f := findings(1); len(f) > 0 {
						t.Errorf("%s, %s: correct steps are accused: %v", name, what, f)
					}
					if len(findings(50)) == 0 {
						t.Errorf("%s, %s: 50 rows for each record: not found", name, what)
					}
				}
				check("known size", func(rows int) []string {
					return Replay[[]float64]{Run: each(rows, inParts), Budget: budget, Data: a,
						Neighbour: b, Seeds: 1}.Findings(t)
				})
				if at != 19 {
					continue // unknown rows are coupled if the record is the last one
				}
				check("unknown size", func(rows int) []string {
					run := func(ctx context.Context, l *ledger.Ledger, d hidden) (any, error) {
						return each(rows, inParts)(ctx, l, d.rows)
					}
					return Replay[hidden]{Run: run, Budget: budget, Data: hidden{a},
						Neighbour: hidden{b}, Seeds: 1, Changed: []int{at}}.Findings(t)
				})
			}
		}
	}
}

// TestStepsInParts: correct steps in disjoint parts are not accused, wherever the changed record
// is, and whether or not it moves to the other part. Steps that read more than their samples are
// found if the record is the first or the last one. In the middle its number in the part is not
// known.
func TestStepsInParts(t *testing.T) {
	base := make([]float64, 19)
	for i := range base {
		base[i] = math.Sin(float64(i + 1))
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, at := range []int{0, 5, 9, 19} {
			for _, before := range []float64{0.5, -0.5} {
				if r == accountant.AddOrRemoveOne && before < 0 {
					continue // nothing is replaced
				}
				a, b := base, slices.Insert(slices.Clone(base), at, 1)
				if r == accountant.ReplaceOne {
					a = slices.Insert(slices.Clone(base), at, before)
				}
				check := func(rows int, more bool) []string {
					run := func(ctx context.Context, l *ledger.Ledger, d []float64) (any, error) {
						readsAll := context.WithValue(ctx, readsAll{}, more)
						return each(rows, true)(readsAll, l, d)
					}
					return Replay[[]float64]{Run: run, Data: a, Neighbour: b, Seeds: 2,
						Budget: accountant.Budget{Epsilon: 1000, Delta: 1e-5, Relation: r}}.Findings(t)
				}
				name := fmt.Sprintf("%v, record %d, %v replaced", r, at, before)
				if f := check(1, false); len(f) > 0 {
					t.Errorf("%s: correct steps are accused: %v", name, f)
				}
				moves := r == accountant.ReplaceOne && before < 0
				if f := check(50, false); len(f) == 0 && (moves || r == accountant.AddOrRemoveOne) {
					t.Errorf("%s: 50 rows for each record: not found", name)
				}
				if f := check(1, true); len(f) == 0 && (at == 19 || at == 0 && r == accountant.ReplaceOne &&
					!moves) {
					t.Errorf("%s: steps that read all records: not found", name)
				}
			}
		}
	}
}

// TestRowsWithoutRecords: a sample from more rows than records is reported, although both data sets
// have the same number of rows without records.
func TestRowsWithoutRecords(t *testing.T) {
	run := func(ctx context.Context, l *ledger.Ledger, d []float64) (any, error) {
		g, err := mechanism.Begin(ctx, l).Spend("step", accountant.PoissonSampled{Probability: 0.5,
			Event: accountant.Gaussian{NoiseMultiplier: 1}})
		if err == nil {
			g.PoissonSample(len(d)+5, nil, nil)
		}
		return nil, err
	}
	if f := replayed(t, accountant.AddOrRemoveOne, make([]float64, 3), make([]float64, 4),
		run); len(f) == 0 {
		t.Error("samples of 8 and of 9 rows of 3 and 4 records: not found")
	}
}
