package mechanism

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestDrawsThatNoEventCovers: each of these draws is refused, draws nothing, and leaves no noise
// class on the ledger.
func TestDrawsThatNoEventCovers(t *testing.T) {
	sum := func(grid float64) *FixedSum { return NewFixedSum(1, grid) }
	part := func(std, grid float64) Part {
		return Part{Sum: sum(grid), Std: std, Out: make([]float64, 1)}
	}
	gradient := func(s Gradient) func(*Grant) error {
		return func(g *Grant) error {
			return g.ReleaseGradient(s, func(int, []float64) { t.Error("the sink is called") })
		}
	}
	trials := func(choices, limit int) func(*Grant) error {
		return func(g *Grant) error { _, err := g.Trials(choices, limit); return err }
	}
	one, units, values := []float32{1}, []int32{5}, []int64{5}
	normal := accountant.Gaussian{NoiseMultiplier: 1}
	pure := accountant.Pure{Epsilon: 1}
	search := accountant.RepeatAndSelect{Event: pure, Mean: 5, Shape: 1}
	for _, c := range []struct {
		what string
		e    accountant.Event
		draw func(*Grant) error
	}{
		{"a discrete Gaussian", pure, func(g *Grant) error { return g.DiscreteGaussian(values, values) }},
		{"a discrete Laplace", pure, func(g *Grant) error { return g.DiscreteLaplace(values, values) }},
		{"a discrete Gaussian of huge σ", accountant.DiscreteGaussian{Sigma: 1 << 41, Sensitivity: 1},
			func(g *Grant) error { return g.DiscreteGaussian(values, values) }},
		{"a discrete Laplace of tiny A", accountant.DiscreteLaplace{A: 0x1p-41, Sensitivity: 1},
			func(g *Grant) error { return g.DiscreteLaplace(values, values) }},
		{"too short an output", accountant.DiscreteLaplace{A: 1, Sensitivity: 1},
			func(g *Grant) error { return g.DiscreteLaplace(values, nil) }},
		{"a response", pure, func(g *Grant) error { _, err := g.RandomizedResponse(0); return err }},
		{"Laplace on a coarse grid", pure, func(g *Grant) error { return g.Laplace(1, part(0.5, 1)) }},
		{"Laplace on a fine grid", pure, func(g *Grant) error { return g.Laplace(1, part(1, 0x1p-46)) }},
		{"Laplace of no effect", pure, func(g *Grant) error { return g.Laplace(0, part(1, 0x1p-20)) }},
		{"Laplace of an effect that is no number", pure,
			func(g *Grant) error { return g.Laplace(math.NaN(), part(1, 0x1p-20)) }},
		{"a release of an effect that is no number", normal,
			func(g *Grant) error { return g.Release(math.NaN(), part(1, 0x1p-20)) }},
		{"Laplace of more effect", pure,
			func(g *Grant) error { return g.Laplace(1.001, part(1, 0x1p-20)) }},
		{"Laplace under a Gaussian", normal, func(g *Grant) error { return g.Laplace(1, part(1, 1)) }},
		{"no sum", normal, func(g *Grant) error { return g.Release(1, Part{Std: 1}) }},
		{"a zero sum", normal, func(g *Grant) error {
			return g.Release(1, Part{Sum: new(FixedSum),
				Std: 1})
		}},
		{"a sum and units", normal, gradient(Gradient{Sensitivity: 1, NoiseMultiplier: 1, Sum: one,
			Units: units, Unit: 1})},
		{"a unit without units", normal, gradient(Gradient{Sensitivity: 1, NoiseMultiplier: 1, Sum: one,
			Unit: 1})},
		{"a carry without units", normal, gradient(Gradient{Sensitivity: 1, NoiseMultiplier: 1, Sum: one,
			Carry: []float64{0}})},
		{"a unit of three", normal, gradient(Gradient{Sensitivity: 1, NoiseMultiplier: 1, Units: units,
			Unit: 3})},
		{"too short a carry", normal, gradient(Gradient{Sensitivity: 1, NoiseMultiplier: 1, Units: units,
			Unit: 1, Carry: []float64{}})},
		{"an infinite sensitivity", normal, gradient(Gradient{Sensitivity: math.Inf(1),
			NoiseMultiplier: 1, Sum: one})},
		{"a sensitivity that is no number", normal, gradient(Gradient{Sensitivity: math.NaN(),
			NoiseMultiplier: 1, Sum: one})},
		{"a negative sensitivity", normal, gradient(Gradient{Sensitivity: -1, NoiseMultiplier: 1,
			Sum: one})},
		{"a noise that is no number", normal, gradient(Gradient{Sensitivity: 1,
			NoiseMultiplier: math.NaN(), Sum: one})},
		{"a tiny sensitivity", normal, gradient(Gradient{Sensitivity: 0x1p-1000, NoiseMultiplier: 1,
			Sum: one})},
		{"a huge sensitivity", normal, gradient(Gradient{Sensitivity: 0x1p1023, NoiseMultiplier: 0.9,
			Sum: one})},
		{"no choice", search, trials(0, 0)}, {"a negative limit", search, trials(1, -1)},
		{"a shape above 1", accountant.RepeatAndSelect{Event: pure, Mean: 5, Shape: 1.5}, trials(1, 0)},
		{"half a Poisson mean", accountant.RepeatAndSelect{Event: pure, Mean: 2.5, Poisson: true},
			trials(1, 0)},
		{"a Poisson limit", accountant.RepeatAndSelect{Event: normal, Mean: 2, Poisson: true},
			trials(1, 9)},
	} {
		l := ledger.New(testBudget())
		g, err := Begin(t.Context(), l).Spend("test", c.e)
		if err != nil {
			t.Fatal(c.what, err)
		}
		if err := c.draw(g); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want %v", c.what, err, ErrNotCovered)
		}
		if notes := l.Entries()[0].Notes; len(notes) > 0 {
			t.Errorf("%s: the ledger says that %v noise was drawn", c.what, notes)
		}
	}
}

// TestTermsOfNestedEvents: a grant may draw what its event states, however it is written, and
// nothing under an event whose parts it cannot tell apart.
func TestTermsOfNestedEvents(t *testing.T) {
	normal := accountant.Gaussian{NoiseMultiplier: 2}
	sample := accountant.PoissonSampled{Probability: 0.25, Event: normal}
	for _, c := range []struct {
		e        accountant.Event
		gaussian float64
		sampling sampling
	}{
		{normal, 0.25, sampleNone}, {accountant.Repeated{Event: normal, Count: 3}, 0.75, sampleNone},
		{accountant.Repeated{Event: sample, Count: 1}, 0.25, samplePoisson},
		{accountant.Repeated{Event: sample, Count: 2}, 0, sampleNone},
		{accountant.Composed{Events: []accountant.Event{sample}}, 0.25, samplePoisson},
		{accountant.Composed{Events: []accountant.Event{normal, normal}}, 0.5, sampleNone},
		{accountant.Composed{Events: []accountant.Event{normal, sample}}, 0.25, sampleNone},
		{accountant.Composed{Events: []accountant.Event{normal, accountant.Pure{Epsilon: 1}}}, 0,
			sampleNone},
		{accountant.PoissonSampled{Probability: 0.5, Event: sample}, 0, samplePoisson},
		{accountant.SameBatch{NoiseMultipliers: []float64{2, 1}}, 1.25, sampleNone},
		{accountant.SampledSum{Probability: 0.5, NoiseMultiplier: 2}, 0.25, samplePoisson},
		{banded(0.5, 1, 0.5), 0.25, sampleTurns},
		{accountant.SampledWithoutReplacement{Population: 5, Sample: 2, Event: normal}, 0.25,
			sampleSubset},
		{accountant.OneOf{Events: []accountant.Event{normal}}, 0, sampleNone},
		{accountant.RandomAllocation{Steps: 9, NoiseMultiplier: 2}, 0.25, sampleTurns},
		{accountant.Repeated{Event: accountant.RandomAllocation{Steps: 9, NoiseMultiplier: 2}, Count: 2},
			0, sampleNone},
	} {
		got := termsOf(c.e)
		if math.Abs(got.gaussian-c.gaussian) > 1e-12 || got.sampling != c.sampling {
			t.Errorf("%+v covers %+v, want Σ effect² %v", c.e, got, c.gaussian)
		}
	}
	for z, want := range map[float64]float64{2: 0.25, 0: 0, -1: 0} {
		if got := squaredEffect(z); got != want {
			t.Errorf("multiplier %v has squared effect %v, want %v", z, got, want)
		}
	}
	if squaredEffect(math.NaN()) != 0 {
		t.Error("a multiplier that is no number has an effect")
	}
	sum := accountant.SampledSum{Probability: 0.5, NoiseMultiplier: 2}
	replace := testBudget()
	replace.Relation = accountant.ReplaceOne
	for want, l := range map[float64]*ledger.Ledger{0.75: ledger.New(testBudget()),
		3: ledger.New(replace)} {
		for _, e := range []accountant.Event{sum, accountant.Repeated{Event: sum, Count: 1},
			accountant.Composed{Events: []accountant.Event{sum}}} {
			g := must(Begin(t.Context(), l).Spend("test", e))(t)
			if e := g.SumEffect(3, 1.5, 2); e != want {
				t.Errorf("under %v a sum of rows of norm 3 has effect %v, want %v", l.Relation(), e, want)
			}
		}
	}
}

// TestSumsInUnits: a gradient in whole units is released as the sum that it states, with and
// without what is carried, and its noise class is exact. A float32 sum is not exact. The noise is
// too large, or always zero, with probability below 1e-50.
func TestSumsInUnits(t *testing.T) {
	noise := 0.0
	for _, c := range []struct {
		spec  Gradient
		want  []float64
		class ledger.NoiseClass
	}{
		{Gradient{Units: []int32{5, -3}, Unit: 4}, []float64{20, -12}, ledger.ExactNoise},
		{Gradient{Units: []int32{5, -3}, Unit: 4, Carry: []float64{0.5, -0.25}}, []float64{22, -13},
			ledger.ExactNoise},
		{Gradient{Sum: []float32{7, -9}}, []float64{7, -9}, ledger.RealNoise},
	} {
		for _, workers := range []int{1, 2} {
			l := ledger.New(testBudget())
			g := must(Begin(t.Context(), l).Spend("test", accountant.Gaussian{NoiseMultiplier: 1}))(t)
			got := make([]float64, 2)
			c.spec.Sensitivity, c.spec.NoiseMultiplier, c.spec.Workers = 0x1p-20, 1, workers
			if err := g.ReleaseGradient(c.spec, func(at int, noisy []float64) {
				copy(got[at:], noisy)
			}); err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want { // the noise is below 2^-16
				if noise += math.Abs(got[i] - want); math.Abs(got[i]-want) > 0x1p-16 {
					t.Errorf("%+v: coordinate %d is %v, want %v and noise", c.spec, i, got[i], want)
				}
			}
			if class := l.Entries()[0].Notes; !slices.Equal(class, []ledger.NoiseClass{c.class}) {
				t.Errorf("%+v: the noise is %v, want %v", c.spec, class, c.class)
			}
		}
	}
	if noise == 0 {
		t.Error("no noise is added")
	}
	grid, std := terms{}.gradientNoise(3, 2, 16)
	_, opposite := terms{opposite: true}.gradientNoise(3, 2, 16)
	if math.Abs(std-2*(3+4*grid)) > 1e-12 || math.Abs(opposite-2*(3+8*grid)) > 1e-12 ||
		opposite <= std {
		t.Errorf("noise %v, and %v for opposite rows, want %v and %v", std, opposite, 2*(3+4*grid),
			2*(3+8*grid))
	}
}

// TestTrialsChooseEvenly: each choice comes up. That one of three is missing among 3,000 runs or
// more has probability below 3·(2/3)^3000.
func TestTrialsChooseEvenly(t *testing.T) {
	l := ledger.New(testBudget())
	g := must(Begin(t.Context(), l).Spend("test", accountant.RepeatAndSelect{
		Event: accountant.Gaussian{NoiseMultiplier: 9}, Mean: 5000, Poisson: true}))(t)
	list, err := g.Trials(3, 0)
	if err != nil || len(list) < 3000 {
		t.Fatal(len(list), err)
	}
	if notes := l.Entries()[0].Notes; !slices.Equal(notes, []ledger.NoiseClass{ledger.ExactNoise}) {
		t.Errorf("the noise is %v, want exact", notes)
	}
	var counts [3]int
	for _, c := range list {
		counts[c]++
	}
	for c, n := range counts {
		if n == 0 {
			t.Errorf("choice %d never comes up: %v", c, counts)
		}
	}
}

// TestGrids: the grids of sums and of counts, the noise that fits them, and sums of other shapes.
func TestGrids(t *testing.T) {
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if g := GridFor(x); !math.IsNaN(g) {
			t.Errorf("noise %v has the grid %v", x, g)
		}
		if IsNoiseMultiplier(x) || CheckCountNoise("x", x, false) == nil {
			t.Errorf("the noise multiplier %v is accepted", x)
		}
	}
	if !IsNoiseMultiplier(MaxNoiseMultiplier) || IsNoiseMultiplier(MaxNoiseMultiplier+1) {
		t.Error("the largest noise multiplier")
	}
	for _, c := range []struct {
		std   float64
		parts bool
		fits  bool
	}{{0x1p43, false, true}, {0x1.01p43, false, false}, {0x1p23, true, true}, {0x1.01p23, true,
		false}} {
		if err := CheckCountNoise("x", c.std, c.parts); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for std, want := range map[float64][2]float64{2: {0x1p-29, 0x1p-29}, 3e9: {2, 0x1p-20}} {
		if a, b := CountGrid(std, false), CountGrid(std, true); a != want[0] || b != want[1] {
			t.Errorf("noise %v has the grids %v and %v, want %v", std, a, b, want)
		}
	}
	coarse := NewFixedSum(2, 4)
	coarse.AddShare(1, 1) // less than a step
	fine := NewFixedSum(2, 0x1p-20)
	fine.AddShare(0, 1)
	fine.AddShare(1, 0.25)
	if !slices.Equal(fine.Exact(), []int64{1 << 20, 1 << 18}) || !slices.Equal(coarse.Exact(),
		[]int64{0, 0}) {
		t.Errorf("shares: %v, %v", fine.Exact(), coarse.Exact())
	}
	if new(FixedSum).Exact() != nil {
		t.Error("the zero sum has coordinates")
	}
	slice := fine.Slice(1, 2)
	slice.AddShare(0, 0.5)
	if slice.Dim() != 1 || slice.Grid() != 0x1p-20 || fine.Exact()[1] != 3<<18 || cap(slice.sum) != 1 {
		t.Errorf("a slice: %v of %v", slice.Exact(), fine.Exact())
	}
	for what, o := range map[string]*FixedSum{"another grid": NewFixedSum(2, 0x1p-19),
		"another shape": NewFixedSum(1, 0x1p-20)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a sum with %s is merged", what)
				}
			}()
			fine.Merge(o)
		}()
	}
}

// TestCountsOfNorms: counts travel as sums, and are refused with other bins or units.
func TestCountsOfNorms(t *testing.T) {
	a, b := normHistogram(t, 0, 4, 4), normHistogram(t, 0, 4, 4)
	a.Add(0.25) // norm 0.5
	a.Add(100)
	b.Add(9)
	if err := a.AddCounts(b.Counts()); err != nil || !slices.Equal(a.counts, []int64{1, 0, 1, 1}) {
		t.Errorf("counts %v (%v)", a.counts, err)
	}
	if !slices.Equal(b.Counts().Exact(), []int64{0, 0, 1, 0}) || b.Counts().Grid() != b.unit {
		t.Errorf("counts %v", b.Counts().Exact())
	}
	shares := normHistogram(t, 0, 4, 4)
	shares.InShares()
	for _, s := range []*FixedSum{shares.Counts(), normHistogram(t, 0, 4, 5).Counts(), new(FixedSum)} {
		if wrong := (*param.Error)(nil); !errors.As(a.AddCounts(s), &wrong) {
			t.Errorf("counts of %d bins on the grid %v are added", s.Dim(), s.Grid())
		}
	}
}

// TestForgedInclusions: another process draws from no bytes that Secret did not write. Samples of a
// test keep to the rows that are asked for. Samples print as private.
func TestForgedInclusions(t *testing.T) {
	a := reserved(t, sampled(0.5), 2)
	x := planned(t, 9, a, a)
	secret := must(x.Secret())(t)
	for what, change := range map[string]func(j *inclusionsJSON){
		"":                     func(*inclusionsJSON) {},
		"rows of three grants": func(j *inclusionsJSON) { j.Rows = make([][]int32, 3) },
		"rows out of order":    func(j *inclusionsJSON) { j.Rows = [][]int32{{1, 0}, nil} },
		"no grant":             func(j *inclusionsJSON) { j.Grants = 0 },
		"a negative grant":     func(j *inclusionsJSON) { j.Grants = -1 },
		"too many grants":      func(j *inclusionsJSON) { j.Grants = mostGrants + 1 },
		"too many rows":        func(j *inclusionsJSON) { j.N = []byte{1, 0, 0, 0, 0, 1, 0, 0} },
		"a probability above 1": func(j *inclusionsJSON) {
			j.Bits = []byte{0, 0, 0, 0, 0, 0, 0,
				0x40}
		},
		"a negative probability": func(j *inclusionsJSON) {
			j.Bits = []byte{0, 0, 0, 0, 0, 0, 0xf0,
				0xbf}
		},
		"a probability of NaN": func(j *inclusionsJSON) {
			j.Bits = []byte{1, 0, 0, 0, 0, 0, 0xf8,
				0x7f}
		},
		"a short key":              func(j *inclusionsJSON) { j.Key = j.Key[1:] },
		"a short number of rows":   func(j *inclusionsJSON) { j.N = j.N[1:] },
		"a short probability bits": func(j *inclusionsJSON) { j.Bits = j.Bits[1:] },
	} {
		var j inclusionsJSON
		if err := json.Unmarshal(secret, &j); err != nil {
			t.Fatal(err)
		}
		change(&j)
		text, _ := json.Marshal(j)
		if _, err := ReadInclusions(text); (err != nil) != (what != "") {
			t.Errorf("%q: %v", what, err)
		}
	}
	y := &Inclusions{&hiddenInclusions{&inclusions{n: 9, grants: 2, rows: [][]int32{{0, 3, 5}, {4,
		8}}}}}
	if got := cellsOf(y, 3, 8); !slices.EqualFunc(got, [][2]int{{3, 0}, {4, 1}, {5, 0}},
		func(a, b [2]int) bool { return a == b }) {
		t.Errorf("rows 3 to 7 are %v", got)
	}
	text, err := x.MarshalText()
	if s := fmt.Sprintf("%v %+v %#v", x, *x, x); err != nil || string(text) != redacted ||
		strings.ReplaceAll(s, redacted, "") != "  " || x.LogValue().String() != redacted {
		t.Errorf("samples print as %s, %s (%v)", s, text, err)
	}
	var _ slog.LogValuer = x
}

// TestResumedRuns: what is left of a saved reservation is drawn once, under the relation and on the
// ledger that hold it. What arithmetic does not keep exact is noted.
func TestResumedRuns(t *testing.T) {
	budget := testBudget()
	budget.Relation = accountant.ReplaceOne
	l := ledger.New(budget)
	e := accountant.Gaussian{NoiseMultiplier: 3}
	run := Begin(t.Context(), l)
	a := must(run.Reserve("counts", e, 3))(t)
	if _, err := a.Next(); err != nil {
		t.Fatal(err)
	}
	text := must(json.Marshal(l))(t)
	back := must(ledger.Unmarshal(text))(t)
	again := Begin(t.Context(), back)
	b, err := again.Resume("counts", e)
	if err != nil || b.Remaining() != 2 || b.Event() != accountant.Event(e) || !b.On(back) ||
		b.On(l) ||
		b.On(nil) {
		t.Fatalf("resumed: %v, %v", b, err)
	}
	if again.Relation() != accountant.ReplaceOne || run.Relation() != accountant.ReplaceOne ||
		Begin(t.Context(), nil).Relation() != accountant.AddOrRemoveOne {
		t.Error("a run has the relation of its ledger")
	}
	for range 2 {
		g := must(b.Next())(t)
		g.NoteReal()
	}
	if _, err := b.Next(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("a third grant of two: %v", err)
	}
	if _, err := again.Resume("counts", accountant.Gaussian{NoiseMultiplier: 4}); err == nil {
		t.Error("another event is resumed")
	}
	if class := back.Entries()[0].Notes; !slices.Equal(class, []ledger.NoiseClass{ledger.RealNoise}) {
		t.Errorf("the noise is %v, want real", class)
	}
	b.Note(ledger.ExactNoise)
	if class := back.Entries()[0].Notes; len(class) != 2 {
		t.Errorf("the noise is %v, want real and exact", class)
	}
	none := Begin(t.Context(), nil)
	if _, err := none.Resume("counts", e); err == nil {
		t.Error("a run without a ledger resumes")
	}
	if _, err := ReserveAll(t.Context(), nil, ledger.Transaction{}); err == nil {
		t.Error("no ledger reserves")
	}
	if Watched(t.Context()) || !Watched(entropy.WithTap(t.Context(), seededTap{})) {
		t.Error("a test's noise is not recognised")
	}
}

// TestForgedSums: sums that Seal did not write are refused, although they are sealed under the key.
func TestForgedSums(t *testing.T) {
	for what, n := range map[string]note{
		"a negative number of parts": {Of: -1}, "parts of nothing": {Parts: []int{0}},
		"a mask of nothing": {Mask: []byte{1}}, "too long a mask": {Of: 8, Mask: []byte{1, 0}},
		"a part that does not exist": {Of: 8, Parts: []int{8}}, "a negative part": {Of: 8,
			Parts: []int{-1}},
		"a part twice":   {Of: 8, Parts: []int{3, 3}},
		"a masked part ": {Of: 7, Mask: []byte{0x80}},
		"a part in both": {Of: 8, Parts: []int{0}, Mask: []byte{1}},
	} {
		if u, err := n.units(); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %+v, %v", what, u, err)
		}
	}
	if u, err := (note{Of: 9, Mask: []byte{0x81, 1}}).units(); err != nil ||
		u.who != records.UnitRecord ||
		len(u.parts.held) != 3 || !u.parts.held[7] || !u.parts.held[8] {
		t.Errorf("a mask: %+v, %v", u, err)
	}
	for what, names := range map[string][]string{"none": {}, "empty": {""}, "twice": {"a", "a"},
		"out of order": {"b", "a"}, "an empty second": {"a", ""}} {
		if _, err := (header{Shards: names}).label(); !errors.Is(err, ErrSealed) {
			t.Errorf("shards %s: %v", what, err)
		}
	}
	if l, err := (header{Shards: []string{"a", "b"}, Real: true}).label(); err != nil || !l.real {
		t.Errorf("two shards: %+v, %v", l, err)
	}
	k := NewKey()
	var zero Key
	if zero.Secret() != nil || zero.ID() != "" || k.ID() == "" || k.ID() == NewKey().ID() {
		t.Error("names of keys")
	}
	_, sealing := zero.SealBytes(nil, []byte("x"))
	_, opening := zero.OpenBytes(nil, make([]byte, 99))
	_, sums := k.sealSums(nil, new(FixedSum))
	for _, err := range []error{sealing, opening, sums} {
		if wrong := (*param.Error)(nil); !errors.As(err, &wrong) {
			t.Errorf("got %v, want a *param.Error", err)
		}
	}
	s := NewFixedSum(2, 1)
	s.AddInt(1, 7)
	sealed, err := k.sealSums([]byte("label"), s)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"fewer coordinates": k.openSums([]byte("label"), sealed, NewFixedSum(1, 1)),
		"more coordinates":  k.openSums([]byte("label"), sealed, NewFixedSum(3, 1)),
		"another label":     k.openSums([]byte("other"), sealed, NewFixedSum(2, 1)),
		"another key":       NewKey().openSums([]byte("label"), sealed, NewFixedSum(2, 1)),
	} {
		if !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	o := s.alike()
	if err := k.openSums([]byte("label"), sealed, o); err != nil || !slices.Equal(o.sum, s.sum) {
		t.Errorf("opened %v, %v", o.Exact(), err)
	}
	if _, err := k.OpenBytes([]byte("label"), sealed); !errors.Is(err, ErrSealed) {
		t.Errorf("sums are opened as a message: %v", err)
	}
	if new(FixedSum).alike().made() {
		t.Error("the zero sum has a sum like it")
	}
	text, err := k.SealBytes([]byte("label"), []byte("{}surplus"))
	if err != nil {
		t.Fatal(err)
	}
	noted := func(text []byte) []byte {
		return append([]byte{byte(len(text)), byte(len(text) >> 8), 0, 0}, text...)
	}
	if _, _, err := openNote(k, []byte("label"), noted(text)); !errors.Is(err, ErrSealed) {
		t.Errorf("a note that is no JSON: %v", err)
	}
	if text, err = k.SealBytes([]byte("label"), []byte(`{"of":8,"parts":[3,3]}`)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openNote(k, []byte("label"), noted(text)); !errors.Is(err, ErrSealed) {
		t.Errorf("a note of a part twice: %v", err)
	}
}

// TestFarthestOfLargeCounts: counts of either sign and of any size keep their distance.
func TestFarthestOfLargeCounts(t *testing.T) {
	for _, sign := range []int64{-1, 1} {
		counts := NewFixedSum(2, 1)
		counts.AddInt(0, sign<<40)
		counts.AddInt(1, sign<<35)
		for _, answers := range [][]int64{{0, 0}, {-sign << 50, -sign << 45}} {
			g := grantOf(t, accountant.ExponentialMechanism{Epsilon: 1})
			if got, err := g.Farthest(counts, answers); err != nil || got != 0 {
				t.Errorf("%d of answers %v and counts %v is the farthest (%v)", got, answers, counts.Exact(),
					err)
			}
		}
	}
}

// TestDrawsInPlace: noise replaces the values that are drawn over. One of the nine draws is zero
// with probability 1e-9.
func TestDrawsInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		e    accountant.Event
		draw func(g *Grant, values []int64) error
	}{
		"discrete Gaussian": {accountant.DiscreteGaussian{Sigma: 1 << 32, Sensitivity: 1},
			func(g *Grant, values []int64) error { return g.DiscreteGaussian(values, values) }},
		"discrete Laplace": {accountant.DiscreteLaplace{A: 0x1p-32, Sensitivity: 1},
			func(g *Grant, values []int64) error { return g.DiscreteLaplace(values, values) }},
		"Laplace": {accountant.Pure{Epsilon: 1}, func(g *Grant, values []int64) error {
			s, out := NewFixedSum(len(values), 1), make([]float64, len(values))
			for i, v := range values {
				s.AddInt(i, v)
				out[i] = float64(v)
			}
			err := g.Laplace(0.5, Part{Sum: s, Std: 1 << 32, Out: out})
			for i, v := range out {
				values[i] = int64(v)
			}
			return err
		}},
	} {
		values := []int64{7, -5, 3}
		if err := c.draw(grantOf(t, c.e), values); err != nil {
			t.Fatal(name, err)
		}
		for i, v := range []int64{7, -5, 3} {
			if values[i] == v || values[i]-v > 1<<40 || v-values[i] > 1<<40 {
				t.Errorf("%s: value %d is released as %d", name, v, values[i])
			}
		}
	}
}
