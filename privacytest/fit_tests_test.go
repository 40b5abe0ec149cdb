package privacytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// noisy draws n values from the library's own mechanism.
func noisy(t *testing.T, ctx context.Context, std float64, n int) []float64 {
	t.Helper()
	l := ledger.New(toyBudget(accountant.AddOrRemoveOne))
	g, err := mechanism.Begin(ctx, l).Spend("draws", accountant.Gaussian{NoiseMultiplier: 1})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, n)
	if err := g.Release(1,
		mechanism.Part{Sum: mechanism.NewFixedSum(n, mechanism.GridFor(std)), Std: std, Out: out}); err !=
		nil {
		t.Fatal(err)
	}
	return out
}

// failures counts the errors reported by a check that must fail.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Helper()               {}
func (f *failures) Error(...any)          { f.count++ }
func (f *failures) Errorf(string, ...any) { f.count++ }

func fails(check func(testing.TB)) bool {
	f := new(failures)
	check(f)
	return f.count > 0
}

func TestGoodnessOfFitOfTheLibrary(t *testing.T) {
	values := noisy(t, context.Background(), 3, 1<<17)
	next := 0
	draw := func() float64 {
		next = (next + 1) % len(values)
		return values[next]
	}
	fit := GoodnessOfFit{Draw: draw, CDF: NormalCDF(3), FalseAlarm: 1e-8}
	fit.Check(t)
	for _, std := range []float64{0.7 * 3, 1.3 * 3} {
		fit.CDF = NormalCDF(std)
		if !fit.Rejected(t) {
			t.Errorf("a normal distribution of standard deviation %v is not rejected", std)
		}
	}
	fit.CDF = laplaceCDF(3 / math.Sqrt2)
	if !fit.Rejected(t) {
		t.Error("a Laplace distribution with the same standard deviation is not rejected")
	}
	checkGrid(t, values, mechanism.GridFor(3), 1e-8)
	if !fails(func(tb testing.TB) { checkGrid(tb, values, 2*mechanism.GridFor(3), 1e-8) }) {
		t.Error("values on a finer grid are not found")
	}
	for i, v := range values {
		values[i] = 2 * v
	}
	if !fails(func(tb testing.TB) { checkGrid(tb, values, mechanism.GridFor(3), 1e-8) }) {
		t.Error("a lowest bit that is always zero is not found")
	}
}

func TestIndependence(t *testing.T) {
	a, b := noisy(t, context.Background(), 1, 1<<15), noisy(t, context.Background(), 1, 1<<15)
	checkIndependent(t, a, b, 1e-8)
	if !fails(func(tb testing.TB) { checkIndependent(tb, a, slices.Clone(a), 1e-8) }) {
		t.Error("two equal streams are not found")
	}
	mixed := make([]float64, len(a))
	for i := range a {
		mixed[i] = 0.1*a[i] + b[i]
	}
	if !fails(func(tb testing.TB) { checkIndependent(tb, a, mixed, 1e-8) }) {
		t.Error("a tenth of the noise used again is not found")
	}
}

// TestFitHoldsForDiscreteLaws: a discrete distribution causes no false alarm.
func TestFitHoldsForDiscreteLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	die := GoodnessOfFit{
		Draw:       func() float64 { return float64(1 + rng.IntN(6)) },
		CDF:        func(x float64) float64 { return min(max(math.Floor(x)/6, 0), 1) },
		FalseAlarm: 1e-9,
	}
	die.Check(t)
	die.Draw = func() float64 { return float64(1 + min(rng.IntN(7), 5)) }
	if !die.Rejected(t) {
		t.Error("a loaded die is not rejected")
	}
	// One draw in a thousand has no distance from anything.
	die.Draw = func() float64 { return []float64{1, math.NaN()}[(rng.IntN(1000)+1)/1000] }
	if !die.Rejected(t) {
		t.Error("a die that shows no number is not rejected")
	}
	if failed, _ := new(refusing).run(die.Check); failed != 1 {
		t.Errorf("the die fails %d checks, want 1", failed)
	}
}

func TestSeededRepeatsAndSaysSo(t *testing.T) {
	a := noisy(t, Seeded(t, context.Background(), 1), 1, 100)
	b := noisy(t, Seeded(t, context.Background(), 1), 1, 100)
	c := noisy(t, Seeded(t, context.Background(), 2), 1, 100)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("noise is not a function of the seed")
	}
	ctx := Seeded(t, context.Background(), 1)
	if slices.Equal(noisy(t, ctx, 1, 100), noisy(t, ctx, 1, 100)) {
		t.Error("two runs of one context share their noise")
	}
	l := ledger.New(toyBudget(accountant.AddOrRemoveOne))
	mechanism.Begin(Seeded(t, context.Background(), 1), l)
	if l.NotPrivate() == "" {
		t.Error("the ledger of a seeded run is not marked as not private")
	}
}

// TestSamplesAreCoupled: two data sets share their first rows. Every sample holds the same of these
// rows in both data sets, with the same keys.
func TestSamplesAreCoupled(t *testing.T) {
	draw := func(n int) ([]int32, []uint64) {
		l := ledger.New(toyBudget(accountant.AddOrRemoveOne))
		e := accountant.PoissonSampled{Probability: 0.3, Event: accountant.Gaussian{NoiseMultiplier: 1}}
		g, err := mechanism.Begin(Seeded(t, context.Background(), 9), l).Spend("s", e)
		if err != nil {
			t.Fatal(err)
		}
		return g.PoissonSample(n, nil, nil)
	}
	long, longKeys := draw(101)
	short, shortKeys := draw(100)
	if !slices.Equal(long[:len(short)], short) || !slices.Equal(longKeys[:len(short)], shortKeys) {
		t.Error("a row's inclusion or key depends on the other rows")
	}
}

func TestNeighbours(t *testing.T) {
	table, err := records.NewSchema(records.Numeric("a", -1, 5).WithMissing(),
		records.Ordinal("b", "x", "y", "z"),
		records.Categorical("c", "x", "y").WithMissing(), records.Flag("d", "n", "y"),
		records.Label("e", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []records.Schema{
		table,
		records.Binary(4), records.Interval(3, -1, 2), records.Image(2, 3),
		records.BinaryImage(2, 2).WithLabels("a", "b"), records.Sets(20, 5),
		records.Sets(20, 5).WithLabels("x", "y", "z"),
	} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			pairs := Neighbours(t, s, r, 5, 1)
			if len(pairs) < 12 {
				t.Errorf("%v: got %d pairs, want at least 12", s, len(pairs))
			}
			for _, p := range pairs {
				want := p.Data.Len()
				if r == accountant.AddOrRemoveOne {
					want++
				}
				if p.Neighbour.Len() != want {
					t.Fatalf("%v, %s: got %d and %d records", s, p.Name, p.Data.Len(), p.Neighbour.Len())
				}
				var b device.Batch
				p.Neighbour.Range(0, want, &b) // must not fail for any values
			}
		}
	}
}

func TestOneRunAudit(t *testing.T) {
	const m = 400
	score := func(noise float64) func(planted []bool) ([]float64, error) {
		return func(planted []bool) ([]float64, error) {
			s := make([]float64, m)
			for i, in := range planted {
				if in {
					s[i] = 1
				}
				s[i] += laplaceDraw(noise)
			}
			return s, nil
		}
	}
	// Laplace noise of scale 1 on each canary is 1-private. Half of the canaries are guessed: the
	// canaries with the most extreme scores.
	o := OneRun{Train: score(1), Canaries: m, Guesses: m / 2, FalseAlarm: 1e-9}
	o.Check(t, 1)
	o.Train = score(0.1)
	if a := o.Audit(t); a.Epsilon < 1.5 {
		t.Errorf("a tenth of the noise: got %v, want at least ε ≥ 1.5", a)
	} else if !fails(func(tb testing.TB) { o.Check(tb, 1) }) {
		t.Error("Check accepts the broken training")
	}
	// A positive δ can only lower the bound.
	if a, b := oneRunBound(m, 200, 190, 0, 1e-3), oneRunBound(m, 200, 190, 1e-5, 1e-3); b > a ||
		b <= 0 {
		t.Errorf("got bounds %v at δ = 0 and %v at δ = 1e-5, want a smaller positive one", a, b)
	}
	if oneRunBound(m, 200, 100, 0, 1e-3) != 0 {
		t.Error("random guesses give a positive lower bound")
	}
}

func TestClopperPearsonCovers(t *testing.T) {
	// The bounds are exact: at the bound the observation has probability alpha.
	for _, c := range [][2]int{{1, 10}, {5, 10}, {9, 10}, {300, 20000}, {19999, 20000}} {
		k, n := c[0], c[1]
		p := lowerRate(k, n, 1e-6)
		if got := binomialAtLeast(k, n, p); math.Abs(got/1e-6-1) > 1e-3 {
			t.Errorf("%d of %d: the tail at the lower bound %v is %v, want 1e-6", k, n, p, got)
		}
		if q := upperRate(k, n, 1e-6); q < float64(k)/float64(n) || q > 1 {
			t.Errorf("%d of %d: got upper bound %v, want one from the frequency to 1", k, n, q)
		}
	}
	if lowerRate(0, 10, 0.01) != 0 || upperRate(10, 10, 0.01) != 1 {
		t.Error("the bounds of 0 of 10 and 10 of 10 are not 0 and 1")
	}
}

// TestReplayFindsPanicsAndErrors: differences between errors, ledgers and releases of the two runs
// are findings. Equal errors and equal results with NaN are no findings.
func TestReplayFindsPanicsAndErrors(t *testing.T) {
	always := Replay[int]{Budget: toyBudget(accountant.AddOrRemoveOne), Data: 1, Neighbour: 2,
		Refused: true,
		Run: func(context.Context, *ledger.Ledger, int) (any, error) {
			return nil, fmt.Errorf("always")
		}}
	always.Check(t)
	always.Run = func(_ context.Context, _ *ledger.Ledger, n int) (any, error) {
		return nil, fmt.Errorf("%d", n)
	}
	if len(always.Findings(t)) == 0 {
		t.Error("an error that contains a value is not found")
	}
	always.Run = func(_ context.Context, l *ledger.Ledger, n int) (any, error) {
		if n == 2 {
			return nil, l.Spend("behind the mechanism's back", accountant.Gaussian{NoiseMultiplier: 5})
		}
		return nil, nil
	}
	if len(always.Findings(t)) == 0 {
		t.Error("a spend on one data set only is not found")
	}
	always.Run = func(ctx context.Context, l *ledger.Ledger, n int) (any, error) {
		g, err := mechanism.Begin(ctx, l).Spend("two releases",
			accountant.SameBatch{NoiseMultipliers: []float64{2, 2}})
		for range 3 - n { // the second release is on one data set only
			p := mechanism.Part{Sum: mechanism.NewFixedSum(1, mechanism.GridFor(1)), Std: 1,
				Out: make([]float64, 1)}
			err = errors.Join(err, g.Release(0.5, p))
		}
		return nil, err
	}
	if len(always.Findings(t)) == 0 {
		t.Error("a release on one data set only is not found")
	}
	type nested struct{ F []any }
	always.Run = func(_ context.Context, _ *ledger.Ledger, n int) (any, error) {
		return nested{[]any{math.NaN(), []float32{float32(math.NaN())}}}, nil
	}
	if f := always.Findings(t); len(f) != 0 {
		t.Errorf("equal results that contain NaN have findings: %v", f)
	}
}

// laplaceCDF returns the distribution function of the Laplace distribution of scale b about zero.
func laplaceCDF(b float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return math.Exp(x/b) / 2
		}
		return 1 - math.Exp(-x/b)/2
	}
}

// checkGrid fails the test if a value is not on the grid, or if the lowest bit of the grid points
// is not a fair coin. A public grid and a random lowest bit keep private data out of the lowest
// digits, which the noise does not cover.
func checkGrid(tb testing.TB, values []float64, grid, falseAlarm float64) {
	tb.Helper()
	if f := gridFinding(values, grid, falseAlarm); f != "" {
		tb.Error(f)
	}
}

func gridFinding(values []float64, grid, falseAlarm float64) string {
	odd := 0
	for _, v := range values {
		steps := v / grid
		if steps != math.Trunc(steps) {
			return fmt.Sprintf("a value is not a multiple of the grid %g", grid)
		}
		if math.Mod(steps, 2) != 0 {
			odd++
		}
	}
	n := len(values)
	if rate := float64(odd) / float64(n); lowerRate(odd, n, falseAlarm/2) > 0.5 ||
		upperRate(odd, n, falseAlarm/2) < 0.5 {
		return fmt.Sprintf("the lowest bit of the grid points is set at rate %.4g, want "+
			"0.5", rate)
	}
	return ""
}

// checkIndependent fails the test if two streams of centred draws are correlated. This happens if
// noise is used twice: after a resume, in two workers, or in two steps. checkIndependent fails for
// independent streams with probability about falseAlarm, by a normal approximation to the
// correlation.
func checkIndependent(tb testing.TB, a, b []float64, falseAlarm float64) {
	tb.Helper()
	if z := correlation(a, b); math.Erfc(z/math.Sqrt2) < falseAlarm {
		tb.Errorf("two streams are correlated: their correlation is %.1f standard errors from zero", z)
	}
}

// correlation returns |Σ ab| in units of its standard error.
func correlation(a, b []float64) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i, x := range a[:min(len(a), len(b))] {
		ab += x * b[i]
		aa += x * x
		bb += b[i] * b[i]
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return math.Abs(ab) / math.Sqrt(aa*bb) * math.Sqrt(float64(min(len(a), len(b))))
}

// lowerRate returns the one-sided lower bound of Clopper and Pearson (1934): at the returned
// rate, k or more successes in n trials have probability alpha.
func lowerRate(k, n int, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	return bisect(0, float64(k)/float64(n), func(p float64) bool {
		return binomialAtLeast(k, n, p) >= alpha
	})
}

// upperRate returns the one-sided upper bound of Clopper and Pearson.
func upperRate(k, n int, alpha float64) float64 { return 1 - lowerRate(n-k, n, alpha) }
