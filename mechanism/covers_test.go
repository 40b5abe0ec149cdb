package mechanism_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

func granted(t *testing.T, e accountant.Event) *mechanism.Grant {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5})
	return must(mechanism.Begin(context.Background(), l).Spend("test", e))(t)
}

func part(std float64) mechanism.Part {
	return mechanism.Part{Sum: mechanism.NewFixedSum(1, mechanism.GridFor(1)), Std: std,
		Out: make([]float64, 1)}
}

// TestCompositesCoverTheirSum: a composite event covers releases whose squared effects add up to
// the event's squared effect, and no more. An event that contains samples covers no release before
// its sample is drawn.
func TestCompositesCoverTheirSum(t *testing.T) {
	z := accountant.Gaussian{NoiseMultiplier: 1}
	poisson := accountant.PoissonSampled{Probability: 0.5, Event: z}
	for name, c := range map[string]struct {
		event accountant.Event
		pays  int // releases of effect 1
	}{
		"repeated": {accountant.Repeated{Event: z, Count: 2}, 2},
		"composed": {accountant.Composed{Events: []accountant.Event{z, z}}, 2},
		"repeated in a composite": {
			accountant.Composed{Events: []accountant.Event{accountant.Repeated{Event: z, Count: 2}, z}}, 3,
		},
		"repeated samples": {accountant.Repeated{Event: poisson, Count: 2}, 0},
		"composed samples": {accountant.Composed{Events: []accountant.Event{poisson, poisson}},
			0},
		"a sample and a release":   {accountant.Composed{Events: []accountant.Event{poisson, z}}, 1},
		"a sample inside a sample": {accountant.PoissonSampled{Probability: 0.5, Event: poisson}, 0},
	} {
		g := granted(t, c.event)
		if name == "a sample inside a sample" {
			g.PoissonSample(3, nil, nil)
		}
		for i := range c.pays {
			if err := g.Release(1, part(1)); err != nil {
				t.Errorf("%s: release %d of %d: %v", name, i+1, c.pays, err)
			}
		}
		if err := g.Release(0.01, part(100)); !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%s: a release beyond: got %v, want ErrNotCovered", name, err)
		}
	}
}

// TestGradientsAreChargedWhole: a gradient with less noise than the event's is refused.
func TestGradientsAreChargedWhole(t *testing.T) {
	for z, want := range map[float64]error{0.99: mechanism.ErrNotCovered, 0.7: mechanism.ErrNotCovered,
		1: nil, 1.5: nil} {
		err := granted(t, accountant.Gaussian{NoiseMultiplier: 1}).ReleaseGradient(
			mechanism.Gradient{Sum: make([]float32, 3), Sensitivity: 1, NoiseMultiplier: z},
			func(int, []float64) {})
		if !errors.Is(err, want) {
			t.Errorf("a noise multiplier of %v under an event of 1: %v", z, err)
		}
	}
}

// TestSamplesAreThoseOfTheEvent: a mechanism on a sample is refused before the sample is drawn.
// After another kind of sample is requested, the grant refuses everything.
func TestSamplesAreThoseOfTheEvent(t *testing.T) {
	laplace := accountant.PoissonSampled{Probability: 0.5, Event: accountant.Laplace{Scale: 1}}
	g := granted(t, laplace)
	if err := g.Laplace(1, part(1)); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("Laplace before its sample: got %v, want ErrNotCovered", err)
	}
	g.PoissonSample(3, nil, nil)
	if err := g.Laplace(1, part(1)); err != nil {
		t.Errorf("Laplace after its sample: %v", err)
	}
	g = granted(t,
		accountant.PoissonSampled{Probability: 0.5, Event: accountant.Gaussian{NoiseMultiplier: 1}})
	if rows, _ := g.SampleWithoutReplacement(nil, nil); len(rows) != 0 {
		t.Errorf("a subset of %d rows is drawn under the event of a Poisson sample, want none",
			len(rows))
	}
	if err := g.Release(1, part(1)); !errors.Is(err, mechanism.ErrNotCovered) {
		t.Errorf("a release after another kind of sample: got %v, want ErrNotCovered", err)
	}
}

// TestPartsHaveTheirOwnNoise: each part on the same grid has noise of its own standard deviation,
// and so has each release. Each comparison fails by chance with probability 6e-10: the limit is 6.2
// standard deviations. The empirical standard deviation of n draws has a relative error of about
// 1/√(2n).
func TestPartsHaveTheirOwnNoise(t *testing.T) {
	const n = 20000
	make1 := func(std float64) mechanism.Part {
		return mechanism.Part{Sum: mechanism.NewFixedSum(n, mechanism.GridFor(1)), Std: std,
			Out: make([]float64, n)}
	}
	check := func(p mechanism.Part) {
		t.Helper()
		square := 0.0
		for _, v := range p.Out {
			square += v * v
		}
		if got := math.Sqrt(square / n); math.Abs(got/p.Std-1) > 6.2/math.Sqrt(2*n) {
			t.Errorf("got noise of standard deviation %v, want %v", got, p.Std)
		}
	}
	g := granted(t, accountant.Gaussian{NoiseMultiplier: 0.1})
	small, large, again := make1(1), make1(64), make1(2)
	if err := g.Release(1, small, large); err != nil {
		t.Fatal(err)
	}
	if err := g.Release(1, again); err != nil {
		t.Fatal(err)
	}
	check(small)
	check(large)
	check(again)
}

// TestArgmaxIsNoisy: of two counts that differ by a hundredth of the noise, each wins about half
// of the time. The larger count wins with probability Φ(1/(√2·100)). The comparison fails by chance
// with probability 6e-10: the limit is 6.2 standard deviations. With a twentieth of the noise the
// rate would be 12 standard deviations away.
func TestArgmaxIsNoisy(t *testing.T) {
	const n, std = 14000, 100
	l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5})
	a := must(mechanism.Begin(context.Background(), l).Reserve("argmax",
		accountant.Gaussian{NoiseMultiplier: std}, n))(t)
	won := 0
	for range n {
		g := must(a.Next())(t)
		i := must(g.NoisyArgmax([]int64{0, 1}, std, 1.0/std))(t)
		won += i
	}
	rate := func(std float64) float64 { return math.Erfc(-1/(2*std)) / 2 }
	sd := math.Sqrt(0.25 / n)
	if z := (float64(won)/n - rate(std)) / sd; math.Abs(z) > 6.2 {
		t.Errorf("the larger count won %d times of %d, which deviates by %.1f standard deviations",
			won, n, z)
	}
	if power := (rate(std/20) - rate(std)) / sd; power < 12 {
		t.Errorf("a twentieth of the noise shifts the rate by %.1f standard deviations, want 12", power)
	}
}

// TestClippedRowsHoldInFloat32: a row whose coordinates are scaled and rounded in float32 has at
// most the clip norm.
func TestClippedRowsHoldInFloat32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	longest := 0.0
	for range 2000 {
		row, square := make([]float32, 1+rng.IntN(64)), 0.0
		for i := range row {
			row[i] = float32(rng.NormFloat64())
			square += float64(row[i]) * float64(row[i])
		}
		clip := math.Sqrt(square) * rng.Float64()
		f := float32(mechanism.ClipFactor(square, clip))
		sum := 0.0
		for _, v := range row {
			c := float64(v * f)
			sum += c * c
		}
		if norm := math.Sqrt(sum); norm > clip {
			t.Fatalf("got norm %v after clipping to %v", norm, clip)
		}
		longest = max(longest, math.Sqrt(sum)/clip)
	}
	if longest < 1-2e-6 {
		t.Errorf("the largest norm is %v of the clip norm, want at least 1−2e-6", longest)
	}
}

// TestOppositeRowsAreCovered: under replace-one, an event SampledSum covers a histogram if twice
// the norm of its rows fits, although its sensitivity is √2 of that norm.
func TestOppositeRowsAreCovered(t *testing.T) {
	bins := must(mechanism.NewNormHistogram(0, 1, 2))(t)
	for multiplier, fits := range map[float64]bool{1.001: true, 0.999: false} {
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5,
			Relation: accountant.ReplaceOne})
		event := accountant.SampledSum{Probability: 0.5, NoiseMultiplier: math.Sqrt2}
		a := must(mechanism.Begin(t.Context(), l).Reserve("norms", event, 1))(t)
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		g.PoissonSample(10, nil, nil)
		_, err = bins.Release(g, multiplier)
		if refused := errors.Is(err, mechanism.ErrNotCovered); refused == fits || fits && err != nil {
			t.Errorf("noise multiplier %v: %v", multiplier, err)
		}
	}
}
