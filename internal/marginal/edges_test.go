package marginal

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// everyColumn returns a schema with a column of every kind, with and without missing values.
func everyColumn(t *testing.T) records.Schema {
	t.Helper()
	return must(t, records.Categorical("colour", "red", "green", "blue").WithMissing(),
		records.Numeric("gap", -1, 1).WithMissing(), records.Flag("old", "no", "yes").WithMissing(),
		records.Integer("age", 0, 5).WithMissing(), records.Ordinal("size", "s", "m", "l"),
		records.Integer("wide", 0, 5000).WithMissing(), records.Numeric("amount", 0, 1e6),
		records.Flag("new", "no", "yes"), records.Label("class", "a", "b", "c"))
}

// TestCodesAreWhatIsWritten: every code of every column is read from the row that it is written to,
// also if the numbers of its cell are drawn from parts, and the codes of other columns are too.
func TestCodesAreWhatIsWritten(t *testing.T) {
	s, rng := everyColumn(t), rand.New(rand.NewPCG(3, 4))
	for _, cells := range []int{8, MostCells} {
		list := AttributesIn(s, cells)
		codes := make([][]uint16, len(list))
		for j, a := range list {
			for code := range a.Codes {
				var z records.Nonzeros
				z.Reset()
				want := make([]int, len(list))
				for k, b := range list {
					want[k] = rng.IntN(b.Codes)
					if k == j {
						want[k] = code
					}
					if b.Class() {
						z.Labels = append(z.Labels, int32(want[k]))
						continue
					}
					var parts *Parts
					if p := b.partsOf(want[k]); p.n > 1 {
						parts = newParts(p, slices.Repeat([]float64{1}, p.n))
					}
					b.Write(&z, want[k], nil, parts, rng)
				}
				z.End()
				CodesOf(list, &z, codes)
				for k := range list {
					if int(codes[k][0]) != want[k] {
						t.Fatalf("%d cells: column %d has code %d, want %d", cells, k, codes[k][0], want[k])
					}
				}
			}
		}
	}
}

// TestCodesOfAnyRow: whatever numbers a row has, it has one code of each column, in range, also if
// the cells of numbers are divided.
func TestCodesOfAnyRow(t *testing.T) {
	s, rng := everyColumn(t), rand.New(rand.NewPCG(5, 6))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	hostile := []float32{0, 1, 0.5, -1, 2, nan, inf, -inf, 1e30, -1e30, 1e-40, 0.999999}
	list := AttributesIn(s, 8)
	parted := slices.Clone(list)
	var d Division
	for _, a := range list {
		var divided []int
		for code := range a.Codes {
			if a.partsOf(code).n > 1 {
				divided = append(divided, code)
			}
		}
		d = append(d, divided)
	}
	for j, one := range d.divide(list) {
		parted[j].parts = one
	}
	for range 5000 {
		for j, a := range list {
			var places []int32
			var values []float32
			for k := range a.Block.Width {
				if rng.IntN(3) > 0 {
					places = append(places, int32(a.Block.Offset+k))
					values = append(values, hostile[rng.IntN(len(hostile))])
				}
			}
			label := rng.Int32N(9) - 4
			if got := a.code(places, values, label); got < 0 || got >= a.Codes {
				t.Fatalf("column %d: code %d of %v, want 0 to %d", j, got, values, a.Codes-1)
			}
			if p := parted[j].parts; p != nil {
				if got := parted[j].code(places, values, label); got < 0 || got > p.parts {
					t.Fatalf("column %d: part %d of %v, want 0 to %d", j, got, values, p.parts)
				}
			}
		}
	}
}

// TestCellsOfManyColumns: a row is in the cell of its codes, with its weight, in tables of one to
// five columns, whichever columns they have.
func TestCellsOfManyColumns(t *testing.T) {
	sizes, rng := []int{2, 3, 4, 2, 5, 3}, rand.New(rand.NewPCG(7, 8))
	codes, shares := make([][]uint16, len(sizes)), make([]int64, 100)
	for i := range shares {
		shares[i] = 1 + rng.Int64N(9)
		for j, n := range sizes {
			codes[j] = append(codes[j], uint16(rng.IntN(n)))
		}
	}
	for size := 1; size <= 5; size++ {
		EachGroup(len(sizes), size, func(group []int) {
			cells := 1
			for _, a := range group {
				cells *= sizes[a]
			}
			weights, rows := make([]int64, cells), make([]int64, cells)
			for i, share := range shares {
				cell := 0
				for _, a := range group {
					cell = cell*sizes[a] + int(codes[a][i])
				}
				weights[cell] += share
				rows[cell]++
			}
			gotWeights, gotRows := make([]int64, cells), make([]int64, cells)
			CountCells(sizes, group, codes, shares, gotWeights)
			CountRows(sizes, group, codes, gotRows)
			if !slices.Equal(gotWeights, weights) || !slices.Equal(gotRows, rows) {
				t.Errorf("columns %v: weights %v and %v rows, want %v and %v", group, gotWeights, gotRows,
					weights, rows)
			}
		})
	}
	if got, want := ExpectedNoise(7, 3), 7*3*0.7978845608; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("expected noise %v, want %v", got, want)
	}
}

// quiet is a tap under which releases are without noise.
type quiet struct{ watched }

func (*quiet) Release(r *entropy.Release) error {
	for i := range r.Outputs {
		copy(r.Outputs[i], r.Inputs[i])
	}
	return nil
}

// TestSurveysWithoutNoiseAreExact: without noise a survey has the counts of each column, their sum,
// and the noise that is stated for each. The total is 1 at least.
func TestSurveysWithoutNoiseAreExact(t *testing.T) {
	const z = 3.0
	s := must(t, records.Integer("n", 0, 3), records.Flag("f", "no", "yes"), records.Label("y", "a", "b",
		"c"))
	rows := [][]any{{0, "no", "a"}, {3, "yes", "c"}, {3, "yes", "c"}, {1, "yes", "b"}, {3, "no", "c"}}
	data, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	none, err := records.FromValues(s)
	if err != nil {
		t.Fatal(err)
	}
	list := AttributesOf(s)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	survey := Survey{list, budget.Relation}
	others, class := survey.Std(z)
	for n, data := range map[float64]records.Data{5: data, 1: none} {
		var got Surveyed
		p, err := synth.NewPassProgram("counting", s, budget, []synth.Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1, Once: true}},
			counting{s, survey.Counter, func(ctx context.Context, run *synth.Run) (err error) {
				got, err = survey.Release(ctx, run, "use", z)
				return err
			}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := entropy.WithTap(t.Context(), new(quiet))
		if _, err := p.FitOn(ctx, ledger.New(budget), data); err != nil {
			t.Fatal(err)
		}
		want := [][]float64{{1, 1, 0, 3}, {2, 3}, {1, 1, 3}}
		for j, counts := range got.Counts {
			if n == 5 && !slices.Equal(counts, want[j]) || n == 1 && slices.Max(counts) > 0 {
				t.Errorf("column %d of %v rows: counts %v", j, n, counts)
			}
		}
		if math.Abs(got.Total-n) > 1e-9 || !slices.Equal(got.Noise, []float64{others, others, class}) {
			t.Errorf("total %v, noise %v; want %v, %v and %v", got.Total, got.Noise, n, others, class)
		}
	}
}
