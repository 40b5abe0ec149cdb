package sampler

import (
	"math"
	"math/big"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

func secureBits(t testing.TB) entropy.Bits {
	t.Helper()
	source, err := entropy.New()
	if err != nil {
		t.Fatal(err)
	}
	return source.Stream(entropy.Noise, 1, 0)
}

// massTest compares draws with a distribution on the integers. Each integer in −reach..reach has a
// cell, and all others share one cell. It returns by how many standard deviations chi-square is too
// large.
func massTest(draw func() int64, mass func(int64) float64, reach int64, n int) float64 {
	counts := map[int64]float64{}
	for range n {
		k := draw()
		counts[max(min(k, reach+1), -reach-1)]++
	}
	sum, df, rest := 0.0, 0.0, 1.0
	for k := -reach; k <= reach; k++ {
		p := mass(k)
		rest -= p
		e := p * float64(n)
		sum += (counts[k] - e) * (counts[k] - e) / e
		df++
	}
	e := rest * float64(n)
	d := counts[reach+1] + counts[-reach-1] - e
	sum += d * d / e
	return (math.Cbrt(sum/df) - (1 - 2/(9*df))) / math.Sqrt(2/(9*df))
}

// normalised returns the distribution with these weights.
func normalised(weight func(int64) float64) func(int64) float64 {
	total := 0.0
	for k := int64(-5000); k <= 5000; k++ {
		total += weight(k)
	}
	return func(k int64) float64 { return weight(k) / total }
}

// TestIntegerSamplers compares draws with the distributions. Each comparison fails by chance with
// probability 1e-9: the limit is six standard deviations. With the same limit it must detect a
// scale multiplied by 0.7 or 1.3.
func TestIntegerSamplers(t *testing.T) {
	src := secureBits(t)
	gauss := func(sigma float64) func(int64) float64 {
		return normalised(func(k int64) float64 { return math.Exp(-float64(k*k) / (2 * sigma * sigma)) })
	}
	geometric := func(a float64) func(int64) float64 {
		return normalised(func(k int64) float64 { return math.Exp(-a * math.Abs(float64(k))) })
	}
	cells := func(b float64) func(int64) float64 { // Laplace rounded to whole numbers
		cdf := func(x float64) float64 {
			if x < 0 {
				return math.Exp(x/b) / 2
			}
			return 1 - math.Exp(-x/b)/2
		}
		return func(k int64) float64 { return cdf(float64(k)+0.5) - cdf(float64(k)-0.5) }
	}
	normal := func(s float64) func(int64) float64 {
		cdf := func(x float64) float64 { return math.Erfc(-x/(s*math.Sqrt2)) / 2 }
		return func(k int64) float64 { return cdf(float64(k)+0.5) - cdf(float64(k)-0.5) }
	}
	l, err := NewNormal(3.3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		draw  func() int64
		law   func(scale float64) func(int64) float64
		scale float64
	}{
		{"discrete Gaussian", func() int64 { return DiscreteGaussian(3.3, src) }, gauss, 3.3},
		{"narrow discrete Gaussian", func() int64 { return DiscreteGaussian(0.6, src) }, gauss, 0.6},
		{"discrete Laplace", func() int64 {
			return DiscreteLaplace(0.4, src)
		}, func(s float64) func(int64) float64 { return geometric(1 / s) }, 2.5},
		{"Laplace cells", func() int64 { return Laplace(2.7, src) }, cells, 2.7},
		{"normal cells", func() int64 { return l.Draw(src) }, normal, 3.3},
	} {
		reach := int64(3 * c.scale)
		if z := massTest(c.draw, c.law(c.scale), reach, 200000); z > 6 {
			t.Errorf("%s: the draws deviate by %.1f sigma, want at most 6", c.name, z)
		}
		for _, wrong := range []float64{0.7, 1.3} {
			if z := massTest(c.draw, c.law(c.scale*wrong), reach, 20000); z < 6 {
				t.Errorf("%s: a scale multiplied by %v is not detected", c.name, wrong)
			}
		}
	}
}

// TestExponential compares draws with the exponential distribution. The comparison fails by chance
// with probability 1e-9: the limit is six standard deviations.
func TestExponential(t *testing.T) {
	src := secureBits(t)
	const n = 200000
	var counts [32]float64
	for range n {
		e := newExponential(src)
		counts[min(int(math.Exp(-e.float())*32), 31)]++
	}
	sum := 0.0
	for _, c := range counts {
		sum += (c - n/32.0) * (c - n/32.0) / (n / 32.0)
	}
	if z := (math.Cbrt(sum/31) - (1 - 2/279.0)) / math.Sqrt(2/279.0); z > 6 {
		t.Errorf("the draws deviate by %.1f sigma, want at most 6", z)
	}
}

// scripted returns the given words first, and then the words of another source.
type scripted struct {
	words []uint64
	then  entropy.Bits
}

func (s *scripted) Uint64() uint64 {
	if len(s.words) == 0 {
		return s.then.Uint64()
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// TestTiesDrawFurtherBits: if the first 64 bits of two numbers are equal, further words decide.
func TestTiesDrawFurtherBits(t *testing.T) {
	a, b := lazy{head: 5}, lazy{head: 5}
	if !less(&a, &b, &scripted{words: []uint64{1, 1, 2, 3}}) {
		t.Error("5.1.2 is not below 5.1.3")
	}
	d := digitsOf(&a, nil)
	if back := d.lazy(); back.head != 5 || len(back.tail) != 2 || back.tail[0] != 1 ||
		back.tail[1] != 2 {
		t.Errorf("digits were lost: %v", back)
	}
}

func TestExpNegBrackets(t *testing.T) {
	for _, x := range []float64{1e-30, 1e-3, 0.5, 1, 7.3, 40, 700} {
		lo, hi := expNeg(ratio(x), 256)
		if lo.Cmp(hi) >= 0 {
			t.Fatalf("exp(−%v): the bracket is empty", x)
		}
		f, _ := lo.Float64()
		if g := math.Exp(-x); math.Abs(f-g) > 4e-16*g {
			t.Errorf("exp(−%v) = %v, want %v", x, f, g)
		}
		// The brackets must agree with exp(−x) = exp(−x/2)².
		half := new(big.Rat).Quo(ratio(x), big.NewRat(2, 1))
		l2, h2 := expNeg(half, 256)
		if l2.Mul(l2, l2).Cmp(hi) > 0 || h2.Mul(h2, h2).Cmp(lo) < 0 {
			t.Errorf("exp(−%v): brackets contradict each other", x)
		}
	}
}

// TestUniformBelowIsExact: one word in four is rejected, because 2^64 words cannot be spread evenly
// over 3·2^62 numbers. Without rejection some numbers would have twice the probability of others.
func TestUniformBelowIsExact(t *testing.T) {
	const n = 3 << 62
	thrown := 0
	for word := range uint64(400) {
		src := &counted{then: []uint64{word, 1}}
		if UniformBelow(n, src); src.drawn > 1 {
			thrown++
		}
	}
	if thrown != 100 {
		t.Errorf("%d of 400 words are rejected, want 100", thrown)
	}
}

// counted counts the words that it returns.
type counted struct {
	then  []uint64
	drawn int
}

func (c *counted) Uint64() uint64 {
	c.drawn++
	return c.then[min(c.drawn, len(c.then))-1]
}
