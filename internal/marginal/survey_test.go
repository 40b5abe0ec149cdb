package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// countsOf returns the counts of rows of codes, in rows, of each sum of a histogram.
func countsOf(c *Histogram, rows ...[]uint16) (sums [][]float64) {
	codes := make([][]uint16, len(c.attributes))
	var shares []int64
	for _, row := range rows {
		shares = append(shares, int64(1/records.ShareStep))
		for j, code := range row {
			codes[j] = append(codes[j], code)
		}
	}
	c.cells(codes, shares, c.counts)
	c.flush()
	for _, s := range c.Sums() {
		var own []float64
		for _, steps := range s.Exact() {
			own = append(own, float64(steps)*s.Grid())
		}
		sums = append(sums, own)
	}
	return sums
}

// effect returns the distance of two releases in standard deviations of their noise.
func effect(x, y [][]float64, std ...float64) float64 {
	sum := 0.0
	for k := range x {
		sum += squares(x[k], y[k]) / std[k] / std[k]
	}
	return math.Sqrt(sum)
}

// everyRow calls f with every row of codes below the given numbers.
func everyRow(sizes []int, f func(row []uint16)) {
	row := make([]uint16, len(sizes))
	for {
		f(slices.Clone(row))
		j := 0
		for ; j < len(row); j++ {
			if row[j]++; int(row[j]) < sizes[j] {
				break
			}
			row[j] = 0
		}
		if j == len(row) {
			return
		}
	}
}

// largestEffect returns the largest effect of one row, or of one row in place of another.
func largestEffect(count func(rows ...[]uint16) [][]float64, sizes []int, r accountant.Relation,
	std ...float64) (worst float64) {
	none := count()
	var all [][][]float64
	everyRow(sizes, func(row []uint16) { all = append(all, count(row)) })
	for i, x := range all {
		if r == accountant.AddOrRemoveOne {
			worst = max(worst, effect(x, none, std...))
			continue
		}
		for _, y := range all[:i] {
			worst = max(worst, effect(x, y, std...))
		}
	}
	return worst
}

// TestSurveyEffect: one record moves the counts of a survey by the effect that its noise is scaled
// for, with and without a class and under both relations.
func TestSurveyEffect(t *testing.T) {
	schemas := map[string][]records.Column{
		"a number to be predicted": {records.Flag("f", "no", "yes"),
			records.Target("y", 0, 1).WithStep(.5), records.Categorical("c", "x", "y", "z")},
		"no class": {records.Flag("f", "no", "yes"), records.Categorical("c", "x", "y", "z")},
		"a class": {records.Flag("f", "no", "yes"), records.Flag("g", "no", "yes"), records.Label("y",
			"a", "b")},
		"a class only with one column": {records.Categorical("c", "x", "y"),
			records.Label("y", "a", "b", "c")},
	}
	for name, columns := range schemas {
		s, err := records.NewSchema(columns...)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			survey := Survey{AttributesOf(s), r}
			var sizes []int
			for _, a := range survey.Attributes {
				sizes = append(sizes, a.Codes)
			}
			others, class := survey.Std(1.7)
			worst := largestEffect(func(rows ...[]uint16) [][]float64 {
				return countsOf(survey.Counter(), rows...)
			}, sizes, r, others, class)
			if math.Abs(worst*1.7-1) > 1e-9 {
				t.Errorf("%s, %v: one record has an effect of %v, want %v", name, r, worst, 1/1.7)
			}
			if a, b := survey.Sizes(); a+b != total(sizes) || (b > 0) != (name != "no class") {
				t.Errorf("%s: %d and %d counts of %v", name, a, b, sizes)
			}
			if !survey.Drawable(1) || survey.Drawable(0) || survey.Drawable(math.NaN()) ||
				survey.Drawable(0x1p60) || survey.Drawable(0x1p-40) {
				t.Errorf("%s: noise that can be drawn", name)
			}
		}
	}
}

func total(sizes []int) (sum int) {
	for _, n := range sizes {
		sum += n
	}
	return sum
}

// TestPartSurveyEffect: one record is in at most one part of each column with divided cells. It
// moves the counts of the parts by the effect that their noise is scaled for.
func TestPartSurveyEffect(t *testing.T) {
	a := AttributesOf(must(t, records.Integer("x", 0, 5000), records.Integer("y", 0, 1_000_000_000).
		Logarithmic(), records.Integer("z", 0, 5000)))
	known := Surveyed{Counts: make([][]float64, len(a))}
	for j := range a {
		known.Counts[j] = make([]float64, a[j].Codes)
	}
	wide := a[1].Codes - 3
	known.Counts[0][3], known.Counts[0][9], known.Counts[1][wide] = 80, 90, 70
	d := known.Divide(a, 60)
	if d.Columns() != 2 || !slices.Equal(d[0], []int{3, 9}) || !slices.Equal(d[1], []int{wide}) ||
		!d.Valid(a) || d[:2].Valid(a) {
		t.Fatalf("divided: %v", d)
	}
	if none := known.Divide(a, 91); none.Columns() != 0 {
		t.Errorf("cells of few records are divided: %v", none)
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		s := PartSurvey{a, d, r}
		c := s.Counter()
		divided := d.divide(a)
		sizes := []int{divided[0].parts + 1, divided[1].parts + 1, 1}
		if c.Sums()[0].Dim() != s.size() || s.size() != divided[0].parts+divided[1].parts {
			t.Fatalf("%d counts, want %d", s.size(), divided[0].parts+divided[1].parts)
		}
		sizes[0], sizes[1] = min(sizes[0], 5), min(sizes[1], 5)
		worst := largestEffect(func(rows ...[]uint16) [][]float64 {
			return countsOf(s.Counter(), rows...)
		}, sizes, r, s.Std(1.7))
		if math.Abs(worst*1.7-1) > 1e-9 {
			t.Errorf("%v: one record has an effect of %v, want %v", r, worst, 1/1.7)
		}
		if !s.Drawable(1) || s.Drawable(0) || s.Drawable(math.NaN()) || s.Drawable(0x1p60) {
			t.Error("noise that can be drawn")
		}
		empty := PartSurvey{a, make(Division, len(a)), r}
		if empty.size() != 1 || !(empty.Std(2) >= 2) {
			t.Errorf("without divided cells: %d counts with noise %v", empty.size(), empty.Std(2))
		}
	}
	weights := slices.Repeat([]float64{1}, PartSurvey{Attributes: a, Division: d}.size())
	if _, ok := d.Parts(a, weights); !ok {
		t.Error("weights of all parts are refused")
	}
	for what, w := range map[string][]float64{"too few": weights[1:], "too many": append(weights, 1),
		"a negative weight": append([]float64{-1}, weights[1:]...),
		"no number":         append([]float64{math.NaN()}, weights[1:]...),
		"an infinite one":   append([]float64{math.Inf(1)}, weights[1:]...),
		"zeros":             make([]float64, len(weights))} {
		if _, ok := d.Parts(a, w); ok {
			t.Errorf("weights with %s are accepted", what)
		}
	}
}

func must(t *testing.T, columns ...records.Column) records.Schema {
	t.Helper()
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTablesCountEachRowOnce compares the counts of tables of one to three columns with a map.
func TestTablesCountEachRowOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	sizes := []int{2, 5, 3, 4}
	codes := make([][]uint16, len(sizes))
	var shares []int64
	for range 300 {
		for j, n := range sizes {
			codes[j] = append(codes[j], uint16(rng.IntN(n)))
		}
		shares = append(shares, 1+rng.Int64N(9))
	}
	groups := 0
	for size := 1; size <= 3; size++ {
		EachGroup(len(sizes), size, func(group []int) {
			groups++
			if !slices.IsSorted(group) || len(slices.Compact(slices.Clone(group))) != size {
				t.Errorf("group %v", group)
			}
			cells := 1
			for _, j := range group {
				cells *= sizes[j]
			}
			rows, weights := make([]int64, cells), make([]int64, cells)
			wantRows, wantWeights := make([]int64, cells), make([]int64, cells)
			CountCells(sizes, group, codes, slices.Repeat([]int64{1}, len(shares)), rows)
			CountCells(sizes, group, codes, shares, weights)
			for i, share := range shares {
				at := 0
				for _, j := range group {
					at = at*sizes[j] + int(codes[j][i])
				}
				wantRows[at]++
				wantWeights[at] += share
			}
			if !slices.Equal(rows, wantRows) || !slices.Equal(weights, wantWeights) {
				t.Errorf("group %v: %v and %v, want %v and %v", group, rows, weights, wantRows, wantWeights)
			}
		})
	}
	if groups != 4+6+4 {
		t.Errorf("%d groups, want 14", groups)
	}
	seen := make([]bool, 50)
	InParallel(len(seen), func(i int) { seen[i] = true })
	if slices.Contains(seen, false) {
		t.Errorf("not all are called: %v", seen)
	}
}

// TestGridsOfTables: the grid of a table holds shares and billions of records, and is fine compared
// with the noise. What a histogram computes from other counts is counted once.
func TestGridsOfTables(t *testing.T) {
	for _, std := range []float64{1e-3, 1, 1e5, 1e12} {
		grid := TableGrid(std)
		if !(grid <= std*0x1p-12) || grid > records.ShareStep || records.ShareStep/grid !=
			math.Floor(records.ShareStep/grid) || grid < min(std, 1)*0x1p-34 {
			t.Errorf("noise %v has the grid %v", std, grid)
		}
	}
	a := []Attribute{{Block: network.Block{Width: 1}, Codes: 2}}
	s := Survey{a, accountant.AddOrRemoveOne}
	c := s.Counter().Completed(func(counts []int64) { counts[1] = 3 * counts[0] })
	if got := countsOf(c, []uint16{0}, []uint16{0}); got[0][0] != 2 || got[0][1] != 6 {
		t.Errorf("completed counts %v", got)
	}
	if got := countsOf(c); got[0][0] != 2 || got[0][1] != 6 {
		t.Errorf("counts after a second flush %v", got)
	}
	for _, h := range []Halves{{a, accountant.AddOrRemoveOne}, {a, accountant.ReplaceOne}} {
		if !h.Drawable(1) || h.Drawable(0) || h.Drawable(math.NaN()) || h.Drawable(0x1p60) {
			t.Error("noise of halves that can be drawn")
		}
		if std := h.Std(3); math.Abs(std*std-9*h.squaredSensitivity()) > 1e-9 {
			t.Errorf("halves have noise %v", std)
		}
	}
}
