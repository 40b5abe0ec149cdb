package mechanism

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
	"github.com/seed7ba64551/privgen/records"
)

// allows fails the test unless err is nil exactly if it is wanted.
func allows(t *testing.T, what string, err error, ok bool) {
	t.Helper()
	if (err == nil) != ok {
		t.Errorf("%s: error %v, want none: %v", what, err, ok)
	}
}

// TestLimitsAreReached: every limit allows the largest and smallest arguments that it names, and
// refuses the next ones.
func TestLimitsAreReached(t *testing.T) {
	for std, ok := range map[float64]bool{0: false, -1: false, math.NaN(): false, 1e-9: true, 1: true,
		0x1p43: true, 0x1.1p43: false} {
		allows(t, "noise on counts", CheckCountNoise("x", std, false), ok)
		allows(t, "noise on shares", CheckCountNoise("x", std*0x1p-20, true), ok)
	}
	normal := gaussian(1)
	for std, ok := range map[float64]bool{MinArgmaxMultiplier: true, MinArgmaxMultiplier / 2: false,
		0x1p44: true, 0x1p46: false} {
		_, err := grantOf(t, normal).NoisyArgmax([]int64{1}, std, 1)
		allows(t, "an argmax", err, ok)
		l := ledger.New(accountant.Budget{Epsilon: math.MaxFloat64, Delta: 0.9})
		e := accountant.SparseHistogram{Sigma: std, Threshold: 2, Cells: 1}
		if g, err := Begin(t.Context(), l).Spend("texts", e); err == nil {
			_, err = g.SparseHistogram(nil)
			allows(t, "a sparse histogram", err, ok)
		}
	}
	for _, c := range []struct {
		least, most float64
		bins        int
		ok          bool
	}{{0, 0.5, 1, true}, {0, 0, 1, false}, {0, 1, 0, false}, {0.25, 0.5, 2, true},
		{0.25, 0.5, 1, false}, {0.5, 0.5, 2, false}, {-1, 1, 2, false}, {0, math.Inf(1), 2, false},
		{0, 1, mostNormBins, true}, {0, 1, mostNormBins + 1, false}} {
		_, err := NewNormHistogram(c.least, c.most, c.bins)
		allows(t, "a histogram of norms", err, c.ok)
	}
	if h := normHistogram(t, 0.25, 4, 3); h.bin(0.5*0.5) != 1 || h.bin(0.2*0.2) != 0 {
		t.Error("norms below 1 are in other bins")
	}
	poisson := func(mean float64) accountant.RepeatAndSelect {
		return accountant.RepeatAndSelect{Event: accountant.Pure{Epsilon: 1}, Mean: mean, Poisson: true}
	}
	for mean, ok := range map[float64]bool{1 << 18: true, 1<<18 + 1: false} {
		_, err := reserved(t, normal, 1).trialNumber(poisson(mean), 0)
		allows(t, "a Poisson number of trials", err, ok)
	}
	for _, c := range []struct {
		choices, limit int
		ok             bool
	}{{1, 0, true}, {1, 1, true}, {0, 0, false}, {1, -1, false}} {
		e := accountant.RepeatAndSelect{Event: accountant.Pure{Epsilon: 1}, Mean: 3}
		_, err := trialsOf(t, e).Trials(c.choices, c.limit)
		allows(t, "trials", err, c.ok)
	}
	for x, ok := range map[float64]bool{0x1p-60: true, 0x1p-61: false, 0x1p100: true,
		0x1.1p100: false} {
		if IsClipNorm(x) != ok {
			t.Errorf("a clip norm of %v: %v", x, !ok)
		}
	}
	for std, ok := range map[float64]bool{1: true, 0.99: false, 0x1.fp44: true, 0x1.1p45: false} {
		part := func(grid float64, out int) Part {
			return Part{Sum: NewFixedSum(1, grid), Std: std * grid, Out: make([]float64, out)}
		}
		laplace := func(p Part) error {
			return grantOf(t, accountant.Pure{Epsilon: 1}).Laplace(0.5, part(1, 1), p)
		}
		allows(t, "Laplace", laplace(part(0.5, 1)), ok)
		allows(t, "Laplace without room", laplace(part(0.5, 0)), false)
		allows(t, "Laplace on another grid", laplace(part(0.75, 1)), false)
		allows(t, "Gaussian", grantOf(t, normal).Release(1, part(0.5, 1)), ok)
	}
	for grid, ok := range map[float64]bool{FinestCounts: true, FinestCounts / 2: false, 1: true,
		2: false, 0.75: false} {
		g := grantOf(t, accountant.ExponentialMechanism{Epsilon: 1})
		_, err := g.Farthest(NewFixedSum(1, grid), []int64{0})
		allows(t, "the farthest count", err, ok)
	}
	guess := func(change func(c *Guess)) error {
		c := Guess{Counts: NewFixedSum(1, 1), Answers: []float64{0}, Weight: 1}
		change(&c)
		_, err := grantOf(t, accountant.ExponentialMechanism{Epsilon: 1}).Worst([]Guess{c}, 1)
		return err
	}
	of := func(n int) func(*Guess) {
		return func(c *Guess) { c.Counts, c.Answers = NewFixedSum(n, 1), make([]float64, n) }
	}
	grid := func(grid float64) func(*Guess) {
		return func(c *Guess) { c.Counts = NewFixedSum(1, grid) }
	}
	for _, c := range []struct {
		change func(*Guess)
		ok     bool
	}{{of(1), true}, {of(mostGuess), true}, {of(mostGuess + 1), false}, {grid(0x1p-24), true},
		{grid(0x1p-25), false}, {grid(0.75), false}, {grid(2), false},
		{func(c *Guess) { c.Counts = nil }, false}, {func(c *Guess) { c.Answers = nil }, false},
		{func(c *Guess) { c.Weight = 0 }, false}, {func(c *Guess) { c.Weight = 1.5 }, false},
		{func(c *Guess) { c.Handicap = math.NaN() }, false},
		{func(c *Guess) { c.Handicap = 0x1p60 }, true}, {func(c *Guess) { c.Handicap = 0x1p61 }, false}} {
		allows(t, "a guess", guess(c.change), c.ok)
	}
}

// TestTrialsKeepTheirLimit: no number of runs is above the limit, whose price this is. Each of
// these numbers would be above it with a probability of 95 %.
func TestTrialsKeepTheirLimit(t *testing.T) {
	e := accountant.RepeatAndSelect{Event: accountant.Pure{Epsilon: 1}, Mean: 100, Shape: 1}
	number := must(reserved(t, accountant.Pure{Epsilon: 1}, 1).trialNumber(e, 5))(t)
	all := fixedBits(4)
	for range 20 {
		if n := number(all); n < 1 || n > 5 {
			t.Errorf("%d runs, want 1 to 5", n)
		}
	}
}

// TestInclusionsInAnyOrder: shards that are asked for from the last to the first, or one again,
// have the samples of all rows.
func TestInclusionsInAnyOrder(t *testing.T) {
	const n, size = 9000, 700
	a := reserved(t, sampled(0.1), 3)
	x := planned(t, n, a, a, a)
	want := cellsOf(x, 0, n)
	var got [][2]int
	for lo := (n - 1) / size * size; lo >= 0; lo -= size {
		got = append(cellsOf(x, lo, lo+size), got...)
	}
	if !slices.Equal(got, want) {
		t.Error("the samples depend on the order of the shards")
	}
	g := must(a.Next())(t)
	b := reserved(t, sampled(0.1), 1) // of another run, at the same step
	other := must(b.Next())(t)
	for grant, g := range map[int]*Grant{-1: g, 0: other, 3: g} {
		if err := x.Use(grant, g); !errors.Is(err, ErrNotCovered) {
			t.Errorf("sample %d: got %v, want ErrNotCovered", grant, err)
		}
	}
	if _, err := PlanInclusions(-1, a); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a negative number of rows: %v", err)
	}
	for _, grants := range []int{1, 1 << 20, 1<<20 + 1, 1 << 30} { // cells are numbers of 31 bits
		for _, q := range []float64{1e-7, 1} {
			x, err := (&inclusions{probability: q, n: 5, grants: grants}).made()
			if err != nil || x.block < 1 || x.block*grants > mostGrants ||
				float64(x.block*grants)*q > blockDraws && x.block > 1 {
				t.Errorf("%d grants at a rate of %v: blocks of %d rows, %v", grants, q, x.block, err)
			}
		}
	}
}

// TestStepsWithOtherRows: if the number of rows changes between the steps of a use, rows of the new
// number have steps, and none beyond it.
func TestStepsWithOtherRows(t *testing.T) {
	a := reserved(t, accountant.RandomAllocation{Steps: 2, NoiseMultiplier: 1}, 2)
	for _, sizes := range [][2]int{{200, 20}, {20, 200}} {
		for step, n := range sizes {
			g := must(a.Next())(t)
			rows, _ := g.PoissonSample(n, nil, nil)
			// All rows of 180 would have the other step with probability 2^-180.
			if len(rows) > 0 && int(slices.Max(rows)) >= n || n == 200 && slices.Max(rows) < 20 {
				t.Errorf("step %d: rows %v of %d", step, rows, n)
			}
		}
	}
}

// TestAllowancesOnALedger: an allowance is on the ledger that it was reserved on, and a band only
// before its first step.
func TestAllowancesOnALedger(t *testing.T) {
	l := ledger.New(testBudget())
	for name, e := range map[string]accountant.Event{"a sum": sampled(0.5), "a band": banded(.5, 1,
		.5),
		"an allocation": accountant.RandomAllocation{Steps: 3, NoiseMultiplier: 1}} {
		a := must(Begin(t.Context(), l).Reserve(name, e, 2))(t)
		if !a.On(l) || a.On(nil) || a.On(ledger.New(testBudget())) {
			t.Errorf("%s: on its ledger %v, on none %v", name, a.On(l), a.On(nil))
		}
		if _, err := a.Next(); err != nil {
			t.Fatal(err)
		}
		if a.On(l) == (name == "a band") {
			t.Errorf("%s: on its ledger %v after a step", name, a.On(l))
		}
	}
}

// TestBandsEndBeforeTheyOverflow: noise that 31 bits cannot keep ends a band, and the largest that
// they can keep does not.
func TestBandsEndBeforeTheyOverflow(t *testing.T) {
	for _, size := range []float64{0, math.MaxInt32, -math.MaxInt32, 1 << 31, -1 << 31, math.NaN()} {
		b := newBand(banded(0.5, 1, 0.5))
		b.past, b.last = [][]int32{make([]int32, 1)}, 1
		noise := []float64{size*(1<<bandBits) + (1<<bandBits)/2 - 1}
		b.correlate(noise, 0)
		far := !(math.Abs(size) <= math.MaxInt32)
		if b.far.Load() != far || !far && (noise[0] != size || float64(b.past[0][0]) != size) {
			t.Errorf("noise of %v steps: ends %v, with %v", size, b.far.Load(), noise)
		}
	}
	for _, opposite := range []bool{false, true} {
		b := newBand(banded(0.5, 1, 0.75))
		spec := Gradient{Sum: make([]float32, 100), Sensitivity: 2, NoiseMultiplier: 3}
		grid, std := b.noise(terms{opposite: opposite}, spec)
		longer := 2 + 10*grid // rounding lengthens a row of 100 coordinates by this
		if opposite {
			longer += 10 * grid
		}
		if want := 3 * 1.25 * longer; math.Abs(std/want-1) > 1e-12 || grid > std*0x1p-20 {
			t.Errorf("opposite %v: noise of %v on a grid of %v, want %v", opposite, std, grid, want)
		}
	}
	run := Begin(t.Context(), ledger.New(testBudget()))
	var groups [][]int32
	for _, purpose := range []string{"one", "two"} {
		a := must(run.Reserve(purpose, banded(1, 1, 0.5), 1))(t)
		g := must(a.Next())(t)
		rows, _ := g.PoissonSample(200, nil, nil)
		groups = append(groups, rows)
	}
	// They would be equal with a probability of 2^-200.
	if slices.Equal(groups[0], groups[1]) {
		t.Error("two allowances of a run give records the same steps")
	}
	a := bandedAllowance(t, 7, banded(0.5, 1), 2) // nothing is kept from step to step
	if x := releases(t, a, 1, make([]float32, 9), make([]float32, 9)); slices.Equal(x[0], x[1]) {
		t.Error("two steps share their noise")
	}
	if a.band.spec.Sum != nil {
		t.Error("a band keeps a private sum")
	}
}

// TestNoiseOfSharedWork: the noise is the same if the caller runs the pieces.
func TestNoiseOfSharedWork(t *testing.T) {
	const dim = 5*chunk + 3
	var want []float64
	for _, share := range []func(int, func(int)){nil, func(pieces int, do func(int)) {
		for i := range pieces {
			do(pieces - 1 - i)
		}
	}, func(pieces int, do func(int)) {
		var wait sync.WaitGroup
		for i := range pieces {
			wait.Go(func() { do(i) })
		}
		wait.Wait()
	}} {
		ctx := entropy.WithTap(context.Background(), seededTap{})
		run := Begin(ctx, ledger.New(testBudget()))
		run.tap = nil // a tap gets the noise of one piece
		g := must(run.Spend("g", gaussian(2)))(t)
		got := make([]float64, dim)
		spec := Gradient{Sum: make([]float32, dim), Sensitivity: 3, NoiseMultiplier: 2, Workers: 3,
			Share: share}
		if err := g.ReleaseGradient(spec, func(lo int, noisy []float64) {
			copy(got[lo:], noisy)
		}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Error("the noise depends on who runs the pieces")
		}
	}
}

// TestEveryCoordinateGetsNoise: for lengths around whole chunks, every coordinate gets noise, with
// and without a device and a tap, and the allowance keeps no sum.
func TestEveryCoordinateGetsNoise(t *testing.T) {
	for _, dim := range []int{1, chunk - 1, chunk, chunk + 1, 2*chunk + 1} {
		var want []float64
		for _, how := range []string{"here", "there", "there, heard"} {
			run := Begin(t.Context(), ledger.New(testBudget()))
			source := must(entropy.Seeded(8))(t)
			if run.source = source; how == "there, heard" {
				run.tap = seededTap{}
			}
			g, err := run.Spend("g", gaussian(2))
			if err != nil {
				t.Fatal(err)
			}
			spec := Gradient{Unit: 0x1p-18, Sensitivity: 1, NoiseMultiplier: 2, Workers: 2}
			got := make([]float64, dim)
			if how == "here" {
				spec.Units = make([]int32, dim)
				err = g.ReleaseGradient(spec, func(lo int, noisy []float64) { copy(got[lo:], noisy) })
				want = got
			} else {
				d := &undecided{t: t, units: make([]int32, dim), numbers: got, skip: 2}
				spec.Device, spec.Dim = d, dim
				err = g.ReleaseGradient(spec, nil)
			}
			// A coordinate has noise of exactly 0 with a probability of 2^-25.
			if err != nil || !slices.Equal(got, want) || slices.Contains(got, 0) {
				t.Errorf("%d coordinates, %s: %v, or other noise, or none", dim, how, err)
			}
			kept := g.a.chunks
			if kept.spec.Units != nil || kept.spec.Device != nil || kept.sink != nil {
				t.Errorf("%d coordinates, %s: the allowance keeps the sum", dim, how)
			}
		}
	}
}

// TestLaplaceNoiseIsRight: the noise has the stated scale, in the units of the sum. The mean of the
// absolute values is off by 6 % with probability 1e-9; the noise is fixed, though.
func TestLaplaceNoiseIsRight(t *testing.T) {
	const n, scale = 10_000, 3
	for _, grid := range []float64{0x1p-10, 0x1p-20} {
		run := Begin(entropy.WithTap(t.Context(), seededTap{}), ledger.New(testBudget()))
		g := must(run.Spend("l", accountant.Laplace{Scale: 2}))(t)
		sum := NewFixedSum(n, grid)
		for i := range n {
			sum.AddInt(i, 100)
		}
		out := make([]float64, n)
		if err := g.Laplace(0.5, Part{Sum: sum, Std: scale, Out: out}); err != nil {
			t.Fatal(err)
		}
		mean, bits := 0.0, run.source.Stream(entropy.Noise, g.a.id, 0)
		for i, v := range out {
			mean += math.Abs(v-100) / n
			wider := sampler.Laplace(scale/grid*(1+margin), bits)
			if v != 100+float64(wider)*grid {
				t.Fatalf("coordinate %d: noise of %v, want %v", i, v-100, float64(wider)*grid)
			}
		}
		if math.Abs(mean/scale-1) > 0.06 {
			t.Errorf("grid %v: noise of a scale of %v, want %v", grid, mean, scale)
		}
	}
}

// TestNoTextWithoutRecords: texts that no record has are never released, whatever the noise.
func TestNoTextWithoutRecords(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 1e30, Delta: 0.9})
	g := must(Begin(t.Context(), l).Spend("texts",
		accountant.SparseHistogram{Sigma: 4, Threshold: 2, Cells: 1}))(t)
	counts := map[string]int64{}
	for i := range 300 { // each would be released with a probability of 30 %
		counts[string(rune('a'+i))] = -int64(i % 2)
	}
	if out, err := g.SparseHistogram([]map[string]int64{counts}); err != nil || len(out[0]) > 0 {
		t.Errorf("%d texts of no record are released, %v", len(out[0]), err)
	}
}

// TestSharesOfNorms: shares count in their bin, and one person's shares count 1.
func TestSharesOfNorms(t *testing.T) {
	h := normHistogram(t, 0, 2, 2)
	h.InShares()
	for range 4 {
		h.AddShare(0.25, 0.25)
	}
	h.AddShare(4, 0x1p-20)
	h.Add(4)
	if !slices.Equal(h.counts, []int64{1 << 20, 1<<20 + 1}) {
		t.Errorf("shares of 1, and of 1 and 2^-20, count %v", h.counts)
	}
}

// TestKeysThatAreRead: a key that was read is the key that was written, and no other.
func TestKeysThatAreRead(t *testing.T) {
	k, other := NewKey(), NewKey()
	read, err := ReadKey(k.Secret())
	if err != nil || read.ID() != k.ID() || read.ID() == other.ID() {
		t.Fatalf("key %s is read as %s, %v; another is %s", k.ID(), read.ID(), err, other.ID())
	}
	sealed := must(read.SealBytes([]byte("label"), []byte("text")))(t)
	if text, err := k.OpenBytes([]byte("label"), sealed); err != nil || string(text) != "text" {
		t.Errorf("the key does not open what the read one sealed: %v", err)
	}
	if _, err := other.OpenBytes([]byte("label"), sealed); !errors.Is(err, ErrSealed) {
		t.Errorf("another key opens: %v", err)
	}
}

// bare is a Counter of one sum, and with a shard a Sharded.
type bare struct{ *FixedSum }

func (b bare) Add(context.Context, records.Data) error { b.AddInt(0, 1); return nil }
func (b bare) Sums() []*FixedSum                       { return []*FixedSum{b.FixedSum} }

type bareShard struct{ bare }

func (bareShard) Begin(string) error { return nil }
func (bareShard) End() error         { return nil }

// TestSumsOfUnnamedRecords: sums that hold records of no named shard stay unnamed, whichever side
// they are on in a merge. So they are not sealed as the sums of other shards, which would count the
// records again. Sums that have not begun can be merged, and attempts at a shard have their own
// names.
func TestSumsOfUnnamedRecords(t *testing.T) {
	schema := records.Interval(1, 0, 1)
	data := must(records.FromFlat(schema, []float32{1, 0}))(t)
	id := LocalPassID()
	sums := func(c Counter) *Partial { return NewPartial(id, schema, c, false) }
	filled := func() *Partial {
		s := sums(bare{NewFixedSum(1, 1)})
		if err := s.Add(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		return s
	}
	key := NewKey()
	var attempts []string
	seal := func(s *Partial, shard Shard) error {
		b, err := s.Seal(key, shard)
		if err == nil {
			h, _, _, err := split(b)
			if err != nil {
				t.Fatal(err)
			}
			attempts = append(attempts, h.Attempt)
		}
		return err
	}
	for _, turned := range []bool{false, true} {
		a, b := filled(), filled()
		allows(t, "a named shard", seal(b, Shard{Name: "b", Attempt: "first"}), true)
		if turned {
			a, b = b, a
		}
		allows(t, "a merge", a.Merge(b), true)
		allows(t, "sums with unnamed records", seal(a, Shard{}), false)
	}
	for range 2 {
		allows(t, "a shard", seal(filled(), Shard{Name: "b"}), true)
	}
	named := func(name string) *Partial {
		s := filled()
		allows(t, "a shard", seal(s, Shard{Name: name}), true)
		return s
	}
	mixed := func(name string) *Partial {
		s := filled()
		allows(t, "a merge", s.Merge(named(name)), true)
		return s
	}
	for what, c := range map[string]struct {
		a, b *Partial
		ok   bool
		want int64
	}{"both have other records, too": {mixed("b"), mixed("b"), false, 2},
		"the other has": {named("b"), mixed("b"), true, 2},
		"this has":      {mixed("b"), named("b"), true, 2}} {
		allows(t, what, c.a.Merge(c.b), c.ok)
		if got := c.a.Sums()[0].Exact()[0]; got != c.want || !slices.Equal(c.a.Shards(), []string{"b"}) {
			t.Errorf("%s: the sum is %d of %q, want %d of b", what, got, c.a.Shards(), c.want)
		}
		allows(t, what+": without a name", seal(c.a, Shard{}), false)
		allows(t, what+": under a name", seal(c.a, Shard{Name: "b"}), false)
	}
	both := named("a")
	allows(t, "a merge", both.Merge(named("b")), true)
	allows(t, "two shards under the name of one", seal(both, Shard{Name: "a"}), false)
	allows(t, "two shards", seal(both, Shard{}), true)
	alias := *both
	allows(t, "a merge with itself", both.Merge(both), false)
	allows(t, "a merge with a copy", both.Merge(&alias), false)
	allows(t, "no shard", seal(sums(bare{NewFixedSum(1, 1)}), Shard{}), false)
	kept := named("a")
	allows(t, "a merge", kept.Merge(filled()), true)
	allows(t, "more records of named sums", kept.Add(t.Context(), data), false)
	if attempts[0] != "first" || attempts[2] == "" || attempts[2] == attempts[3] {
		t.Errorf("attempts %q, want the first and two others", attempts)
	}
	begun := sums(bareShard{bare{NewFixedSum(1, 1)}})
	allows(t, "a shard without a name", begun.Begin(""), false)
	allows(t, "a shard", begun.Begin("one"), true)
	allows(t, "records", begun.Add(t.Context(), data), true)
	none := sums(bareShard{bare{NewFixedSum(1, 1)}})
	allows(t, "sums that have not begun", none.Merge(begun), true)
	if got := none.Sums()[0].Exact()[0]; got != 1 || !slices.Equal(none.Shards(), []string{"one"}) {
		t.Errorf("%d records of the shards %q, want 1 of one", got, none.Shards())
	}
	two := filled()
	allows(t, "more records", two.Add(t.Context(), data), true)
	if two.Unit() != records.UnitRecord {
		t.Errorf("two pieces of records have the unit %q", two.Unit())
	}
	allows(t, "two sums", CheckPartials("x", id, records.UnitRecord, two, filled()), true)
	allows(t, "the zero value", CheckPartials("x", id, records.UnitRecord, new(Partial)), false)
	persons := NewPartial(id, schema.ByPerson(1), bare{NewFixedSum(1, 1)}, false)
	allows(t, "a row of each person", CheckPartials("x", id, records.UnitRecord, persons), false)
	for unit, ok := range map[string]bool{records.UnitRecord: true, records.UnitUser: false} {
		allows(t, "records on a ledger of one "+unit, CheckPartials("x", id, unit, filled()), ok)
	}
}

// TestDiscreteNoiseAtItsLimits: discrete noise is drawn up to a scale of 2^40, and refused beyond.
func TestDiscreteNoiseAtItsLimits(t *testing.T) {
	for _, c := range []struct {
		event accountant.Event
		ok    bool
	}{
		{accountant.DiscreteGaussian{Sigma: 1 << 40, Sensitivity: 1}, true},
		{accountant.DiscreteGaussian{Sigma: 1<<40 + 1, Sensitivity: 1}, false},
		{accountant.DiscreteLaplace{A: 0x1p-40, Sensitivity: 1}, true},
		{accountant.DiscreteLaplace{A: 0x1p-40 * (1 - 0x1p-50), Sensitivity: 1}, false},
	} {
		a := must(Begin(t.Context(), ledger.New(testBudget())).Reserve("counts", c.event, 1))(t)
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		out := make([]int64, 1)
		if _, ok := c.event.(accountant.DiscreteLaplace); ok {
			err = g.DiscreteLaplace([]int64{5}, out)
		} else {
			err = g.DiscreteGaussian([]int64{5}, out)
		}
		if (err == nil) != c.ok || !c.ok && out[0] != 0 {
			t.Errorf("%+v: got %d and error %v", c.event, out[0], err)
		}
	}
}
