package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// partColumns returns columns of numbers with cells of single values, of ranges, and of both.
func partColumns() []records.Column {
	return []records.Column{records.Integer("linear", 0, 5000),
		records.Integer("logarithmic", 0, 1_000_000_000).Logarithmic(),
		records.Numeric("step", -1, 99).WithStep(0.01).WithMissing(),
		records.Numeric("log step", 0, 30_000).WithStep(0.01).Logarithmic(),
		records.Numeric("any", -3, 3), records.Integer("wide", -5, min(1<<40, math.MaxInt))}
}

// hugeColumns returns columns of more values than coordinates of 32 bits tell apart.
func hugeColumns() []records.Column {
	shift := func(n uint) int { return 1 << n } // not constant, since an int may have 32 bits
	return []records.Column{records.Integer("wide and logarithmic", 0, shift(47)).Logarithmic(),
		records.Integer("widest", 0, shift(53)-1),
		records.Integer("widest and logarithmic", 0, shift(53)-1).Logarithmic(),
		records.Integer("large", shift(60)+100, shift(60)+10100),
		records.Integer("larger", shift(62)+600, shift(62)+2100)}
}

// TestPartsHoldTheirValues checks every cell of columns of all kinds. The number of each coordinate
// in a cell is in range. A single value is drawn as a coordinate that decodes to this value and
// lies in the cell and the part. A number drawn from a range lies in the cell and the part, or is
// by chance a round value.
func TestPartsHoldTheirValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, cells := range []int{8, 35, MostCells} {
		for _, c := range partColumns() {
			s, err := records.NewSchema(c, records.Flag("f", "a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			a := AttributesIn(s, cells)[0]
			singles := 0
			for code := range a.Codes {
				p := a.partsOf(code)
				if code < 1 || code > cells {
					if p.n != 0 {
						t.Fatalf("%s: code %d, which is no cell, has %d parts", c.Name(), code, p.n)
					}
					continue
				}
				for range 20 {
					x := (float64(code-1) + rng.Float64()) / float64(cells)
					if part := p.n; part > 0 && (p.of(x) < 0 || p.of(x) >= part) {
						t.Fatalf("%s: part %d of %d", c.Name(), p.of(x), part)
					}
				}
				for part := range p.n {
					x := p.number(part, nil, rng)
					if got := p.of(float64(x)); got != part && (part >= p.equal || got < p.equal) {
						t.Fatalf("%s, cell %d: drew part %d, want %d of %d", c.Name(), code, got, part, p.n)
					}
					if part < p.equal {
						continue
					}
					if singles++; singles%37 != 0 {
						continue
					}
					row := make([]float32, s.Dim())
					row[0] = x
					f, err := records.DecodeFlat(s, row)
					if err != nil {
						t.Fatal(err)
					}
					lo, _ := c.Bounds()
					want := lo + (p.first+float64(part-p.equal)*p.every)*c.Step()
					if got := f.Number(0, 0); math.Abs(got-want) > 1e-6*c.Step() {
						t.Fatalf("%s, cell %d: drew %v, want %v", c.Name(), code, got, want)
					}
					if got := a.code([]int32{0}, []float32{x}, 0); got != code {
						t.Fatalf("%s: %v of cell %d is in cell %d", c.Name(), want, code, got)
					}
				}
			}
			if c.Name() == "wide" && strconv.IntSize < 64 {
				continue // coordinates tell a few of its round values apart
			}
			if wide := c.Step() == 0 || c.Name() == "wide"; (singles == 0) != wide {
				t.Errorf("%s in %d cells: %d single values", c.Name(), cells, singles)
			}
		}
	}
}

// TestPartsOfHugeColumns checks that the parts of every cell are found at once, although millions
// of values have the same coordinate. The bounds of larger whole numbers are rounded, so their
// cells have no parts for single values.
func TestPartsOfHugeColumns(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has 32 bits")
	}
	for _, c := range hugeColumns() {
		s, err := records.NewSchema(c, records.Flag("f", "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		a := AttributesIn(s, 35)[0]
		for code := 1; code <= 35; code++ {
			p := a.partsOf(code)
			if p.n > p.equal && c.LogUnit() == 0 {
				t.Errorf("%s, cell %d: %d single values", c.Name(), code, p.n)
			}
			for _, x := range []float64{float64(code-1) / 35, float64(code) / 35, math.NaN()} {
				if p.n > 0 && (p.of(x) < 0 || p.of(x) >= p.n) {
					t.Errorf("%s, cell %d: part %d of %d", c.Name(), code, p.of(x), p.n)
				}
			}
		}
	}
}

// TestEveryCoordinateHasOnePart checks that the code of any coordinate is that of one part, or 0:
// borders of cells and their neighbours, random bits, and values that no schema allows.
func TestEveryCoordinateHasOnePart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 0, 1, 2,
		float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, math.MaxFloat32}
	for i := range MostCells + 1 {
		x := float32(i) / MostCells
		values = append(values, x, math.Nextafter32(x, 2), math.Nextafter32(x, -1))
	}
	for range 2000 {
		values = append(values, math.Float32frombits(rng.Uint32()), rng.Float32())
	}
	for _, c := range append(partColumns(), records.Numeric("huge", -1e300, 1e300).Logarithmic()) {
		s, err := records.NewSchema(c, records.Flag("f", "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		attributes, total := AttributesOf(s), 0
		d := make(Division, len(attributes))
		for code := range attributes[0].Codes {
			if n := attributes[0].partsOf(code).n; n >= 2 && total+n <= MostParts {
				d[0], total = append(d[0], code), total+n
			}
		}
		a := attributes[0]
		a.parts = d.divide(attributes)[0]
		for _, x := range values {
			code := a.code([]int32{0}, []float32{x}, 0)
			if inside := x > 0 && x < 1; code < 0 || code > total || code > 0 && !inside {
				t.Errorf("%s: %v has code %d of %d", c.Name(), x, code, total)
			}
		}
	}
}

// TestDivisionStates checks that a division survives being encoded, and that states which no plan
// has are refused.
func TestDivisionStates(t *testing.T) {
	s, err := records.NewSchema(append(partColumns(), records.Label("y", "a", "b"))...)
	if err != nil {
		t.Fatal(err)
	}
	attributes := AttributesOf(s)
	d := Division{{3, 126}, {60}, nil, nil, {1, 2, 3}, nil, nil}
	if got, ok := ReadDivision(attributes, d.State()); !ok ||
		!slices.EqualFunc(got, d, slices.Equal[[]int]) {
		t.Errorf("got %v, want %v", got, d)
	}
	all := make(Division, len(attributes))
	for j := range all {
		for code := range attributes[j].Codes {
			if attributes[j].partsOf(code).n >= 2 {
				all[j] = append(all[j], code)
			}
		}
	}
	for name, bad := range map[string]Division{"too few columns": d[:6], "a bound": {{0}, nil, nil,
		nil, nil, nil, nil}, "the upper bound": {{127}, nil, nil, nil, nil, nil, nil},
		"a cell twice": {{5, 5}, nil, nil, nil, nil, nil, nil}, "cells in another order": {{6, 5}, nil,
			nil, nil, nil, nil, nil}, "a class": {nil, nil, nil, nil, nil, nil, {1}},
		"a cell of one value": {nil, {5}, nil, nil, nil, nil, nil}, "no such cell": {{500}, nil, nil,
			nil, nil, nil, nil}, "too many parts": all} {
		if _, ok := ReadDivision(attributes, bad.State()); ok {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, cut := range []int{1, 2, 5} {
		if _, ok := ReadDivision(attributes, d.State()[:len(d.State())-cut]); ok {
			t.Errorf("a state without its last %d bytes is accepted", cut)
		}
	}
	if _, ok := ReadDivision(attributes, append(d.State(), 0)); ok {
		t.Error("a longer state is accepted")
	}
}

// TestMostPartsOfADivision: cells are divided from the least count on, and as far as they have
// MostParts parts together. Cells that would have more are left out, but not those after them.
func TestMostPartsOfADivision(t *testing.T) {
	s := must(t, records.Integer("x", 0, 126*2000), records.Integer("y", 0, 126*4000),
		records.Integer("z", 0, 200))
	a := AttributesOf(s)
	all := Surveyed{Counts: make([][]float64, len(a))}
	for j := range a {
		all.Counts[j] = make([]float64, a[j].Codes)
	}
	parts := func(j, code int) int { return a[j].partsOf(code).n }
	one := -1
	for code := range a[2].Codes {
		if parts(2, code) == 1 {
			one = code
		}
	}
	if parts(0, 5) != 2000 || parts(1, 5) != 4000 || one < 0 {
		t.Fatalf("cells have %d and %d parts; one of one value is %d", parts(0, 5), parts(1, 5), one)
	}
	all.Counts[2][one] = 1e6
	for code := range 28 { // 56,000 parts
		all.Counts[0][10+code] = 1000
	}
	all.Counts[1][7] = 900 // up to exactly the most
	if d := all.Divide(a, 900); len(d[0]) != 28 || len(d[1]) != 1 || len(d[2]) != 0 || !d.Valid(a) {
		t.Errorf("divided %v", d)
	}
	all.Counts[0][9], all.Counts[0][8], all.Counts[0][7] = 950, 800, 700
	d := all.Divide(a, 700) // the cell of 4,000 does not fit, and then one of two of 2,000
	if !slices.Contains(d[0], 9) || !slices.Contains(d[0], 8) || slices.Contains(d[0], 7) ||
		len(d[0]) != 30 || len(d[1]) != 0 || !d.Valid(a) {
		t.Errorf("divided %v", d)
	}
	if d[0] = slices.Insert(d[0], 0, 7); d.Valid(a) {
		t.Error("a division of too many parts is valid")
	}
	if d := all.Divide(a, 1001); d.Columns() != 0 {
		t.Errorf("cells of fewer records are divided: %v", d)
	}
}

// TestWeightsOfParts checks the weights of parts with and without noise. Without noise they are
// the counts. With noise, a frequent value stays within five standard deviations of its count,
// and the other records are divided nearly evenly. About half of all draws of noise divide some
// half wrongly, mostly between few parts; the bound is for the fixed seed.
func TestWeightsOfParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	exact := []float64{0, 5, 900, 3, 0, 0, 40, 52}
	for i, w := range partWeights(exact, 0, 1e-9, 1000) {
		if math.Abs(w-exact[i]) > 1e-6 {
			t.Errorf("part %d has weight %v, want %v", i, w, exact[i])
		}
	}
	noise := make([]float64, 256)
	for i := range noise {
		noise[i] = 100 * rng.NormFloat64()
	}
	noise[77] += 2000
	weights := partWeights(noise, 0, 100, 3000)
	total, far := 0.0, 0.0
	for i, w := range weights {
		total += w
		if i != 77 {
			far += math.Abs(w - 1000.0/255)
		}
	}
	if weights[77] < 1500 || weights[77] > 2500 || far > 400 || math.Abs(total-3000) > 1e-6 {
		t.Errorf("the frequent value has %v of %v records, want 2000; the others are off by %v",
			weights[77], total, far)
	}
	// The counts of a smooth cell are far above their noise, but no part is kept with its noise.
	off := 0.0
	for i := range noise[:16] {
		noise[i] = 1000 + 100*rng.NormFloat64()
	}
	for _, w := range partWeights(noise[:16], 0, 100, 16_000) {
		off = max(off, math.Abs(w-1000))
	}
	if off > 1e-6 {
		t.Errorf("parts of an even cell have up to %.1f records more or fewer than the others", off)
	}
	for _, w := range partWeights(make([]float64, 4), 0, 1, 0) {
		if w != 1 {
			t.Errorf("a cell without records has weight %v, want 1", w)
		}
	}
}

// TestPartsUnderConditions: the parts of a cell under a condition give only numbers that it allows,
// and state the fraction of the cell that it allows. A condition that allows none changes nothing.
func TestPartsUnderConditions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range partColumns() {
		s, err := records.NewSchema(c, records.Flag("f", "a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		p := AttributesIn(s, 8)[0].partsOf(4) // of the coordinates 3/8 to 4/8
		at := func(x float32) float32 { return (3 + x) / 8 }
		weights := make([]float64, p.n)
		for i := range weights {
			weights[i] = 1
		}
		spans := []records.Span{{Lo: at(0.1), Hi: at(0.3)}, {Lo: at(0.625), Hi: at(0.7)}}
		within, fraction := newParts(p, weights).Within(spans)
		if p.equal == p.n && math.Abs(fraction-0.275) > 1e-6 || !(fraction > 0 && fraction < 1) {
			t.Errorf("%s: %v of a cell is allowed", c.Name(), fraction)
		}
		for range 200 {
			x := within.draw(spans, rng)
			if !slices.ContainsFunc(spans, func(s records.Span) bool { return s.Lo <= x && x <= s.Hi }) {
				t.Fatalf("%s: drew %v, want a number in %v", c.Name(), x, spans)
			}
		}
		whole := newParts(p, weights)
		if none, f := whole.Within([]records.Span{{Lo: 0, Hi: 0.1}}); none != whole || f != 0 {
			t.Errorf("%s: %v of a cell outside of the condition is allowed", c.Name(), f)
		}
	}
}

// TestValuesOfPartsAreThoseOfRows: a row that is drawn from a part of one value has this value, not
// one beside it, even if the coordinates of neighbouring values differ by little.
func TestValuesOfPartsAreThoseOfRows(t *testing.T) {
	for _, c := range []records.Column{records.Integer("positive", 212543, 21_571_800).Logarithmic(),
		records.Integer("zero", 0, 650_000_000).Logarithmic(), records.Integer("even", 0, 25_000_000),
		records.Numeric("steps", .25, 50_000).WithStep(.25).Logarithmic()} {
		s, err := records.NewSchema(c, records.Flag("f", "n", "y"))
		if err != nil {
			t.Fatal(err)
		}
		a, tried, off := AttributesOf(s)[0], 0, 0
		lo, _ := c.Bounds()
		for code := range a.Codes {
			p := a.partsOf(code)
			for part := p.equal; part < p.n; part++ {
				f, err := records.DecodeFlat(s, []float32{p.value(part), 0})
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if f.Number(0, 0) != lo+(p.first+float64(part-p.equal)*p.every)*c.Step() {
					off++
				}
			}
		}
		if off > 0 || tried < 200 {
			t.Errorf("%v: %d of %d parts have another value", c, off, tried)
		}
	}
}
