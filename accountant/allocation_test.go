package accountant

import (
	"math"
	"testing"
)

// call returns E(Y − k)₊ for Y = exp(mu·z − mu²/2) and normal z.
func call(mu, k float64) float64 {
	if k <= 0 {
		return 1 - k
	}
	x := math.Log(k)/mu + mu/2
	return math.Erfc((x-mu)/math.Sqrt2)/2 - k*math.Erfc(x/math.Sqrt2)/2
}

// allocationDelta integrates δ(ε) of one epoch of two or three steps, in both directions. It shares
// no code with the price.
func allocationDelta(steps int, mu, eps float64) (remove, add float64) {
	// E(Y₁ + … − tK)₊ over all normals but one, by the trapezoid rule.
	h := 1. / 4096
	if steps == 3 {
		h = 1. / 128
	}
	var points [][2]float64 // values of Y, and their weights
	for z := -9.0; z <= 9+mu; z += h {
		points = append(points, [2]float64{math.Exp(mu*z - mu*mu/2),
			h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)})
	}
	var above func(n int, k float64) float64
	above = func(n int, k float64) float64 {
		if n == 1 {
			return call(mu, k)
		}
		sum := 0.0
		for _, p := range points {
			sum += p[1] * above(n-1, k-p[0])
		}
		return sum
	}
	t := float64(steps)
	remove = above(steps, t*math.Exp(eps)) / t
	// (1 − e^ε·M)₊ = e^ε·(e^−ε − M)₊, and (K − M)₊ = (M − K)₊ + K − M.
	add = math.Exp(eps) * (above(steps, t*math.Exp(-eps))/t + math.Exp(-eps) - 1)
	return remove, add
}

// TestAllocationOfFewSteps compares brackets with integrals of closed forms.
func TestAllocationOfFewSteps(t *testing.T) {
	for _, c := range []struct {
		steps   int
		mu, eps float64
	}{{2, 1, 0}, {2, 0.3, 0.2}, {2, 3, 5}, {3, 1, 1.5}, {3, 0.5, 0.3}} {
		remove, add := allocationDelta(c.steps, c.mu, c.eps)
		want, e := max(remove, add), RandomAllocation{c.steps, 1 / c.mu, 0, false}
		b := must[Bound](t)(Delta(e, c.eps, AddOrRemoveOne))
		if !(b.Lower <= want*(1+1e-9) && want <= b.Upper*(1+1e-9)) || b.Upper > b.Lower*1.01 {
			t.Errorf("%+v: δ is in %+v, want %g in a narrow bracket", c, b, want)
		}
		if b := must[Bound](t)(Epsilon(e, want, AddOrRemoveOne)); !(b.Lower <= c.eps+1e-9 &&
			c.eps <= b.Upper+1e-9) {
			t.Errorf("%+v: ε at δ = %g is in %+v", c, want, b)
		}
		// The add direction alone, which the larger one hides.
		atom := must[[]term](t)(newCollector(AddOrRemoveOne, newWork()).reduceOne(e))[0].atom
		one := []term{{oneWayAtom{atom, true}, 1}}
		if b := must[Bound](t)(deltaTerms(one, c.eps, AddOrRemoveOne)); !(b.Upper >= add*(1-1e-9)) ||
			b.Upper > add*1.02+1e-12 {
			t.Errorf("%+v: δ of adding is in %+v, want %g", c, b, add)
		}
	}
}

// TestAllocationAgainstSimulation compares δ of one epoch with the mean of (1 − e^{ε−L})₊ over
// simulated losses. A sound bracket fails with probability below 1e-8, as its distance from the
// mean is over six standard errors.
func TestAllocationAgainstSimulation(t *testing.T) {
	d := newDraws(31)
	for _, c := range []struct {
		steps   int
		mu, eps float64
	}{{20, 1, 0.5}, {20, 2, 3}, {200, 1, 0.1}, {1000, 1.5, 0.1}} {
		const runs = 1 << 13
		var sum, square [2]float64
		for range runs {
			m := 0.0
			for range c.steps {
				m += math.Exp(c.mu*d.NormFloat64()-c.mu*c.mu/2) / float64(c.steps)
			}
			add := max(0, 1-math.Exp(c.eps)*m)
			sum[1] += add
			square[1] += add * add
			// Under P, the record is in the first step.
			x := math.Exp(c.mu*d.NormFloat64() + c.mu*c.mu/2)
			for range c.steps - 1 {
				x += math.Exp(c.mu*d.NormFloat64() - c.mu*c.mu/2)
			}
			remove := max(0, 1-math.Exp(c.eps)*float64(c.steps)/x)
			sum[0] += remove
			square[0] += remove * remove
		}
		b := must[Bound](t)(Delta(RandomAllocation{c.steps, 1 / c.mu, 0, false}, c.eps, AddOrRemoveOne))
		low, high := 0.0, 0.0
		for i := range sum {
			mean := sum[i] / runs
			slack := 6 * math.Sqrt((square[i]/runs-mean*mean)/runs)
			low, high = max(low, mean-slack), max(high, mean+slack)
		}
		if b.Upper < low || b.Lower > high {
			t.Errorf("%+v: δ is in %+v, simulated between %g and %g", c, b, low, high)
		}
	}
}

// TestRareLossesOfAllocation compares small δ with E(M − e^ε)₊ for the mean M of log-normals. One
// of them is shifted so that it is often large; the likelihood ratio weights it. A sound bracket
// fails with probability below 1e-8: the limit is six standard errors, about a tenth of δ.
func TestRareLossesOfAllocation(t *testing.T) {
	d := newDraws(33)
	for _, c := range []struct {
		steps          int
		mu, eps, shift float64
	}{{100, 1, 1.76, 5}, {100, 1, 2.7, 6}, {20, 2, 8, 5}} {
		const runs = 60000
		sum, square, k := 0.0, 0.0, math.Exp(c.eps)*float64(c.steps)
		for range runs {
			all, weight := 0.0, 0.0
			for i := range c.steps {
				z := d.NormFloat64()
				if i == 0 {
					z += c.shift
				}
				all += math.Exp(c.mu*z - c.mu*c.mu/2)
				weight += math.Exp(c.shift*z - c.shift*c.shift/2)
			}
			v := max(0, all-k) / weight
			sum += v
			square += v * v
		}
		mean := sum / runs
		slack := 6 * math.Sqrt((square/runs-mean*mean)/runs)
		b := must[Bound](t)(Delta(RandomAllocation{c.steps, 1 / c.mu, 0, false}, c.eps, AddOrRemoveOne))
		if b.Upper < mean-slack || b.Lower > mean+slack || slack > 0.15*mean {
			t.Errorf("%+v: δ is in %+v, simulated %g ± %g", c, b, mean, slack)
		}
	}
}

// TestOtherAllocationsAgainstSimulation compares δ of two kinds of allocations with the mean of
// (1 − e^{ε−L})₊ over simulated losses: of records in several steps of an epoch, and of a record
// among shuffled ones that are equal to its replacement. A sound bracket fails with probability
// below 1e-8, as its distance from the mean is over six standard errors.
func TestOtherAllocationsAgainstSimulation(t *testing.T) {
	d := newDraws(35)
	for _, c := range []struct {
		e   RandomAllocation
		eps float64
	}{{RandomAllocation{Steps: 6, NoiseMultiplier: 1, Times: 2}, 1},
		{RandomAllocation{Steps: 5, NoiseMultiplier: 0.8, Times: 2}, 2},
		{RandomAllocation{Steps: 8, NoiseMultiplier: 2, Times: 5}, 0.7},
		{RandomAllocation{Steps: 3, NoiseMultiplier: 1, Times: 2}, 1},
		{RandomAllocation{Steps: 6, NoiseMultiplier: 0.7, Shuffled: true}, 1},
	} {
		const runs = 1 << 15
		steps, k, mu := c.e.Steps, max(c.e.Times, 1), 1/c.e.NoiseMultiplier
		// ratio returns the mean of exp(Σ_{i∈S} mu·xᵢ − mu²/2) over all sets S of k steps: an elementary
		// symmetric polynomial.
		ratio := func(x []float64) float64 {
			sums := make([]float64, k+1)
			sums[0] = 1
			all := 1.0
			for i, v := range x {
				for j := min(k, i+1); j > 0; j-- {
					sums[j] += sums[j-1] * math.Exp(mu*v-mu*mu/2)
				}
			}
			for j := range k {
				all *= float64(steps-j) / float64(j+1)
			}
			return sums[k] / all
		}
		var sum, square [2]float64
		for range runs {
			x := make([]float64, steps)
			for i := range x {
				x[i] = d.NormFloat64()
			}
			v := max(0, 1-math.Exp(c.eps)*ratio(x)) // adding the record
			sum[1], square[1] = sum[1]+v, square[1]+v*v
			for i := range k {
				x[i] += mu
			}
			v = max(0, 1-math.Exp(c.eps)/ratio(x))
			sum[0], square[0] = sum[0]+v, square[0]+v*v
		}
		low, high := 0.0, 0.0
		for i := range sum {
			mean := sum[i] / runs
			slack := 6 * math.Sqrt((square[i]/runs-mean*mean)/runs)
			low, high = max(low, mean-slack), max(high, mean+slack)
		}
		r := AddOrRemoveOne
		if c.e.Shuffled {
			r = ReplaceOne
		}
		b := must[Bound](t)(Delta(c.e, c.eps, r))
		if b.Upper < low || b.Lower > high || !(b.Lower > 0) || b.Upper > 20*low {
			t.Errorf("%+v: δ(%g) is in %+v, simulated between %g and %g", c.e, c.eps, b, low, high)
		}
		if public := must[Bound](t)(Delta(Gaussian{1 / mu}, c.eps, r)); c.e.Shuffled &&
			b.Upper < public.Lower {
			t.Errorf("%+v: δ is at most %g, and nothing below %v is proven", c.e, b.Upper, public)
		}
		// Two epochs cost no less than one.
		if two := must[Bound](t)(Delta(Repeated{c.e, 2}, c.eps, r)); two.Upper < b.Lower {
			t.Errorf("%+v: δ of two epochs is in %+v, of one in %+v", c.e, two, b)
		}
	}
}

// TestAllocationBrackets: brackets are narrow over the range of parameters, more steps cost less,
// and more noise costs less.
func TestAllocationBrackets(t *testing.T) {
	price := func(e RandomAllocation, epochs int, delta float64) Bound {
		t.Helper()
		b := must[Bound](t)(Epsilon(Repeated{e, epochs}, delta, AddOrRemoveOne))
		if !(b.Lower > 0 && b.Upper <= b.Lower*1.01) {
			t.Errorf("%+v × %d at δ = %g: ε is in %+v, %.2f %%", e, epochs, delta, b,
				100*(b.Upper/b.Lower-1))
		}
		return b
	}
	d := newDraws(32)
	for _, steps := range []int{2, 31, 1 << 20} {
		e := RandomAllocation{steps, d.between(0.07, 3), 0, false}
		epochs, delta := int(d.between(1, 200)), d.between(1e-12, 1e-4)
		b := price(e, epochs, delta)
		if less := price(RandomAllocation{min(steps+steps/2, 1<<20), e.NoiseMultiplier, 0, false}, epochs,
			delta); less.Lower > b.Upper {
			t.Errorf("%+v: ε = %+v, with more steps %+v", e, b, less)
		}
		if less := price(RandomAllocation{steps, e.NoiseMultiplier * 1.2, 0, false}, epochs,
			delta); less.Lower > b.Upper {
			t.Errorf("%+v: ε = %+v, with more noise %+v", e, b, less)
		}
	}
}

// TestTinyAllocationsHaveNoLowerEnd: an effect that is rounded up has an upper end only. A record
// whose step is public costs more, so a lower end above that price is wrong.
func TestTinyAllocationsHaveNoLowerEnd(t *testing.T) {
	for _, sigma := range []float64{1e7, 1e9, 1e300} {
		for _, steps := range []int{2, 1000} {
			const delta = 1e-12
			b, err := Epsilon(RandomAllocation{steps, sigma, 0, false}, delta, AddOrRemoveOne)
			public, _ := Epsilon(Gaussian{sigma}, delta, AddOrRemoveOne)
			if err != nil || b.Lower > public.Upper || sigma == 1e7 && !(b.Lower > 0.9*b.Upper) {
				t.Errorf("%d steps, σ = %g: %v, %v; with a public step %v", steps, sigma, b, err, public)
			}
		}
	}
}
