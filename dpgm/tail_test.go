package dpgm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/records"
)

// sizeLaws returns distributions with long and with short tails, by name, as numbers of records of
// each size.
func sizeLaws(n float64, most int) map[string][]float64 {
	laws := map[string]func(size float64) float64{
		"log-normal": func(s float64) float64 {
			x := (math.Log(s) - 1.17) / 1.357
			return math.Exp(-x*x/2) / s
		},
		"power":     func(s float64) float64 { return math.Pow(s, -2.2) },
		"geometric": func(s float64) float64 { return math.Pow(0.88, s) },
		"normal":    func(s float64) float64 { x := (s - 30) / 6; return math.Exp(-x * x / 2) },
		"one size":  func(s float64) float64 { return max(1-math.Abs(s-7), 0) },
		"two hills": func(s float64) float64 { return math.Pow(0.5, s) + math.Exp(-(s-60)*(s-60)/50)/20 },
	}
	out := map[string][]float64{}
	for name, law := range laws {
		p := make([]float64, most+1)
		for size := 1; size <= most; size++ {
			p[size] = law(float64(size))
		}
		defaults.NormaliseCounts(p)
		for i := range p {
			p[i] = math.Round(n * p[i])
		}
		out[name] = p
	}
	return out
}

// TestTailsAreContinued checks that continuing the tail at least halves the error of the mean size
// or, if there is no tail, increases it by at most 2 %. Errors are root mean squares over 30
// releases, which are within a half of the root mean squares over many more releases.
func TestTailsAreContinued(t *testing.T) {
	const n, most, std = 36000, 2498, 15.0
	rng := rand.New(rand.NewPCG(8, 8))
	bins := newSizeBins(records.Sets(5000, most))
	for name, law := range sizeLaws(n, most) {
		exact, truth := make([]float64, len(bins)), 0.0
		for size, count := range law {
			exact[bins.of(size)] += count
			truth += count * float64(size)
		}
		var before, after float64
		for range 30 {
			noisy := make([]float64, len(bins))
			for i := range noisy {
				noisy[i] = exact[i] + std*rng.NormFloat64()
			}
			shrunk := defaults.ShrinkCounts(noisy, std)
			b := bins.mean(shrunk)*n/truth - 1
			bins.continued(shrunk, noisy, std)
			a := bins.mean(shrunk)*n/truth - 1
			before, after = before+b*b/30, after+a*a/30
		}
		before, after = math.Sqrt(before), math.Sqrt(after)
		t.Logf("%-10s error of the mean size %.4f, %.4f without a tail", name, after, before)
		if after > before/2 && after > before*1.02 {
			t.Errorf("%s: error of the mean size %.3f, %.3f without a tail", name, after, before)
		}
	}
}

// mean returns the mean size for the given counts of bins.
func (b sizeBins) mean(sizes []float64) float64 {
	sum, total := 0.0, 0.0
	for i, n := range sizes {
		sum += n * b.middle(i)
		total += n
	}
	return sum / total
}

// TestContinuedIsTotal checks that any released numbers give finite and non-negative counts of
// sizes, and no tail that would have stood out of the noise.
func TestContinuedIsTotal(t *testing.T) {
	bins := newSizeBins(records.Sets(300, 300))
	rng := rand.New(rand.NewPCG(5, 5))
	for range 150 {
		noisy := make([]float64, len(bins))
		for i := range noisy {
			noisy[i] = math.Exp(40*rng.Float64()-10) * float64(rng.IntN(3)-1)
		}
		sizes := defaults.ShrinkCounts(noisy, 1)
		before := slices.Clone(sizes)
		bins.continued(sizes, noisy, 1)
		for i, v := range sizes {
			if v != before[i] && v > standsOut {
				t.Fatalf("bin %d of %v becomes %v, which would stand out", i, noisy, v)
			}
			if !(v >= 0) || math.IsInf(v, 0) {
				t.Fatalf("bin %d of %v becomes %v, want a finite non-negative number", i, noisy, v)
			}
		}
	}
}
