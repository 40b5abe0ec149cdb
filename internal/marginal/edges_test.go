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
		records.Flag("new", "no", "yes"), records.Categorical("last", "p", "q", "r"),
		records.Label("class", "a", "b", "c"))
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

// TestPartsAreCounted: a number of a divided cell counts once, with its weight, in the part that it
// was drawn from, and other numbers do not count.
func TestPartsAreCounted(t *testing.T) {
	s, rng := must(t, records.Integer("wide", 0, 5000).WithMissing(), records.Flag("f", "no", "yes"),
		records.Integer("other", 0, 900)), rand.New(rand.NewPCG(9, 10))
	list := AttributesIn(s, 8)
	d := Division{{2, 5}, nil, {3}}
	survey := PartSurvey{list, d, accountant.AddOrRemoveOne}
	first := 0
	for j, codes := range d {
		for code := range list[j].Codes {
			n := list[j].partsOf(code).n
			for part := range max(n, 1) {
				var parts *Parts
				if n > 1 {
					weights := make([]float64, n)
					weights[part] = 1
					parts = newParts(list[j].partsOf(code), weights)
				}
				var z records.Nonzeros
				z.Reset()
				for k, a := range list {
					if k == j {
						a.Write(&z, code, nil, parts, rng)
					} else {
						a.Write(&z, 0, nil, nil, rng)
					}
				}
				z.End()
				row, err := records.DecodeNonzeros(s, &z)
				if err != nil {
					t.Fatal(err)
				}
				c := survey.Counter()
				if err := c.Add(t.Context(), row); err != nil {
					t.Fatal(err)
				}
				want := make([]int64, survey.size())
				if slices.Contains(codes, code) {
					want[first+part] = int64(1 / c.Sums()[0].Grid())
				}
				if got := c.Sums()[0].Exact(); !slices.Equal(got, want) {
					t.Fatalf("column %d, cell %d, part %d: counts %v, want %v", j, code, part, got, want)
				}
			}
			if slices.Contains(codes, code) {
				first += n
			}
		}
	}
	if first != survey.size() {
		t.Errorf("%d parts, want %d", first, survey.size())
	}
}

// TestNoiseThatCannotBeDrawn: noise is refused exactly if it does not fit the grid of one of the
// releases, whichever cells will be divided.
func TestNoiseThatCannotBeDrawn(t *testing.T) {
	s := must(t, records.Integer("n", 0, 300), records.Integer("m", 0, 400), records.Flag("f", "no",
		"yes"), records.Label("y", "a", "b"))
	list := AttributesOf(s)
	const most = 1 << 43
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		survey := Survey{list, r}
		others, class := survey.Std(1)
		grid, classGrid := survey.Grids()
		parts := PartSurvey{list, nil, r}
		halves := Halves{list, r}
		half := TableGrid(halves.Std(1)) / halves.Std(1)
		least, largest := 0.0, math.Inf(1)
		for n := 1; n <= len(list); n++ {
			one := PartSurvey{list, slices.Repeat(Division{{1}}, n), r}
			step := TableGrid(one.Std(1)) / one.Std(1)
			least, largest = max(least, step), min(largest, most*step)
		}
		for name, c := range map[string]struct {
			drawable     func(float64) bool
			least, large float64
		}{"columns": {survey.Drawable, max(grid/others, classGrid/class),
			most * min(grid/others, classGrid/class)}, "parts": {parts.Drawable, least, largest},
			"halves": {halves.Drawable, half, most * half}} {
			const off = 1e-9
			for noise, ok := range map[float64]bool{c.least * (1 + off): true, c.least * (1 - off): false,
				c.large * (1 - off): true, c.large * (1 + off): false, 1: true, math.NaN(): false} {
				if c.drawable(noise) != ok {
					t.Errorf("%v, %s: noise of %v can be drawn: %v", r, name, noise, !ok)
				}
			}
		}
	}
}

// TestGroupsThatAreRead: groups are read from what encodes them, and from nothing shorter or
// longer, and no group is beyond the column's codes.
func TestGroupsThatAreRead(t *testing.T) {
	list := AttributesIn(everyColumn(t), 8)
	var groups []Grouping
	for _, a := range list {
		part := slices.Repeat([]float64{1 / float64(a.Codes)}, a.Codes)
		g := a.Grouped(part, 0.01, 4)
		a.Coarsen(&g, 2)
		groups = append(groups, g)
	}
	state := GroupState(groups)
	got, ok := ReadGroups(list, state)
	for j := range list {
		if !ok || !slices.Equal(got[j].Group, groups[j].Group) || got[j].Size != groups[j].Size {
			t.Fatalf("column %d: read %+v, want %+v", j, got[j], groups[j])
		}
	}
	passed := PassState(groups)
	if again, ok := ReadPassState(list, passed, 2); !ok || !slices.EqualFunc(again, groups,
		func(a, b Grouping) bool {
			return slices.Equal(a.Coarse, b.Coarse) && a.CoarseSize == b.CoarseSize
		}) {
		t.Error("coarse groups are read otherwise")
	}
	for n := range len(state) {
		if _, ok := ReadGroups(list, state[:n]); ok {
			t.Fatalf("%d of %d bytes are read", n, len(state))
		}
	}
	for n := range len(passed) {
		if _, ok := ReadPassState(list, passed[:n], 2); ok {
			t.Fatalf("%d of %d bytes are read", n, len(passed))
		}
	}
	if _, ok := ReadGroups(list, append(slices.Clone(state), 0, 0)); ok {
		t.Error("two bytes too many are read")
	}
	for i := 0; i < len(state); i += 2 {
		forged := slices.Clone(state)
		forged[i+1] = 0xff
		if _, ok := ReadGroups(list, forged); ok {
			t.Fatalf("a group beyond all codes is read at byte %d", i)
		}
	}
}

// TestDivisionsHaveAPass: the cells that released counts divide are a division that a pass takes,
// however many cells have many records: the most frequent ones that have room.
func TestDivisionsHaveAPass(t *testing.T) {
	var columns []records.Column
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
		"n"} {
		columns = append(columns, records.Integer(name, 0, 400_000))
	}
	list := AttributesOf(must(t, columns...))
	var known Surveyed
	for j, a := range list {
		counts := slices.Repeat([]float64{1000}, a.Codes)
		for code := range counts {
			counts[code] += float64((code*37+j*11)%500) + 10*float64(j)
		}
		known.Counts = append(known.Counts, counts)
	}
	d := known.Divide(list, 100)
	if !d.Valid(list) {
		t.Fatal("no pass takes the division")
	}
	parts, least := 0, math.Inf(1)
	for j, codes := range d {
		for _, code := range codes {
			parts, least = parts+list[j].partsOf(code).n, min(least, known.Counts[j][code])
		}
	}
	n := list[0].partsOf(5).n
	if parts+n <= MostParts {
		t.Errorf("%d parts, although there is room for %d", parts, MostParts)
	}
	for j, a := range list {
		for code := 1; code < a.Codes-1; code++ {
			if list[j].partsOf(code).n <= n && known.Counts[j][code] > least &&
				!slices.Contains(d[j], code) {
				t.Fatalf("cell %d of column %d is not divided, although a smaller one is", code, j)
			}
		}
	}
	if few := known.Divide(list, 1e9); few.Columns() > 0 {
		t.Errorf("cells of fewer records than wanted are divided: %v", few)
	}
}

// TestInterruptedCounts: counts of some of the records are not taken for those of all.
func TestInterruptedCounts(t *testing.T) {
	s := must(t, records.Flag("f", "no", "yes"))
	data, err := records.FromValues(s, []any{"no"}, []any{"yes"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Survey{AttributesOf(s), accountant.AddOrRemoveOne}).Counter().Add(ctx,
		data); err == nil {
		t.Error("a cancelled count has no error")
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
			CountCells(sizes, group, codes, slices.Repeat([]int64{1}, len(shares)), gotRows)
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
	s := must(t, records.Integer("n", 0, 3), records.Flag("f", "no", "yes"), records.Label("y", "a",
		"b",
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
			counting{s, nil, survey.Counter, func(ctx context.Context, run *synth.Run) (err error) {
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
