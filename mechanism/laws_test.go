package mechanism_test

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

var long = flag.Bool("long", false, "compare the samplers with their laws to one per cent")

// law is a distribution on the whole numbers, given by weights.
type law func(k int64) float64

// ratioTest distinguishes a law from an alternative by the mean of log(alternative ÷ law). This is
// the most powerful statistic (Neyman and Pearson).
type ratioTest struct {
	score    map[int64]float64
	mean, sd float64 // of the score of one draw, under the law
	under    float64 // its mean under the alternative
}

const lawReach = 400

func newRatioTest(p, q law) ratioTest {
	sumP, sumQ := 0.0, 0.0
	for k := int64(-lawReach); k <= lawReach; k++ {
		sumP, sumQ = sumP+p(k), sumQ+q(k)
	}
	r := ratioTest{score: map[int64]float64{}}
	square := 0.0
	for k := int64(-lawReach); k <= lawReach; k++ {
		a, b := p(k)/sumP, q(k)/sumQ
		if a < 1e-12 {
			continue
		}
		// The score is bounded, so that rare values do not affect the normal approximation.
		s := min(max(math.Log(b/a), -0.1), 0.1)
		r.score[k] = s
		r.mean, r.under, square = r.mean+a*s, r.under+b*s, square+a*s*s
	}
	r.sd = math.Sqrt(square - r.mean*r.mean)
	return r
}

// z returns the distance of the draws' mean score from the mean under the law, in standard errors.
func (r ratioTest) z(counts map[int64]int, n int) float64 {
	sum := 0.0
	for k, c := range counts {
		sum += float64(c) * r.score[k]
	}
	return (sum/float64(n) - r.mean) / r.sd * math.Sqrt(float64(n))
}

// power returns the distance that is expected under the alternative, in standard errors.
func (r ratioTest) power(n int) float64 {
	return math.Abs(r.under-r.mean) / r.sd * math.Sqrt(float64(n))
}

// TestLawsToOnePercent: samplers follow their laws, and an error of one per cent in a parameter
// would be detected. Every comparison fails by chance with probability 6e-10: the limit is 6.2
// standard errors. The alternative is at least 12.4 standard errors away, so it is missed with at
// most the same probability.
func TestLawsToOnePercent(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	gauss := func(sigma, exponent, centre float64) law {
		floor := math.Floor(sigma) + 1
		return func(k int64) float64 { // the result of rejection from the discrete Laplace
			x := math.Abs(float64(k))
			near := x - centre*sigma*sigma/floor
			return math.Exp(-x/floor - exponent*near*near/(2*sigma*sigma))
		}
	}
	geometric := func(a float64) law {
		return func(k int64) float64 { return math.Exp(-a * math.Abs(float64(k))) }
	}
	zeros := func(a float64) law { // a negative zero is sometimes not rejected
		return func(k int64) float64 {
			if k == 0 {
				return 1.02
			}
			return math.Exp(-a * math.Abs(float64(k)))
		}
	}
	cells := func(cdf func(x float64) float64) law {
		return func(k int64) float64 { return cdf(float64(k)+0.5) - cdf(float64(k)-0.5) }
	}
	laplace := func(b float64) law {
		return cells(func(x float64) float64 {
			if x < 0 {
				return math.Exp(x/b) / 2
			}
			return 1 - math.Exp(-x/b)/2
		})
	}
	normal := func(s float64) law {
		return cells(func(x float64) float64 { return math.Erfc(-x/(s*math.Sqrt2)) / 2 })
	}
	choices := func(epsilon float64, utilities []int64) law {
		return func(k int64) float64 {
			if k < 0 || int(k) >= len(utilities) {
				return 0
			}
			return math.Exp(epsilon * float64(utilities[k]) / 2)
		}
	}
	utilities := []int64{0, 1, 2, 3, 4}
	integers := func(e accountant.Event,
		draw func(g *mechanism.Grant, out []int64) error) func(t *testing.T, n int) map[int64]int {
		return func(t *testing.T, n int) map[int64]int {
			counts := map[int64]int{}
			each(t, e, n, 100_000, func(g *mechanism.Grant, size int) error {
				out := make([]int64, size)
				err := draw(g, out)
				for _, k := range out {
					counts[k]++
				}
				return err
			})
			return counts
		}
	}
	sums := func(e accountant.Event, release func(g *mechanism.Grant, p mechanism.Part) error,
		std float64) func(t *testing.T, n int) map[int64]int {
		return func(t *testing.T, n int) map[int64]int {
			counts := map[int64]int{}
			each(t, e, n, 100_000, func(g *mechanism.Grant, size int) error {
				p := mechanism.Part{Sum: mechanism.NewFixedSum(size, 1), Std: std, Out: make([]float64, size)}
				err := release(g, p)
				for _, k := range p.Out {
					counts[int64(k)]++
				}
				return err
			})
			return counts
		}
	}
	const sigma, a, b, s = 1.2, 0.4, 2.7, 3.3
	for _, c := range []struct {
		name  string
		n     int
		draw  func(t *testing.T, n int) map[int64]int
		right law
		wrong []law
	}{
		{"discrete Gaussian", 11e6,
			integers(accountant.DiscreteGaussian{Sigma: sigma, Sensitivity: 1},
				func(g *mechanism.Grant, out []int64) error {
					return g.DiscreteGaussian(out, out)
				}),
			gauss(sigma, 1, 1),
			[]law{gauss(sigma, 1/1.01, 1), gauss(sigma, 1.01, 1), gauss(sigma, 1, 1.01),
				gauss(sigma, 1, 1/1.01)}},
		{"discrete Laplace", 3e6,
			integers(accountant.DiscreteLaplace{A: a, Sensitivity: 1},
				func(g *mechanism.Grant, out []int64) error {
					return g.DiscreteLaplace(out, out)
				}),
			geometric(a), []law{geometric(a / 1.01), geometric(a * 1.01), zeros(a)}},
		{"Laplace", 2e6,
			sums(accountant.Pure{Epsilon: 1}, func(g *mechanism.Grant, p mechanism.Part) error {
				return g.Laplace(1, p)
			}, b),
			laplace(b), []law{laplace(b / 1.01), laplace(b * 1.01)}},
		{"normal", 2e6,
			sums(accountant.Gaussian{NoiseMultiplier: 1}, func(g *mechanism.Grant, p mechanism.Part) error {
				return g.Release(1, p)
			}, s),
			normal(s), []law{normal(s / 1.01), normal(s * 1.01)}},
		{"exponential mechanism", 22e5, func(t *testing.T, n int) map[int64]int {
			counts := map[int64]int{}
			each(t, accountant.ExponentialMechanism{Epsilon: 2}, n, 1,
				func(g *mechanism.Grant, _ int) error {
					k, err := g.Exponential(utilities)
					counts[int64(k)]++
					return err
				})
			return counts
		}, choices(2, utilities), []law{choices(2.02, utilities), choices(1.98, utilities)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts := c.draw(t, c.n)
			for i, wrong := range c.wrong {
				r := newRatioTest(c.right, wrong)
				if power := r.power(c.n); power < 12.4 {
					t.Errorf("alternative %d is %.1f standard errors away, want at least 12.4", i, power)
				}
				if z := r.z(counts, c.n); math.Abs(z) > 6.2 {
					t.Errorf("the draws deviate by %.1f standard errors, towards alternative %d", z, i)
				}
			}
		})
	}
}

// each calls draw for n/size grants. Each grant draws size numbers.
func each(t *testing.T, e accountant.Event, n, size int,
	draw func(g *mechanism.Grant, size int) error) {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-5})
	allowance := must(mechanism.Begin(context.Background(), l).Reserve("draws", e, n/size))(t)
	for range n / size {
		g := must(allowance.Next())(t)
		if err := draw(g, size); err != nil {
			t.Fatal(err)
		}
	}
}
