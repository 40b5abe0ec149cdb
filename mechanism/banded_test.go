package mechanism

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

var testBand = []float64{1, 0.75, 0.5, 0x1p-12}

func banded(q float64, band ...float64) accountant.BandedSum {
	return accountant.BandedSum{Probability: q, NoiseMultiplier: 2, Band: band}
}

// bandedAllowance reserves rounds of an event, with noise from a seed.
func bandedAllowance(t *testing.T, seed uint64, e accountant.Event, rounds int) *Allowance {
	t.Helper()
	run := Begin(context.Background(), ledger.New(testBudget()))
	source := must(entropy.Seeded(seed))(t)
	run.source = source
	return must(run.Reserve("banded", e, rounds))(t)
}

// releases takes one step for each sum and returns the outputs. Steps with a nil sum release
// nothing.
func releases(t *testing.T, a *Allowance, workers int, sums ...[]float32) [][]float64 {
	t.Helper()
	var out [][]float64
	for _, sum := range sums {
		g := must(a.Next())(t)
		g.PoissonSample(1, nil, nil)
		x := make([]float64, len(sum))
		if sum != nil {
			spec := Gradient{Sum: sum, Sensitivity: 3, NoiseMultiplier: 2, Workers: workers}
			if err := g.ReleaseGradient(spec, func(lo int, noisy []float64) {
				copy(x[lo:], noisy)
			}); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, x)
	}
	return out
}

// TestFreshPartOfCorrelatedNoise: Σ c_j·X_{t−j} is independent noise of the priced deviation.
// Every mean square and every mean product of two steps is off by 6.2 standard deviations with
// probability 1e-9. After a step without a release the noise begins again.
func TestFreshPartOfCorrelatedNoise(t *testing.T) {
	const dim, steps, missing = 3*chunk + 17, 10, 6
	sums := make([][]float32, steps)
	for i := range sums {
		if sums[i] = make([]float32, dim); i == missing {
			sums[i] = nil
		}
	}
	a := bandedAllowance(t, 5, banded(0.5, testBand...), 3)
	x := releases(t, a, 2, sums...)
	want, norm := make([]float64, steps), 0.0
	for _, c := range testBand {
		norm += c * c
	}
	fresh := make([][]float64, steps)
	for s := range fresh {
		fresh[s] = make([]float64, dim)
		for j, c := range testBand[:min(s+1, len(testBand))] {
			if s > missing && s-j <= missing {
				break
			}
			for i, v := range x[s-j] {
				fresh[s][i] += c * v
			}
		}
		if want[s] = 36 * norm; s == missing {
			want[s], fresh[s] = 0, make([]float64, dim)
		}
	}
	for s := range fresh {
		for u := range s + 1 {
			product, expected, width := 0.0, 0.0, math.Sqrt(want[s]*want[u])
			for i, v := range fresh[s] {
				product += v * fresh[u][i] / dim
			}
			if u == s {
				expected, width = want[s], width*math.Sqrt2
			}
			if math.Abs(product-expected) > 6.2*width/math.Sqrt(dim) {
				t.Errorf("steps %d and %d: mean product %v, want %v", s, u, product, expected)
			}
		}
	}
}

// TestCorrelatedNoiseIgnoresSums: the bits of the noise do not depend on the sums, the outputs are
// on the grid, and neither depends on the number of workers. So outputs are sums plus noise
// exactly, which the proof of band requires.
func TestCorrelatedNoiseIgnoresSums(t *testing.T) {
	const dim, steps = 2*chunk + 5, 9
	e := banded(0.5, testBand...)
	grid, _ := newBand(e).noise(terms{}, Gradient{Sum: make([]float32, dim), Sensitivity: 3,
		NoiseMultiplier: 2})
	var zero, sums [][]float32
	for s := range steps {
		zero, sums = append(zero, make([]float32, dim)), append(sums, make([]float32, dim))
		for i := range sums[s] {
			sums[s][i] = float32(float64((i*7919+s*104729)%4001-2000) * 0x1p-9)
		}
	}
	alone := releases(t, bandedAllowance(t, 5, e, 3), 1, zero...)
	with := releases(t, bandedAllowance(t, 5, e, 3), 4, sums...)
	for s := range alone {
		for i, noise := range alone[s] {
			if math.Mod(noise, grid) != 0 || with[s][i]-float64(sums[s][i]) != noise {
				t.Fatalf("step %d, coordinate %d: %v − %v, want the noise %v on a grid of %v", s, i,
					with[s][i], sums[s][i], noise, grid)
			}
		}
	}
	if slices.Equal(alone[0], alone[1]) || slices.Equal(alone[0], alone[4]) {
		t.Error("two steps share their noise")
	}
}

// TestGroupsTakeTurns: a row is only in the samples of its group's steps, in every round of the
// allowance, with the event's probability. Groups are uniform, and other allowances have others.
// Each number is off by six standard deviations with probability 2e-9.
func TestGroupsTakeTurns(t *testing.T) {
	const n, bands, rounds, q = 4000, 4, 50, 0.4
	groups := func(seed uint64) []int {
		a := bandedAllowance(t, seed, banded(q, testBand...), rounds)
		group, sampled, sizes := make([]int, n), 0, make([]int, bands)
		for step := range bands * rounds {
			g := must(a.Next())(t)
			rows, keys := g.PoissonSample(n, nil, nil)
			if sampled += len(rows); len(keys) != len(rows) {
				t.Fatalf("%d keys for %d rows", len(keys), len(rows))
			}
			for _, row := range rows {
				if turn := step%bands + 1; group[row] == 0 {
					group[row] = turn
					sizes[turn-1]++
				} else if group[row] != turn {
					t.Fatalf("row %d is in the samples of groups %d and %d", row, group[row], turn)
				}
			}
		}
		sixSigma(t, "inclusions", sampled, n*rounds, q)
		for _, size := range sizes {
			sixSigma(t, "rows of a group", size, n, 1./bands)
		}
		return group
	}
	same, a, b := 0, groups(1), groups(2)
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	sixSigma(t, "equal groups", same, n, 1./bands)
}

// TestBandsCountRounds: an allowance takes one use for each round and gives one grant for each
// step.
func TestBandsCountRounds(t *testing.T) {
	a := bandedAllowance(t, 1, banded(0.5, testBand...), 2)
	a.Guard(func(spend func() error) error {
		a.Remaining() // does not wait
		return spend()
	})
	for left := 8; left > 0; left-- {
		if uses := a.reservation.Remaining(); a.Remaining() != left || uses != left/4 {
			t.Errorf("%d steps left, %d uses; want %d and %d", a.Remaining(), uses, left, left/4)
		}
		if _, err := a.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Next(); a.Remaining() != 0 || !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("after two rounds: %d steps left, %v", a.Remaining(), err)
	}
	if n := a.turns.remaining(math.MaxInt / 2); n < math.MaxInt/2 {
		t.Errorf("more rounds than can be counted have %d steps", n)
	}
}

// TestBandsRefuse: a band covers one gradient for each step, of the same sensitivity, and a sample.
func TestBandsRefuse(t *testing.T) {
	part := Part{Sum: NewFixedSum(2, GridFor(1)), Std: 100, Out: make([]float64, 2)}
	good := Gradient{Sum: make([]float32, 2), Sensitivity: 1, NoiseMultiplier: 2, Workers: 1}
	sink := func(int, []float64) {}
	a := bandedAllowance(t, 1, banded(0.5, testBand...), 5)
	next := func() *Grant {
		t.Helper()
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		g.PoissonSample(5, nil, nil)
		return g
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", what, err)
		}
	}
	refused("a sum", next().Release(0.01, part))
	_, err := next().NoisyArgmax([]int64{1, 2}, 100, 0.01)
	refused("an argmax", err)
	spec := good
	spec.NoiseMultiplier = 1.99
	refused("less noise", next().ReleaseGradient(spec, sink))
	early, g := next(), next()
	if err := g.ReleaseGradient(good, sink); err != nil {
		t.Fatal(err)
	}
	refused("a second release", g.ReleaseGradient(good, sink))
	refused("an earlier step", early.ReleaseGradient(good, sink))
	for _, change := range []func(*Gradient){
		func(s *Gradient) { s.Sensitivity = 0.5 },
		func(s *Gradient) { s.NoiseMultiplier = 4 },
		func(s *Gradient) { s.Sum = make([]float32, 3) },
	} {
		spec := good
		change(&spec)
		refused("another release", next().ReleaseGradient(spec, sink))
	}
	if g, err = a.Next(); err != nil {
		t.Fatal(err)
	}
	refused("a release before the sample", g.ReleaseGradient(good, sink))
	_, err = PlanInclusions(10, a)
	refused("a plan of samples", err)

	spec = good
	spec.NoiseMultiplier = 8
	a = bandedAllowance(t, 1, banded(0.5, testBand...), 2)
	g = next()
	if err := g.ReleaseGradient(spec, sink); err != nil {
		t.Fatal(err)
	}
	refused("two small releases", g.ReleaseGradient(spec, sink))

	a = bandedAllowance(t, 1, banded(0.5, 1, 1), 10000)
	refused("noise that grows", next().ReleaseGradient(good, sink))
}

// TestFarNoiseEndsABand: after noise that is too large to be kept, nothing more is released.
func TestFarNoiseEndsABand(t *testing.T) {
	a := bandedAllowance(t, 1, banded(0.5, testBand...), 2)
	releases(t, a, 1, make([]float32, 2))
	noisy := []float64{0x1p50, 3}
	a.band.correlate(noisy, 0)
	if noisy[0] < 0x1p37 {
		t.Errorf("large noise became %v", noisy[0])
	}
	g, err := a.Next()
	if err != nil {
		t.Fatal(err)
	}
	g.PoissonSample(1, nil, nil)
	err = g.ReleaseGradient(Gradient{Sum: make([]float32, 2), Sensitivity: 3, NoiseMultiplier: 2},
		func(int, []float64) { t.Error("something is released") })
	if !errors.Is(err, errFar) {
		t.Error(err)
	}
}

// TestRoundingInBands: rows stay within the norm that is charged after they are rounded to the
// grid, also if the rows of two records are opposite.
func TestRoundingInBands(t *testing.T) {
	e := banded(0.5, testBand...)
	for r, rows := range map[accountant.Relation]float64{accountant.AddOrRemoveOne: 1,
		accountant.ReplaceOne: 2} {
		for _, dim := range []int{1, 1000, 1 << 24} {
			const multiplier = 1.5
			b := newBand(e)
			grid, std := b.noise(termsOf(e).under(r), Gradient{Sum: make([]float32, dim),
				Sensitivity: rows, NoiseMultiplier: multiplier})
			moved := rows * (1 + grid*math.Sqrt(float64(dim)))
			if got := std / multiplier / b.norm; !(grid > 0) || got < moved*(1-1e-15) {
				t.Errorf("%v, dimension %d: noise for a distance of %v, want %v", r, dim, got, moved)
			}
		}
	}
}

// TestBandsForgetAReleaseThatPanics: if the sink panics, part of the step has no noise to remember.
// The next step then has fresh noise, and not noise that correlates with a step before, which would
// repeat its records. Each of the four mean products is off with probability 2e-9.
func TestBandsForgetAReleaseThatPanics(t *testing.T) {
	const dim, steps, broken = 4 * chunk, 8, 5
	a := bandedAllowance(t, 5, banded(0.5, 1, 0.5, 0.5), 3)
	x := make([][]float64, steps)
	for s := range x {
		x[s] = make([]float64, dim)
		g := must(a.Next())(t)
		g.PoissonSample(1, nil, nil)
		func() {
			defer func() {
				if got := recover(); (got != nil) != (s == broken) {
					t.Errorf("step %d: panic %v", s, got)
				}
			}()
			spec := Gradient{Sum: make([]float32, dim), Sensitivity: 3, NoiseMultiplier: 2}
			if err := g.ReleaseGradient(spec, func(lo int, noisy []float64) {
				if s == broken && lo >= chunk {
					panic("the sink fails")
				}
				copy(x[s][lo:], noisy)
			}); err != nil {
				t.Error(err)
			}
		}()
	}
	for s := 1; s < broken; s++ {
		product, squares, others := 0.0, 0.0, 0.0
		for i := 2 * chunk; i < dim; i++ {
			u, v := x[s][i], x[broken+1][i]
			product, squares, others = product+u*v, squares+u*u, others+v*v
		}
		if r := product / math.Sqrt(squares*others); math.Abs(r) > 6/math.Sqrt(2*chunk) {
			t.Errorf("the step after the panic correlates with step %d: %v", s, r)
		}
	}
}

// TestBandsOfLongSums: noise that covers the rounding of many coordinates may exceed the bits in
// which it is kept. It is refused before anything is drawn, and smaller noise lasts for all steps.
func TestBandsOfLongSums(t *testing.T) {
	for z, fits := range map[float64]bool{1e4: true, 1e7: false} {
		a := bandedAllowance(t, 1, banded(0.5, testBand...), 2)
		for range 8 {
			g, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			g.PoissonSample(1, nil, nil)
			err = g.ReleaseGradient(Gradient{Sum: make([]float32, chunk), Sensitivity: 3,
				NoiseMultiplier: z}, func(int, []float64) {
				if !fits {
					t.Fatal("something is released")
				}
			})
			if fits && err != nil || !fits && !errors.Is(err, ErrNotCovered) {
				t.Fatalf("noise multiplier %v: %v", z, err)
			}
		}
	}
}

// TestGrowthOfNoise: the noise is the inverse of the band, applied to its fresh part. With all
// coefficients 1 it grows for ever, so only some steps are covered.
func TestGrowthOfNoise(t *testing.T) {
	for _, c := range []struct {
		band  []float64
		steps int
		want  float64
	}{{[]float64{1}, 9, 1}, {[]float64{1, 0.5}, 100, 1 / math.Sqrt(0.75)},
		{[]float64{1, 1}, 100, 10}, {[]float64{1, 0.5, 0.5}, 3, math.Sqrt(1 + 1./4 + 1./16)}} {
		if got := newBand(banded(0.5, c.band...)).growth(c.steps); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("band %v: the noise of step %d is %v times its fresh part, want %v", c.band, c.steps,
				got, c.want)
		}
	}
	for steps, want := range map[int]error{1024: nil, 4100: ErrNotCovered} {
		g, err := bandedAllowance(t, 1, banded(0.5, 1, 1), steps/2).Next()
		if err != nil {
			t.Fatal(err)
		}
		g.PoissonSample(1, nil, nil)
		err = g.ReleaseGradient(Gradient{Sum: make([]float32, 1), Sensitivity: 1, NoiseMultiplier: 2},
			func(int, []float64) {})
		if !errors.Is(err, want) {
			t.Errorf("%d steps: got %v, want %v", steps, err, want)
		}
	}
}
