package mechanism

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

func fixedBits(seed uint64) *rand.PCG { return rand.NewPCG(seed, 1) }

func ratioOf(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func gaussian(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} }

func TestReleaseLivesOnTheGrid(t *testing.T) {
	const std = 0.37
	sum := NewFixedSum(20000, GridFor(std))
	out := make([]float64, sum.Dim())
	if err := grantOf(t, gaussian(1)).Release(1, Part{Sum: sum, Std: std, Out: out}); err != nil {
		t.Fatal(err)
	}
	odd, square := 0, 0.0
	for _, v := range out {
		steps := v / sum.Grid()
		if steps != math.Trunc(steps) {
			t.Fatal("an output is between grid points")
		}
		if math.Mod(steps, 2) != 0 {
			odd++
		}
		square += v * v
	}
	sixSigma(t, "odd grid points", odd, len(out), 0.5)
	if got := math.Sqrt(square / float64(len(out))); math.Abs(got/std-1) > 6.2/math.Sqrt(2*20000) {
		t.Errorf("standard deviation %v, want %v", got, std)
	}
}

// TestPartsOnSeveralGrids: parts with one standard deviation have the noise of that deviation, each
// on its own grid. The sums of squares are off by 6.2 standard deviations with probability 1e-9.
func TestPartsOnSeveralGrids(t *testing.T) {
	const std, n = 0.37, 2000
	var parts []Part
	for _, grid := range []float64{0x1p-10, 0x1p-30, 0x1p-20} {
		parts = append(parts, Part{Sum: NewFixedSum(n, grid), Std: std, Out: make([]float64, n)})
	}
	if err := grantOf(t, gaussian(1)).Release(1, parts...); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		square := 0.0
		for _, v := range p.Out {
			square += v * v
		}
		if got := math.Sqrt(square / n); math.Abs(got/std-1) > 6.2/math.Sqrt(2*n) {
			t.Errorf("grid %v: standard deviation %v, want %v", p.Sum.Grid(), got, std)
		}
	}
}

// TestNoLowBitLeak: for any data, outputs lie on the grid, and half of them are odd multiples of
// the step.
func TestNoLowBitLeak(t *testing.T) {
	for _, value := range []float32{0, 1, 0.3, 1e-20, -7.77} {
		odd := 0
		const n = 16384
		sum := make([]float32, n)
		for i := range sum {
			sum[i] = value
		}
		grid, _ := gradientNoise(1, 1.1, n)
		err := grantOf(t,
			gaussian(1)).ReleaseGradient(Gradient{Sum: sum, Sensitivity: 1, NoiseMultiplier: 1.1},
			func(_ int, noisy []float64) {
				for _, v := range noisy {
					steps := v / grid
					if steps != math.Trunc(steps) {
						t.Fatal("an output is between grid points")
					}
					if math.Mod(steps, 2) != 0 {
						odd++
					}
				}
			})
		if err != nil {
			t.Fatal(err)
		}
		sixSigma(t, "odd grid points", odd, n, 0.5)
	}
}

func TestGradientNoiseIsRight(t *testing.T) {
	const dim = 3*chunk + 17
	draws := map[int][]float64{}
	for _, workers := range []int{1, 4} {
		source := must(entropy.Seeded(5))(t)
		run := Begin(context.Background(), ledger.New(testBudget()))
		run.source = source
		a := must(run.Reserve("g", gaussian(2), 2))(t)
		for range 2 {
			g := must(a.Next())(t)
			seen := make([]float64, dim)
			spec := Gradient{Sum: make([]float32, dim), Sensitivity: 3, NoiseMultiplier: 2, Workers: workers}
			if err := g.ReleaseGradient(spec, func(lo int, noisy []float64) {
				copy(seen[lo:], noisy)
			}); err != nil {
				t.Fatal(err)
			}
			draws[workers] = append(draws[workers], seen...)
		}
	}
	if !slices.Equal(draws[1], draws[4]) {
		t.Error("the noise depends on the number of workers")
	}
	if draws[1][0] == draws[1][dim] {
		t.Error("two steps share their noise")
	}
	square := 0.0
	for _, v := range draws[1] {
		square += v * v
	}
	// The bound is six sigma, although the seed is fixed.
	if got := math.Sqrt(square / (2 * dim)); math.Abs(got/6-1) > 6/math.Sqrt(4*dim) {
		t.Errorf("got standard deviation %v, want 6", got)
	}
}

func TestGradientHostileSums(t *testing.T) {
	inf := float32(math.Inf(1))
	sum := []float32{inf, -inf, float32(math.NaN()), math.MaxFloat32, 0}
	var out []float64
	err := grantOf(t,
		gaussian(1)).ReleaseGradient(Gradient{Sum: sum, Sensitivity: 1, NoiseMultiplier: 1},
		func(_ int, n []float64) {
			out = slices.Clone(n)
		})
	if err != nil {
		t.Fatal(err)
	}
	grid, std := gradientNoise(1, 1, len(sum))
	for i, want := range []float64{sampler.MaxSteps * grid, -sampler.MaxSteps * grid, 0,
		sampler.MaxSteps * grid, 0} {
		if math.Abs(out[i]-want) > 10*std {
			t.Errorf("coordinate %d: got %v, want about %v", i, out[i], want)
		}
	}
}

// TestGridRoundingIsCharged: after rounding, the distance of neighbours is at most the distance to
// which the noise is scaled.
func TestGridRoundingIsCharged(t *testing.T) {
	rng := rand.New(fixedBits(9))
	for range 2000 {
		dim := 1 + rng.IntN(40)
		z := math.Exp(rng.NormFloat64() * 3)
		grid, std := gradientNoise(1, z, dim)
		moved := 0.0
		unit := make([]float64, dim)
		norm := 0.0
		for i := range unit {
			unit[i] = rng.NormFloat64()
			norm += unit[i] * unit[i]
		}
		slack := 0.0
		for i := range unit {
			x := float32(rng.NormFloat64() * 10)
			y := float32(float64(x) + unit[i]/math.Sqrt(norm))
			// slack is the rounding error of float32, for which the noise is not scaled.
			slack += math.Abs(float64(y) - float64(x) - unit[i]/math.Sqrt(norm))
			d := (sampler.RoundToGrid(float64(y), 1/grid) - sampler.RoundToGrid(float64(x), 1/grid)) * grid
			moved += d * d
		}
		if math.Sqrt(moved)-slack > std/z {
			t.Fatalf("got neighbours %v apart after rounding, want at most %v", math.Sqrt(moved), std/z)
		}
	}
}

func TestFixedSumIsExactAndOrderFree(t *testing.T) {
	rng := rand.New(fixedBits(10))
	rows := make([][]float32, 500)
	for i := range rows {
		rows[i] = make([]float32, 7)
		for j := range rows[i] {
			rows[i][j] = float32(rng.NormFloat64()) * float32(math.Exp(rng.NormFloat64()*5))
		}
	}
	add := func(order []int) *FixedSum {
		s := NewFixedSum(7, 0x1p-25)
		for _, i := range order {
			s.AddRow(rows[i], 0.3)
		}
		return s
	}
	forward := add(rng.Perm(500))
	again := add(rng.Perm(500))
	left, right := add(rng.Perm(500)[:0]), NewFixedSum(7, 0x1p-25)
	for i, r := range rows {
		if i%3 == 0 {
			left.AddRow(r, 0.3)
		} else {
			right.AddRow(r, 0.3)
		}
	}
	left.Merge(right)
	if !slices.Equal(forward.sum, again.sum) || !slices.Equal(forward.sum, left.sum) {
		t.Error("the sum depends on order or sharding")
	}
}

// TestFixedSumNeverGrowsANorm: for random rows and scales, the added amount is at most the product
// in exact arithmetic.
func TestFixedSumNeverGrowsANorm(t *testing.T) {
	rng := rand.New(fixedBits(11))
	for range 20000 {
		scale := math.Exp(rng.NormFloat64())
		if rng.IntN(4) == 0 {
			scale = math.Ldexp(1, rng.IntN(9)-4)
		}
		s := NewFixedSum(1, 0x1p-20)
		row := []float64{rng.NormFloat64() * math.Exp(rng.NormFloat64()*8)}
		s.AddRow64(row, scale)
		got := ratioOf(float64(s.sum[0]) * s.grid)
		want := ratioOf(row[0])
		want.Mul(want, ratioOf(scale))
		if got.Abs(got).Cmp(want.Abs(want)) > 0 {
			t.Fatalf("%v × %v was rounded away from zero", row[0], scale)
		}
	}
	s := NewFixedSum(3, 0x1p-20)
	s.AddRow([]float32{float32(math.NaN()), float32(math.Inf(1)), 1}, 0)
	s.AddRow64([]float64{1, -1, 1}, math.NaN())
	if s.sum[0] != 0 || s.sum[1] != 0 || s.sum[2] != 0 {
		t.Error("a row with factor zero or NaN contributed")
	}
	s.AddRow64([]float64{1e300, -1e300, 1}, 1)
	if s.sum[0] != rowLimit || s.sum[1] != -rowLimit || s.sum[2] != 1<<20 {
		t.Errorf("got the sums %v, want rowLimit, −rowLimit and 2^20", s.sum)
	}
	s.AddInt(2, 3)
	if s.sum[2] != 4<<20 {
		t.Error("whole numbers are not exact")
	}
}

// TestWrappingIsHarmless: at the largest integer the sum wraps around. It does not fail or
// saturate, so the difference of neighbours stays the same.
func TestWrappingIsHarmless(t *testing.T) {
	s := NewFixedSum(1, 1)
	s.sum[0] = math.MaxInt64
	s.AddInt(0, 2)
	if s.sum[0] != math.MinInt64+1 {
		t.Error("the sum saturated")
	}
	if err := grantOf(t, gaussian(1)).Release(1,
		Part{Sum: s, Std: 100, Out: make([]float64, 1)}); err != nil {
		t.Error(err)
	}
}

// TestClipFactor: every norm that is scaled, and every norm that is not, leaves 2^-20 of the clip
// norm for what is rounded later.
func TestClipFactor(t *testing.T) {
	const target = 1 - 0x1p-20
	for _, norm := range []float64{0, 0.5, target, 1 - 0x1p-21, 1, 1.0000001, 3, 1e20, 1e-20,
		0x1.9p131, 0x1.9p140, 0x1.9p148, 0x1p149, 1e60, 1e150} {
		f := ClipFactor(norm*norm, 1)
		if f*norm > target || f < 0 || norm <= target && f != 1 {
			t.Errorf("norm %v: got factor %v, want 1 or a norm of at most 1−2^-20", norm, f)
		}
		if float64(float32(f)) != f {
			t.Errorf("norm %v: factor %v is not a float32: rounding could increase it", norm, f)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		if f := ClipFactor(bad, 1); f != 0 {
			t.Errorf("squared norm %v: got factor %v, want 0", bad, f)
		}
	}
	for _, bad := range []float64{math.NaN(), 0, -1, 1e-170, 0x1p-61, 0x1p101, math.Inf(1)} {
		if ClipFactor(1, bad) != 0 || ClipFactor(0, bad) != 0 || IsClipNorm(bad) {
			t.Errorf("clip norm %v: got factors %v and %v, want 0", bad, ClipFactor(1, bad),
				ClipFactor(0, bad)) // the squares of rows of 1e-166 are 0
		}
	}
}

func TestGrantRefuses(t *testing.T) {
	part := func() Part {
		return Part{Sum: NewFixedSum(2, GridFor(1)), Std: 1, Out: make([]float64, 2)}
	}
	gradient := Gradient{Sum: make([]float32, 2), Sensitivity: 1, NoiseMultiplier: 1}
	sink := func(int, []float64) {}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", what, err)
		}
	}
	granted := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	g := grantOf(t, gaussian(2))
	refused("twice the effect", g.Release(1, part()))
	granted("the effect", g.Release(0.5, part()))
	refused("a second release", g.Release(1e-3, part()))
	refused("a gradient afterwards", g.ReleaseGradient(gradient, sink))

	g = grantOf(t, accountant.SameBatch{NoiseMultipliers: []float64{2, 2}})
	granted("first half", g.Release(0.5, part()))
	granted("second half", g.Release(0.5, part()))
	refused("a third", g.Release(0.5, part()))

	g = grantOf(t, sampled(0.5))
	refused("release before the sample", g.ReleaseGradient(gradient, sink))
	g.PoissonSample(10, nil, nil)
	granted("release after", g.ReleaseGradient(gradient, sink))

	g = grantOf(t, sampled(0.5))
	g.PoissonSample(10, nil, nil)
	if rows, _ := g.PoissonSample(1000, nil, nil); len(rows) != 0 {
		t.Error("a second sample is drawn")
	}
	refused("release after two samples", g.ReleaseGradient(gradient, sink))

	g = grantOf(t, gaussian(1))
	if rows, _ := g.PoissonSample(1000, nil, nil); len(rows) != 0 {
		t.Error("a sample is drawn that the event does not contain")
	}
	refused("release after a sample of another event", g.Release(1, part()))

	for name, effect := range map[string]float64{"NaN": math.NaN(), "zero": 0, "negative": -1,
		"infinite": math.Inf(1)} {
		refused(name, grantOf(t, gaussian(1)).Release(effect, part()))
	}
	refused("another mechanism", grantOf(t, accountant.Pure{Epsilon: 1}).Release(0.1, part()))
	refused("Laplace on a Gaussian", grantOf(t, gaussian(1)).Laplace(0.1, part()))
	granted("Laplace", grantOf(t, accountant.Laplace{Scale: 2}).Laplace(0.5, part()))
	refused("too much Laplace", grantOf(t, accountant.Laplace{Scale: 2}).Laplace(0.6, part()))
	g = grantOf(t, accountant.Pure{Epsilon: 0.5})
	granted("Laplace under Pure", g.Laplace(0.5, part()))
	refused("again", g.Laplace(0.1, part()))
	bad := part()
	bad.Sum = NewFixedSum(2, 0.3)
	refused("grid", grantOf(t, gaussian(1)).Release(1, bad))
	bad = part()
	bad.Out = nil
	refused("shape", grantOf(t, gaussian(1)).Release(1, bad))
	bad = part()
	bad.Std = math.NaN()
	refused("std", grantOf(t, gaussian(1)).Release(1, bad))
}

// recorder is a tap that counts calls and fails with a given error.
type recorder struct {
	spends, releases int
	fail             error
}

func (r *recorder) Source() (*entropy.Source, error)      { return entropy.Seeded(1) }
func (r *recorder) Spend(_ string, _ any, _ int, _ error) { r.spends++ }
func (r *recorder) Sample(entropy.Sample)                 {}
func (r *recorder) Refuse(string, error)                  {}
func (r *recorder) Release(rel *entropy.Release) error    { r.releases++; return r.fail }

// TestSpendComesFirst: if the release fails, the ledger still has its entry.
func TestSpendComesFirst(t *testing.T) {
	tap := &recorder{fail: errors.New("the disk is full")}
	l := ledger.New(testBudget())
	g, err := Begin(entropy.WithTap(context.Background(), tap), l).Spend("count", gaussian(1))
	if err != nil {
		t.Fatal(err)
	}
	err = g.Release(1, Part{Sum: NewFixedSum(1, GridFor(1)), Std: 1, Out: make([]float64, 1)})
	if !errors.Is(err, tap.fail) {
		t.Errorf("got %v, want the error of the tap", err)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Spent != 1 {
		t.Errorf("got entries %v, want one with one use taken", e)
	}
	if l.NotPrivate() == "" {
		t.Error("a run with a tap is not marked as not private")
	}
}

// TestNothingIsDrawnWithoutBudget: if the budget is exceeded, nothing is drawn.
func TestNothingIsDrawnWithoutBudget(t *testing.T) {
	tap := new(recorder)
	l := ledger.New(accountant.Budget{Epsilon: 0.5, Delta: 1e-5})
	run := Begin(entropy.WithTap(context.Background(), tap), l)
	if _, err := run.Spend("too much", gaussian(0.1)); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Fatalf("got %v, want ErrBudgetExceeded", err)
	}
	if tap.releases != 0 || len(l.Entries()) != 0 {
		t.Error("something was drawn or written")
	}
	if _, err := Begin(context.Background(), nil).Spend("no ledger", gaussian(1)); err == nil {
		t.Error("a run without a ledger spends")
	}
}

func TestReservationRunsOut(t *testing.T) {
	run := Begin(context.Background(), ledger.New(testBudget()))
	a := must(run.Reserve("steps", gaussian(5), 2))(t)
	for range 2 {
		if _, err := a.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Next(); !errors.Is(err, ledger.ErrReservationExhausted) || a.Remaining() != 0 {
		t.Errorf("got %v, want ErrReservationExhausted", err)
	}
}

func TestNoisyArgmax(t *testing.T) {
	best, err := grantOf(t, gaussian(1)).NoisyArgmax([]int64{3, 1000, 5}, 1, 1)
	if err != nil || best != 1 {
		t.Errorf("got index %d, %v, want 1", best, err)
	}
	first := 0
	const n = 4000
	run := Begin(context.Background(), ledger.New(testBudget()))
	for range n {
		a := run.allowance("t", gaussian(1), nil)
		a.noted = []ledger.NoiseClass{ledger.ExactNoise}
		best := must(a.grant().NoisyArgmax([]int64{7, 7}, 10, 1))(t)
		first += 1 - best
	}
	sixSigma(t, "even counts", first, n, 0.5)
	if _, err := grantOf(t, gaussian(1)).NoisyArgmax(nil, 1, 1); !errors.Is(err, ErrNotCovered) {
		t.Errorf("empty list: got %v, want ErrNotCovered", err)
	}
	// 3·2^36 is −2^62 in steps of the grid, 2^-26, if it is not clamped before it is scaled.
	for _, counts := range [][]int64{{math.MinInt64, math.MaxInt64}, {0, 3 << 36}} {
		if best, err := grantOf(t, gaussian(1)).NoisyArgmax(counts, 1e-3, 1); err != nil || best != 1 {
			t.Errorf("counts %d: got index %d, %v, want 1", counts, best, err)
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	g := grantOf(t, gaussian(1e-3))
	source := must(entropy.Seeded(6))(t)
	// Rare draws use exact arithmetic, which allocates. With a fixed seed they are the same few in
	// every run.
	g.a.run.source = source
	spec := Gradient{Sum: make([]float32, 3*chunk), Sensitivity: 1, NoiseMultiplier: 1, Workers: 2}
	sink := func(int, []float64) {}
	release := func() {
		if err := g.ReleaseGradient(spec, sink); err != nil {
			t.Fatal(err)
		}
	}
	release()
	if n := testing.AllocsPerRun(200, release); n >= 1 {
		t.Errorf("got %v allocations per release, want none on average", n)
	}
}

func TestNoiseClassOnTheLedger(t *testing.T) {
	l := ledger.New(testBudget())
	run := Begin(context.Background(), l)
	g := must(run.Spend("sum", gaussian(1)))(t)
	if err := g.Release(1,
		Part{Sum: NewFixedSum(1, GridFor(1)), Std: 1, Out: make([]float64, 1)}); err != nil {
		t.Fatal(err)
	}
	if notes := l.Entries()[0].Notes; len(notes) != 1 || notes[0] != ledger.ExactNoise {
		t.Errorf("got notes %v, want exact", notes)
	}
}

// TestBulkLoopIsTheSampler: the fast loop gives the same bits as the sampler.
func TestBulkLoopIsTheSampler(t *testing.T) {
	source := must(entropy.Seeded(12))(t)
	rng := rand.New(fixedBits(13))
	sum := make([]float32, 2*chunk+31)
	for i := range sum {
		sum[i] = float32(rng.NormFloat64() * math.Exp(10*rng.NormFloat64()))
	}
	sum[5], sum[6], sum[7] = float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32
	for _, z := range []float64{0.01, 0.8, 30, 1e7} {
		grid, std := gradientNoise(0.7, z, len(sum))
		l := must(sampler.NewNormal(std / grid * (1 + margin)))(t)
		a := &Allowance{&allowanceState{run: &Run{&runState{source: source}}, id: 77}}
		job := a.parallel(Gradient{Sum: sum}, l, grid)
		var lanes [3]*stock // by chunk; the pieces of a chunk come in order
		for i := range lanes {
			lanes[i] = &stock{lane: source.Stream(entropy.Chunked, 77, uint32(i))}
		}
		job.run(2, func(lo int, noisy []float64) {
			words := lanes[lo/chunk]
			for i, got := range noisy {
				want := (sampler.RoundToGrid(float64(sum[lo+i]), 1/grid) + float64(l.Draw(words))) * grid
				if got != want {
					t.Errorf("z %v, coordinate %d: got %v, want %v", z, lo+i, got, want)
					return
				}
			}
		})
	}
}

// stock reads a lane in whole buffers, as a worker does.
type stock struct {
	lane  *entropy.Stream
	words []uint64
}

func (s *stock) Uint64() uint64 {
	if len(s.words) == 0 {
		s.words = make([]uint64, entropy.Buffer)
		s.lane.FillWords(s.words)
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// TestSmallEffectsAddUp: a release whose effect is far below the rounding error of the total still
// increases the total.
func TestSmallEffectsAddUp(t *testing.T) {
	g := grantOf(t, gaussian(1))
	part := Part{Sum: NewFixedSum(1, GridFor(1)), Std: 1, Out: make([]float64, 1)}
	for _, effect := range []float64{math.Sqrt(1 - 0x1p-20), 1e-12, 1e-200} {
		before := g.used
		if err := g.Release(effect, part); err != nil {
			t.Fatal(err)
		}
		if !(g.used > before) {
			t.Errorf("an effect of %v is free", effect)
		}
	}
}

func TestExtremeScalesAreRefusedNotFatal(t *testing.T) {
	for _, x := range []float64{5e-324, 1e-310, 1e-300, 1e-160, 1e160, 1e300, math.MaxFloat64,
		math.Inf(1), math.NaN(), 0, -1} {
		z := 1e-3
		_, _ = grantOf(t, gaussian(z)).NoisyArgmax([]int64{1, 2}, x, 1)
		_ = grantOf(t,
			gaussian(z)).ReleaseGradient(Gradient{Sum: make([]float32, 3), Sensitivity: x,
			NoiseMultiplier: 1}, func(int, []float64) {})
		_ = grantOf(t,
			gaussian(z)).ReleaseGradient(Gradient{Sum: make([]float32, 3), Sensitivity: 1,
			NoiseMultiplier: x}, func(int, []float64) {})
		_ = grantOf(t, gaussian(z)).Release(1,
			Part{Sum: NewFixedSum(1, GridFor(x)), Std: x, Out: make([]float64, 1)})
		_ = grantOf(t, accountant.Laplace{Scale: 1}).Laplace(1,
			Part{Sum: NewFixedSum(1, GridFor(x)), Std: x, Out: make([]float64, 1)})
		s := NewFixedSum(1, GridFor(x))
		s.AddRow64([]float64{x}, 1)
	}
}

// TestRowsOfBothWidthsAgree: the float32 path and the float64 path agree, also for extreme numbers.
func TestRowsOfBothWidthsAgree(t *testing.T) {
	rng := rand.New(fixedBits(14))
	row := []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32,
		math.SmallestNonzeroFloat32,
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	for range 2000 {
		row = append(row, math.Float32frombits(rng.Uint32()))
	}
	wide := make([]float64, len(row))
	for i, v := range row {
		wide[i] = float64(v)
	}
	for _, grid := range []float64{1, 0x1p-30, 0x1p-140, 0x1p140} {
		for _, scale := range []float64{1, 0.3, -2.5, 0, 1e-300, 1e300, math.Inf(1), math.NaN()} {
			a, b := NewFixedSum(len(row), grid), NewFixedSum(len(row), grid)
			a.AddRow(row, scale)
			b.AddRow64(wide, scale)
			if !slices.Equal(a.sum, b.sum) {
				t.Errorf("grid %v scale %v: the sums of the two paths differ", grid, scale)
			}
		}
	}
}

// TestTermsAreThoseOfTheLedger: a grant covers the draws that its ledger priced, even if the caller
// has changed its event since.
func TestTermsAreThoseOfTheLedger(t *testing.T) {
	multipliers := []float64{5}
	// The policy is called after the price has been computed.
	late := func(ledger.Request) error { multipliers[0] = 0.1; return nil }
	l := ledger.New(accountant.Budget{Epsilon: 10, Delta: 1e-5},
		ledger.WithPolicy(late))
	g := must(Begin(t.Context(), l).Spend("test",
		accountant.SameBatch{NoiseMultipliers: multipliers}))(t)
	s, out := NewFixedSum(1, GridFor(0.1)), make([]float64, 1)
	if err := g.Release(10, Part{Sum: s, Std: 0.1, Out: out}); !errors.Is(err, ErrNotCovered) &&
		l.Epsilon().Upper < 10 {
		t.Errorf("an effect of 10 is drawn at the price of an effect of 1/5, ε = %v: %v",
			l.Epsilon(), err)
	}
}
