package accountant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// plane is a record of two coordinates.
type plane [2]float64

func (a plane) minus(b plane) plane { return plane{a[0] - b[0], a[1] - b[1]} }
func (a plane) norm() float64       { return math.Hypot(a[0], a[1]) }

// blend is a mixture of unit normals with the given centres and weights.
type blend struct {
	at     []plane
	weight []float64
}

// drawn enumerates every sample of the records. It returns the mixture about the sums of the
// samples.
func drawn(records []plane, weight func(size int) float64) blend {
	var out blend
	for set := range 1 << len(records) {
		sum, size := plane{}, 0
		for i, x := range records {
			if set>>i&1 == 1 {
				sum[0], sum[1] = sum[0]+x[0], sum[1]+x[1]
				size++
			}
		}
		if w := weight(size); w > 0 {
			out.at, out.weight = append(out.at, sum), append(out.weight, w)
		}
	}
	return out
}

// density returns the mixture's density at each pair of an x and a y.
func (b blend) density(xs, ys []float64) []float64 {
	bell := func(at []float64, centre float64) []float64 {
		out := make([]float64, len(at))
		for i, x := range at {
			out[i] = math.Exp(-(x-centre)*(x-centre)/2) / math.Sqrt(2*math.Pi)
		}
		return out
	}
	sum := make([]float64, len(xs)*len(ys))
	for i, m := range b.at {
		row := bell(ys, m[1])
		for j, x := range bell(xs, m[0]) {
			for k, y := range row {
				sum[j*len(ys)+k] += b.weight[i] * x * y
			}
		}
	}
	return sum
}

// hockeySticks returns ∫(p − e^ε·q)₊ for several ε, by the midpoint rule on a grid that holds all
// but 1e-10 of the mass. The error of the rule comes from the bend of the integrand at zero, and is
// at most quadrature.
func hockeySticks(p, q blend, epsilons []float64) []float64 {
	const reach, step = 6.6, 0.1
	lo, hi := plane{math.Inf(1), math.Inf(1)}, plane{math.Inf(-1), math.Inf(-1)}
	for _, b := range []blend{p, q} {
		for _, m := range b.at {
			for k := range 2 {
				lo[k], hi[k] = min(lo[k], m[k]-reach), max(hi[k], m[k]+reach)
			}
		}
	}
	var axes [2][]float64
	for k := range axes {
		for x := lo[k] + step/2; x < hi[k]; x += step {
			axes[k] = append(axes[k], x)
		}
	}
	a, b := p.density(axes[0], axes[1]), q.density(axes[0], axes[1])
	out := make([]float64, len(epsilons))
	for i, e := range epsilons {
		scale := math.Exp(e)
		for j := range a {
			out[i] += max(0, a[j]-scale*b[j]) * step * step
		}
	}
	return out
}

const quadrature = 2e-4

// neighbours returns two data sets of n vectors of norm at most 1. They have n−1 records in common
// and differ in the last record. If nonNegative is set, no coordinate is negative. The turns 0 and
// 1 are extreme cases; the others are random.
func neighbours(rng *rand.Rand, n, turn int, nonNegative bool) (d, e []plane) {
	draw := func() plane {
		angle, length := rng.Float64()*2*math.Pi, math.Sqrt(rng.Float64())
		if rng.IntN(2) == 0 {
			length = 1
		}
		if nonNegative {
			angle /= 4
		}
		return plane{length * math.Cos(angle), length * math.Sin(angle)}
	}
	for range n - 1 {
		d = append(d, draw())
	}
	if turn == 0 { // the common records are zero, and the two other records are farthest apart
		clear(d)
	}
	u, v := plane{1, 0}, plane{-1, 0}
	if nonNegative {
		v = plane{0, 1}
	}
	if turn > 1 {
		u, v = draw(), draw()
	}
	if turn == 1 {
		for i := range d {
			d[i] = v
		}
	}
	return append(append([]plane(nil), d...), u), append(append([]plane(nil), d...), v)
}

// TestSampledSumsBruteForce enumerates all samples of a few records under replace-one. It covers
// subsets of fixed size, and Poisson samples priced by PoissonSampled and by SampledSum. The
// hockey-stick divergence of the two true mixtures is never above the claimed curve, in both
// directions and also at negative ε. For the worst neighbours it comes close to the curve.
func TestSampledSumsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	epsilons := []float64{-0.5, 0, 0.1, 0.4, 1, 2}
	for _, c := range []struct {
		n, sample int
		std       float64
	}{{4, 1, 1}, {6, 2, 1.5}, {4, 3, 0.8}} {
		for _, nonNegative := range []bool{true, false} {
			swap := 2.0
			if nonNegative {
				swap = math.Sqrt2
			}
			rate := float64(c.sample) / float64(c.n)
			events := map[string]func(std float64) accountant.Event{
				"subset": func(std float64) accountant.Event {
					return accountant.SampledWithoutReplacement{Population: c.n, Sample: c.sample,
						Event: accountant.Gaussian{NoiseMultiplier: std / swap}}
				},
				"poisson": func(std float64) accountant.Event {
					return accountant.PoissonSampled{Probability: rate,
						Event: accountant.Gaussian{NoiseMultiplier: std / swap}}
				},
				"opposite": func(std float64) accountant.Event {
					return accountant.SampledSum{Probability: rate, NoiseMultiplier: std}
				},
			}
			for name, event := range events {
				t.Run(fmt.Sprintf("%s/%d of %d, std %g, nonnegative %t", name, c.sample, c.n, c.std,
					nonNegative), func(t *testing.T) {
					weight := func(size int) float64 {
						return math.Pow(rate, float64(size)) * math.Pow(1-rate,
							float64(c.n-size))
					}
					if name == "subset" {
						weight = func(size int) float64 {
							if size != c.sample {
								return 0
							}
							return 1 / float64(choose(c.n, c.sample))
						}
					}
					claimed, broken := curveOf(t, event(c.std), epsilons), curveOf(t, event(1.3*c.std), epsilons)
					refuted := false
					for turn := range 4 {
						d, neighbour := neighbours(rng, c.n, turn, nonNegative)
						for i := range d {
							for k := range 2 {
								d[i][k] /= c.std
								neighbour[i][k] /= c.std
							}
						}
						if far := d[c.n-1].minus(neighbour[c.n-1]).norm() * c.std; far > swap+1e-12 {
							t.Fatalf("the two records are %v apart, want at most the sensitivity", far)
						}
						p, q := drawn(d, weight), drawn(neighbour, weight)
						for _, pair := range [][2]blend{{p, q}, {q, p}} {
							for i, got := range hockeySticks(pair[0], pair[1], epsilons) {
								if got > claimed[i]+quadrature {
									t.Errorf("neighbours %d: δ(%g) = %.7f is above the bound %.7f", turn, epsilons[i],
										got, claimed[i])
								}
								refuted = refuted || got > broken[i]+quadrature
							}
						}
					}
					// The worst neighbours are among the tried neighbours.
					tight := name == "subset" || name == "opposite" && !nonNegative
					if tight && !refuted {
						t.Error("no δ is above the curve for 1.3 times the noise")
					}
				})
			}
		}
	}
}

func choose(n, k int) int {
	out := 1
	for i := range k {
		out = out * (n - i) / (i + 1)
	}
	return out
}

func curveOf(t *testing.T, e accountant.Event, epsilons []float64) []float64 {
	t.Helper()
	var out []float64
	for _, eps := range epsilons {
		b, err := accountant.Delta(e, math.Abs(eps), accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		d := b.Upper
		if eps < 0 { // 1 − e^ε + e^ε·δ(−ε), with the curve of the other direction
			d = 1 - math.Exp(eps) + math.Exp(eps)*d
		}
		out = append(out, d)
	}
	return out
}
