package accountant

import (
	"math"
	"sort"
	"testing"
)

// TestSmallDeltas compares δ from 1e-5 to 1e-30 with sums and integrals of positive terms, which
// share no code with the prices and keep their digits however small δ is.
func TestSmallDeltas(t *testing.T) {
	for _, c := range []struct {
		name  string
		e     Event
		delta func(eps float64) float64
		from  float64 // the ε that are tried are multiples of this
	}{
		{"Gaussian", Gaussian{0.5}, gaussianIntegral(2), 4},
		{"Gaussian in a grid", Composed{[]Event{Gaussian{0.7}, DiscreteLaplace{1e-12, 1}}},
			gaussianIntegral(1 / 0.7), 3},
		{"bits", Repeated{DiscreteLaplace{0.7, 1}, 200}, rightBits(200, 1/(1+math.Exp(-0.7))), 12},
		{"sampled once", PoissonSampled{0.01, Gaussian{0.8}}, sampledIntegral(0.01, 1.25, 1), 2},
		{"sampled twice", Repeated{PoissonSampled{0.01, Gaussian{0.8}}, 2},
			sampledIntegral(0.01, 1.25, 2), 2},
		{"sampled three times", Repeated{PoissonSampled{0.2, Gaussian{1}}, 3},
			sampledIntegral(0.2, 1, 3), 7},
	} {
		least := 1.0
		for k := 1.0; k < 12; k++ {
			eps := k * c.from
			want := c.delta(eps)
			if want < 1.1e-30 {
				break
			}
			if !(want < 1e-3) {
				continue
			}
			least = want
			b := must[Bound](t)(Delta(c.e, eps, AddOrRemoveOne))
			if !(b.Lower <= want*(1+1e-8) && want <= b.Upper*(1+1e-8)) || b.Upper > 1.3*want {
				t.Errorf("%s: δ(%g) is in %+v, want %g", c.name, eps, b, want)
			}
			b = must[Bound](t)(Epsilon(c.e, want, AddOrRemoveOne))
			if !(b.Lower <= eps*(1+1e-9) && eps <= b.Upper*(1+1e-9)) || b.Upper > 1.01*b.Lower {
				t.Errorf("%s: ε at δ = %g is in %+v, want %g", c.name, want, b, eps)
			}
			// The running sum of a ledger.
			r := must[Reduced](t)(Reduce(c.e, AddOrRemoveOne, must[Reduced](t)(Reduce(
				Composed{}, AddOrRemoveOne))))
			p, err := r.Price(t.Context(), Budget{eps * 1.01, want, AddOrRemoveOne}, 0, true)
			if err == nil && !(p.Upper >= eps*(1-1e-9) && p.Upper <= 1.01*eps) {
				t.Errorf("%s: in a running sum ε at δ = %g is %g, want %g", c.name, want, p.Upper, eps)
			}
		}
		if least > 1e-20 {
			t.Errorf("%s: the smallest δ tried is %g", c.name, least)
		}
	}
}

// gaussianIntegral returns E(1 − e^{ε−L})₊ for the loss L of N(mu, 1) against N(0, 1).
func gaussianIntegral(mu float64) func(float64) float64 {
	return func(eps float64) float64 {
		sum := 0.0
		const h = 1. / 4096
		for i := range 20 * 4096 { // by Simpson's rule, from the point where the loss is ε
			x := eps/mu + mu/2 + float64(i)*h
			sum += float64(2+2*(i%2)) * math.Exp(-(x-mu)*(x-mu)/2) * -math.Expm1(eps-mu*x+mu*mu/2)
		}
		return sum * h / 3 / math.Sqrt(2*math.Pi)
	}
}

// rightBits returns δ(ε) of n bits that are right with probability p.
func rightBits(n int, p float64) func(float64) float64 {
	return func(eps float64) float64 {
		sum, loss := 0.0, math.Log(p/(1-p))
		for k := 0; k <= n; k++ {
			all, _ := math.Lgamma(float64(n + 1))
			a, _ := math.Lgamma(float64(k + 1))
			b, _ := math.Lgamma(float64(n - k + 1))
			mass := math.Exp(all - a - b + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
			sum += mass * max(0, -math.Expm1(eps-loss*float64(2*k-n)))
		}
		return sum
	}
}

// sampledIntegral returns δ(ε) of n Poisson samples of a Gaussian release, the larger of both
// directions: all steps but the last are integrated by the trapezoid rule.
func sampledIntegral(q, mu float64, n int) func(float64) float64 {
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	above := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	// one returns δ of the last step. Where the point is infinite, all or no losses are above ε.
	one := func(eps, sign float64) float64 {
		v := math.Expm1(sign*eps) / q
		x := math.Inf(-1)
		if v > -1 {
			x = math.Log1p(v)/mu + mu/2
		}
		if sign > 0 {
			return (1-q-math.Exp(eps))*above(x) + q*above(x-mu)
		}
		return above(-x) - math.Exp(eps)*((1-q)*above(-x)+q*above(mu-x))
	}
	type point struct{ loss, without, with float64 } // the weights in both directions
	points := make([][]point, n+1)
	for k := 2; k <= n; k++ {
		h := min(q/float64(18-4*k), 1./16) // a loss of q decides whether the rest is above its floor
		for x := -13.0; x < 15; x += h {
			points[k] = append(points[k], point{math.Log1p(q * math.Expm1(mu*x-mu*mu/2)), h * normal(x),
				h * ((1-q)*normal(x) + q*normal(x-mu))})
		}
	}
	var all func(eps, sign float64, n int) float64
	all = func(eps, sign float64, n int) float64 {
		if n == 1 {
			return max(0, one(eps, sign))
		}
		sum := 0.0
		for _, p := range points[n] {
			if sign > 0 {
				sum += p.with * all(eps-p.loss, sign, n-1)
			} else {
				sum += p.without * all(eps+p.loss, sign, n-1)
			}
		}
		return sum
	}
	return func(eps float64) float64 { return max(all(eps, 1, n), all(eps, -1, n)) }
}

// TestSmallDeltasOfManySteps compares δ of 200 sampled releases with the mean of
// (1 − e^{ε−L})₊ over simulated losses. Points are drawn with weights e^{θ·loss}, so that losses
// near ε are frequent, and the likelihood ratio of each drawn cell is exact. A sound bracket fails
// with probability below 1e-8: the limit is six standard errors.
func TestSmallDeltasOfManySteps(t *testing.T) {
	d := newDraws(34)
	const q, mu, steps, runs, h = 0.05, 0.9, 200, 8000, 1. / 32
	loss := func(x float64) float64 { return math.Log1p(q * math.Expm1(mu*x-mu*mu/2)) }
	for _, c := range []struct{ eps, theta float64 }{{4, 3.5}, {10, 5.1}, {15.4, 5.5}} {
		var below, ratio []float64 // of the cells from −9 upward, under the weights
		total := 0.0
		for x := -9 + h/2; x < 15; x += h {
			w := ((1-q)*math.Exp(-x*x/2) + q*math.Exp(-(x-mu)*(x-mu)/2)) * math.Exp(c.theta*loss(x))
			total += w
			below, ratio = append(below, total), append(ratio, w)
		}
		sum, square := 0.0, 0.0
		for range runs {
			all, log := 0.0, 0.0
			for range steps {
				i := sort.SearchFloat64s(below, total*d.Float64())
				x := -9 + (float64(i)+d.Float64())*h
				p := ((1-q)*math.Exp(-x*x/2) + q*math.Exp(-(x-mu)*(x-mu)/2)) / math.Sqrt(2*math.Pi)
				all += loss(x)
				log += math.Log(p * h * total / ratio[i])
			}
			v := math.Exp(log) * max(0, -math.Expm1(c.eps-all))
			sum += v
			square += v * v
		}
		mean := sum / runs
		slack := 6 * math.Sqrt((square/runs-mean*mean)/runs)
		b := must[Bound](t)(Delta(poissonSteps(q, 1/mu, steps), c.eps, AddOrRemoveOne))
		if b.Upper < mean-slack || b.Lower > mean+slack || slack > 0.6*mean {
			t.Errorf("%+v: δ is in %+v, simulated %g ± %g", c, b, mean, slack)
		}
	}
}

// TestRareSamples: if a record is hardly ever sampled, the losses of the steps in which it is are
// far from all others. Prices are tight for any noise and δ.
func TestRareSamples(t *testing.T) {
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		for _, steps := range []int{100, 1000, 10000} {
			for _, noise := range []float64{0.8, 1.2, 2} {
				for _, delta := range []float64{1e-5, 1e-10, 1e-15, 1e-18} {
					e := Repeated{SampledSum{0.001, noise}, steps}
					if b := must[Bound](t)(Epsilon(e, delta, r)); !(b.Upper <= 1.011*b.Lower) {
						t.Errorf("%d steps, noise %v, δ = %g, %v: ε is in %+v", steps, noise, delta, r, b)
					}
				}
			}
		}
	}
}

// TestAttacksAtSmallDeltas: the bound of a belief uses losses beyond ε at a small δ, too.
func TestAttacksAtSmallDeltas(t *testing.T) {
	for _, delta := range []float64{1e-6, 1e-12, 1e-30} {
		b := must[Bound](t)(Epsilon(Gaussian{2}, delta, AddOrRemoveOne))
		a := must[Attack](t)(AttackBounds(Gaussian{2}, delta, AddOrRemoveOne))
		belief := func(eps float64) float64 { return 1 / (1 + math.Exp(-eps)) }
		if !(a.Posterior >= belief(b.Lower) && a.Posterior <= belief(1.2*b.Upper)) {
			t.Errorf("δ = %g: the belief is at most %v, and ε is in %v", delta, a.Posterior, b)
		}
	}
}
