package marginal

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

func scaleColumns(t *testing.T) []Attribute {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("real", -3, 3),
		records.Integer("few", 0, 9), records.Integer("many", 0, 999),
		records.Numeric("amount", 0, 1e6).Logarithmic(),
		records.Numeric("price", 0, 5000).Logarithmic().WithStep(0.5),
		records.Numeric("gap", 0, 10).WithMissing(), records.Integer("two", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	return AttributesOf(s)
}

// TestScaleIsInverse draws numbers by evenly spread ranks. Their codes must have the scale's
// fractions, and their ranks must be those drawn: exactly for cells, and within the value's
// fraction for single values.
func TestScaleIsInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, a := range scaleColumns(t) {
		part := make([]float64, a.Codes)
		for code := range part {
			if rng.IntN(3) > 0 {
				part[code] = rng.ExpFloat64()
			}
		}
		s := a.Scale(part)
		counts := make([]float64, a.Ordered())
		const n = 200_000
		for k := range n {
			rank := (float64(k) + 0.5) / n
			x := float64(s.Number(rank))
			code := s.code(x)
			counts[code]++
			slack := 1e-4
			if width := s.below[code+1] - s.below[code]; !s.cell(code) {
				slack = width/2 + 1e-9
			} else if s.first != nil {
				slack = width/s.values(code) + 1e-4
			}
			if got := s.Rank(x); math.Abs(got-rank) > slack {
				t.Fatalf("column %d: number %v of rank %v has rank %v", i, x, rank, got)
			}
		}
		for code, c := range counts {
			want := s.below[code+1] - s.below[code]
			if math.Abs(c/n-want) > 2e-4 {
				t.Errorf("column %d, code %d: fraction %v, want %v", i, code, c/n, want)
			}
		}
	}
}

// TestScaleTakesEveryNumber gives a scale numbers that are not coordinates and fractions without a
// sum.
func TestScaleTakesEveryNumber(t *testing.T) {
	for i, a := range scaleColumns(t) {
		for _, p := range []float64{0, math.NaN(), -1, math.Inf(1), 5e-324, math.MaxFloat64} {
			part := make([]float64, a.Codes)
			for code := range part {
				part[code] = p
			}
			s := a.Scale(part)
			for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 0.5, 1, 2, 1e300} {
				if r := s.Rank(x); !(r >= 0 && r <= 1) {
					t.Fatalf("column %d, fractions %v: %v has rank %v", i, p, x, r)
				}
				if v := s.Number(x); !(v >= 0 && v <= 1) {
					t.Fatalf("column %d, fractions %v: rank %v has number %v", i, p, x, v)
				}
			}
		}
	}
}

// TestScaleDrawsOnlyValues checks that numbers of columns with a step are possible values.
func TestScaleDrawsOnlyValues(t *testing.T) {
	a := scaleColumns(t)[4]
	part := make([]float64, a.Codes)
	for code := range part {
		part[code] = 1
	}
	s := a.Scale(part)
	for k := range 10_000 {
		x := float64(s.Number(float64(k) / 9_999))
		if want := a.grid.at(a.grid.near(x)); float32(x) != want {
			t.Fatalf("number %v between the values of the column; the nearest is %v", x, want)
		}
	}
}
