package mechanism

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

// spent is what a tap is told about a reservation or a use.
type spent struct {
	purpose string
	event   any
	count   int
	failed  bool
}

// listener is a tap that keeps what it is told, and replaces outputs by change of them.
type listener struct {
	spends   []spent
	samples  []entropy.Sample
	releases []entropy.Release
	refused  []string
	change   func(float64) float64
	fail     error
}

func (l *listener) Source() (*entropy.Source, error) { return entropy.Seeded(6) }
func (l *listener) Spend(purpose string, event any, count int, err error) {
	l.spends = append(l.spends, spent{purpose, event, count, err != nil})
}
func (l *listener) Sample(s entropy.Sample)        { l.samples = append(l.samples, s) }
func (l *listener) Refuse(purpose string, _ error) { l.refused = append(l.refused, purpose) }
func (l *listener) Release(r *entropy.Release) error {
	l.releases = append(l.releases, *r)
	for _, out := range r.Outputs {
		for i := range out {
			out[i] = l.change(out[i])
		}
	}
	return l.fail
}

func integers(list []int64) (out []float64) {
	for _, v := range list {
		out = append(out, float64(v))
	}
	return out
}

// TestTapsAreToldEveryRelease: a tap is told each mechanism's step, purpose, effect, noise, grid
// and exact inputs, and what it makes of the outputs is what is released. An error of the tap is
// the error of the release. Whatever privacytest finds, it finds by this.
func TestTapsAreToldEveryRelease(t *testing.T) {
	counts := []int64{3, 0, -2, 7}
	fixed := func() []Part {
		a, b := NewFixedSum(2, 0x1p-20), NewFixedSum(1, 0x1p-22)
		a.AddRow64([]float64{1.5, -0.25}, 1)
		b.AddRow64([]float64{3}, 1)
		return []Part{{Sum: a, Std: 2, Out: make([]float64, 2)},
			{Sum: b, Std: 3, Out: make([]float64, 1)}}
	}
	two := [][]float64{{1.5, -0.25}, {3}}
	outs := func(parts []Part, err error) ([][]float64, error) {
		return [][]float64{parts[0].Out, parts[1].Out}, err
	}
	gradient := func(spec Gradient) func(g *Grant) ([][]float64, error) {
		return func(g *Grant) ([][]float64, error) {
			spec.Sensitivity, spec.NoiseMultiplier = 3, 2
			out := make([]float64, spec.dim())
			err := g.ReleaseGradient(spec, func(at int, noisy []float64) { copy(out[at:], noisy) })
			return [][]float64{out}, err
		}
	}
	grid, std := gradientNoise(3, 2, 2)
	onDevice := func(g *Grant) ([][]float64, error) {
		d := &undecided{t: t, units: []int32{3, -1}, numbers: make([]float64, 2), skip: 1}
		err := g.ReleaseGradient(Gradient{Unit: 0.5, Device: d, Dim: 2, Sensitivity: 3,
			NoiseMultiplier: 2}, nil)
		return [][]float64{d.numbers}, err
	}
	index := func(i int, err error) ([][]float64, error) { return [][]float64{{float64(i)}}, err }
	list := func(draw func(in, out []int64) error) ([][]float64, error) {
		out := make([]int64, len(counts))
		err := draw(counts, out)
		return [][]float64{integers(out)}, err
	}
	normal := accountant.Event(gaussian(1))
	names := map[string]string{}
	for name, c := range map[string]struct {
		event  accountant.Event
		effect float64
		std    []float64
		grid   []float64
		in     [][]float64
		draw   func(g *Grant) ([][]float64, error)
	}{
		"Gaussian": {normal, 0.75, []float64{2, 3}, []float64{0x1p-20, 0x1p-22}, two,
			func(g *Grant) ([][]float64, error) { p := fixed(); return outs(p, g.Release(0.75, p...)) }},
		"Laplace": {accountant.Pure{Epsilon: 1}, 0.5, []float64{2, 3}, []float64{0x1p-20, 0x1p-22}, two,
			func(g *Grant) ([][]float64, error) { p := fixed(); return outs(p, g.Laplace(0.5, p...)) }},
		"floats": {normal, 0.5, []float64{std}, []float64{grid}, [][]float64{{1.5, -0.5}},
			gradient(Gradient{Sum: []float32{1.5, -0.5}})},
		"units": {normal, 0.5, []float64{std}, []float64{grid}, [][]float64{{1.5, -0.5}},
			gradient(Gradient{Units: []int32{3, -1}, Unit: 0.5})},
		"units with a carry": {normal, 0.5, []float64{std}, []float64{grid}, [][]float64{{5.5, -4.5}},
			gradient(Gradient{Units: []int32{3, -1}, Carry: []float64{8, -8}, Unit: 0.5})},
		"a device": {normal, 0.5, []float64{std}, []float64{grid}, [][]float64{{1.5, -0.5}}, onDevice},
		"discrete Gaussian": {accountant.DiscreteGaussian{Sigma: 4, Sensitivity: 2}, 0.5, []float64{4},
			[]float64{1}, [][]float64{integers(counts)}, func(g *Grant) ([][]float64, error) {
				return list(g.DiscreteGaussian)
			}},
		"discrete Laplace": {accountant.DiscreteLaplace{A: 0.25, Sensitivity: 2}, 0.5, []float64{4},
			[]float64{1}, [][]float64{integers(counts)}, func(g *Grant) ([][]float64, error) {
				return list(g.DiscreteLaplace)
			}},
		"argmax": {normal, 0.5, []float64{2}, []float64{1}, [][]float64{integers(counts)},
			func(g *Grant) ([][]float64, error) { return index(g.NoisyArgmax(counts, 2, 0.5)) }},
		"exponential": {accountant.ExponentialMechanism{Epsilon: 1}, 1, []float64{1}, []float64{1},
			[][]float64{integers(counts)},
			func(g *Grant) ([][]float64, error) { return index(g.Exponential(counts)) }},
		"response": {accountant.RandomizedResponse{Noise: 0.5, Categories: 9}, 1, []float64{1},
			[]float64{1}, [][]float64{{8}},
			func(g *Grant) ([][]float64, error) { return index(g.RandomizedResponse(12)) }},
	} {
		tap := &listener{fail: errors.New("a full disk"),
			change: func(x float64) float64 { return x + 32 }}
		budget := testBudget()
		if name == "response" {
			budget.Relation = accountant.ReplaceOne
		}
		a, err := Begin(entropy.WithTap(t.Context(), tap), ledger.New(budget)).Reserve(name, c.event, 2)
		if err != nil {
			t.Fatal(name, err)
		}
		_, _ = a.Next()
		g, err := a.Next()
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = c.draw(g)
		if len(tap.releases) != 1 {
			t.Fatalf("%s: the tap is told %d releases, want 1 (%v)", name, len(tap.releases), err)
		}
		r := tap.releases[0]
		if r.Step != 2 || r.Purpose != name || r.Mechanism == "" || r.Effect != c.effect ||
			!slices.Equal(r.Std, c.std) || !slices.Equal(r.Grid, c.grid) ||
			r.Inexact != (name == "floats") {
			t.Errorf("%s: the tap is told %+v", name, r)
		}
		if !reflect.DeepEqual(r.Inputs, c.in) {
			t.Errorf("%s: the tap is told the inputs %v, want %v", name, r.Inputs, c.in)
		}
		if !errors.Is(err, tap.fail) {
			t.Errorf("%s: error %v, want the tap's", name, err)
		}
		tap.fail = nil
		if a, err = a.run.Reserve(name, c.event, 1); err != nil {
			t.Fatal(name, err)
		}
		if g, err = a.Next(); err != nil {
			t.Fatal(name, err)
		}
		out, err := c.draw(g)
		if err != nil || !reflect.DeepEqual(out, tap.releases[1].Outputs) {
			t.Errorf("%s: %v is released, %v, want the tap's %v", name, out, err, tap.releases[1].Outputs)
		}
		if m := r.Mechanism; names[m] != "" && m != "Gaussian gradient" {
			t.Errorf("%s and %s have one name, %s", name, names[m], m)
		}
		names[r.Mechanism] = name
	}
}

// TestTapsAreToldSparseHistograms: a tap gets the counts of each column, and decides which texts
// are released.
func TestTapsAreToldSparseHistograms(t *testing.T) {
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		tap := &listener{fail: errors.New("a full disk"),
			change: func(x float64) float64 { return max(x-1000, 0) }}
		budget := accountant.Budget{Epsilon: 1e30, Delta: 0.9, Relation: relation}
		e := accountant.SparseHistogram{Sigma: 2, Threshold: 30, Cells: 2}
		run := Begin(entropy.WithTap(t.Context(), tap), ledger.New(budget))
		g := must(run.Spend("texts", e))(t)
		out, err := g.SparseHistogram([]map[string]int64{{"a": 5000, "b": 900, "c": 1}, {"d": 4000}})
		if !errors.Is(err, tap.fail) || len(out) != 2 || len(out[0]) != 1 || len(out[1]) != 1 ||
			math.Abs(out[0]["a"]-4000) > 30 || math.Abs(out[1]["d"]-3000) > 30 {
			t.Errorf("%v: %v is released, %v, want what the tap left", relation, out, err)
		}
		want := math.Sqrt2 / 2
		if relation == accountant.ReplaceOne {
			want = 1
		}
		r, sum := tap.releases[0], 0.0
		for _, in := range r.Inputs[0] {
			sum += in
		}
		if r.Step != 1 || r.Purpose != "texts" || r.Mechanism == "" || math.Abs(r.Effect-want) > 1e-12 ||
			!slices.Equal(r.Std, []float64{2, 2}) || !slices.Equal(r.Grid, []float64{1, 1}) ||
			sum != 5901 || slices.Max(r.Inputs[0]) != 5000 || slices.Max(r.Inputs[1]) != 4000 {
			t.Errorf("%v: the tap is told %v, %v and the sum %v", relation, r.Effect, r.Std, sum)
		}
	}
}

// TestTapsAreToldSamplesAndSpends: a tap is told each sample with its rate, its rows and the number
// of rows it is from, and each reservation, use and refusal, also one that fails.
func TestTapsAreToldSamplesAndSpends(t *testing.T) {
	sum := accountant.Gaussian{NoiseMultiplier: 1}
	replace := testBudget()
	replace.Relation = accountant.ReplaceOne
	for name, c := range map[string]struct {
		budget accountant.Budget
		event  accountant.Event
		rate   float64
	}{
		"Poisson": {testBudget(), sampled(0.25), 0.25},
		"sum":     {replace, accountant.SampledSum{Probability: 0.25, NoiseMultiplier: 2}, 0.25},
		"subset": {replace, accountant.SampledWithoutReplacement{Sample: 10, Population: 40, Event: sum},
			0.25},
		"allocation": {testBudget(), accountant.RandomAllocation{Steps: 4, Times: 2,
			NoiseMultiplier: 1}, 0.5},
		"bands": {testBudget(), banded(0.5, 1, 0.5), 0.25},
	} {
		tap := &listener{change: func(x float64) float64 { return x }}
		l := ledger.New(c.budget)
		run := Begin(entropy.WithTap(t.Context(), tap), l)
		a, err := run.Reserve(name, c.event, 3)
		if err != nil {
			t.Fatal(name, err)
		}
		g, err := a.Next()
		if err != nil {
			t.Fatal(name, err)
		}
		before := []int32{-1}
		draw := func() (rows []int32, keys []uint64) {
			if name == "subset" {
				return g.SampleWithoutReplacement(before, nil)
			}
			return g.PoissonSample(40, before, nil)
		}
		rows, keys := draw()
		if len(tap.samples) != 1 {
			t.Fatalf("%s: the tap is told %d samples", name, len(tap.samples))
		}
		if s := tap.samples[0]; s.Step != 1 || s.Purpose != name || s.Probability != c.rate ||
			s.Of != 40 || !slices.Equal(s.Rows, rows[1:]) || len(keys) != len(rows)-1 {
			t.Errorf("%s: the tap is told %+v of the rows %v", name, s, rows)
		}
		if len(rows) < 6 || len(rows) > 36 { // 40 times the rate is 10 or 20; the noise is fixed
			t.Errorf("%s: %d rows", name, len(rows)-1)
		}
		if again, _ := draw(); len(again) != 1 || !slices.Equal(tap.refused, []string{name}) {
			t.Errorf("%s: again %d rows, and the tap is told the refusals %q, want one", name,
				len(again)-1, tap.refused)
		}
		told := []spent{{name, a.Event(), 3, false}, {name, a.Event(), 0, false}}
		if !reflect.DeepEqual(tap.spends, told) {
			t.Errorf("%s: the tap is told %v, want %v", name, tap.spends, told)
		}
	}
	tap := new(listener)
	ctx := entropy.WithTap(t.Context(), tap)
	l := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	run := Begin(ctx, l)
	large := accountant.Gaussian{NoiseMultiplier: 50}
	_, _ = run.Reserve("dear", sum, 1)
	_, _ = run.Resume("none", large)
	lines := []ledger.Line{{Purpose: "a", Event: large, Count: 1},
		{Purpose: "a", Event: large, Count: 2}, {Purpose: "b", Event: large, Count: 1}}
	all := must(ReserveAll(ctx, l, ledger.Transaction{Lines: lines}))(t)
	if _, err := Begin(ctx, l).Resume("b", large); err != nil {
		t.Fatal(err)
	}
	if all[0].run != all[1].run || all[1].run == all[2].run {
		t.Error("lines of one purpose have two runs, or lines of two purposes one")
	}
	poor := ledger.New(testBudget())
	without := entropy.WithTap(t.Context(), noSource{})
	if _, err := ReserveAll(without, poor, ledger.Transaction{Lines: lines}); !errors.Is(err,
		errNoSource) || len(poor.Entries()) > 0 {
		t.Errorf("without a source: %v, and %+v is reserved", err, poor.Entries())
	}
	lines[1].Event = sum
	if all, err := ReserveAll(ctx, l, ledger.Transaction{Lines: lines[1:2]}); err == nil {
		t.Error("reserved: ", all)
	}
	want := []spent{{"dear", sum, 1, true}, {"none", large, 0, true}, {"a", large, 1, false},
		{"a", large, 2, false}, {"b", large, 1, false}, {"b", large, 1, false},
		{"a", sum, 2, true}}
	if !reflect.DeepEqual(tap.spends, want) {
		t.Errorf("the tap is told %v, want %v", tap.spends, want)
	}
}

// noSource is a tap without random numbers.
type noSource struct{ seededTap }

var errNoSource = errors.New("no random numbers")

func (noSource) Source() (*entropy.Source, error) { return nil, errNoSource }

// TestShardsUnderTestsHaveTheirRows: samples that another process reads are those of the plan also
// under a test's noise.
func TestShardsUnderTestsHaveTheirRows(t *testing.T) {
	ctx := entropy.WithTap(context.Background(), seededTap{})
	a := must(Begin(ctx, ledger.New(testBudget())).Reserve("test", sampled(0.3), 3))(t)
	x := planned(t, 200, a, a, a)
	secret := must(x.Secret())(t)
	y, err := ReadInclusions(secret)
	if err != nil || !slices.Equal(cellsOf(x, 0, 200), cellsOf(y, 0, 200)) {
		t.Errorf("another process draws other samples, %v", err)
	}
	tap := &listener{change: func(x float64) float64 { return x }}
	ctx = entropy.WithTap(t.Context(), tap)
	if a, err = Begin(ctx, ledger.New(testBudget())).Reserve("test", sampled(0.3), 1); err != nil {
		t.Fatal(err)
	}
	x = planned(t, 200, a)
	g := must(a.Next())(t)
	if err := x.Use(0, g); err != nil || len(tap.samples) != 1 || tap.samples[0].Of != 200 ||
		len(tap.samples[0].Rows) != len(cellsOf(x, 0, 200)) {
		t.Errorf("the tap is told %v of a planned sample, %v", tap.samples, err)
	}
	for _, rows := range []string{`[[2,1],[],[]]`, `[[1]]`} {
		text := slices.Replace(slices.Clone(secret), 0, 0)
		at := slices.Index(text, '[')
		text = append(append(text[:at:at], rows...), '}')
		if _, err := ReadInclusions(text); err == nil {
			t.Errorf("the rows %s of three grants are accepted", rows)
		}
	}
}

// TestSamplesUnderTestsAreCoupled: a sample under a test's noise has its rate, and neighbours agree
// on the rows that they share. The noise is fixed.
func TestSamplesUnderTestsAreCoupled(t *testing.T) {
	for _, q := range []float64{0.25, 0.75, 1} {
		draw := func(n int) []int32 {
			ctx := entropy.WithTap(t.Context(), seededTap{})
			g := must(Begin(ctx, ledger.New(testBudget())).Spend("test", sampled(q)))(t)
			rows, _ := g.PoissonSample(n, nil, nil)
			return rows
		}
		few, many := draw(1000), draw(4000)
		sixSigma(t, "sample", len(many), 4000, min(q, 1-1e-12))
		if at, _ := slices.BinarySearch(many, 1000); !slices.Equal(few, many[:at]) {
			t.Errorf("q = %v: rows below 1000 are %d of 1000 and %d of 4000", q, len(few), at)
		}
	}
	ctx := entropy.WithTap(t.Context(), seededTap{})
	a := must(Begin(ctx, ledger.New(testBudget())).Reserve("test", banded(0.5, 1, 0.5), 1))(t)
	var seen []int32
	for step := range 2 {
		g := must(a.Next())(t)
		rows, _ := g.PoissonSample(1000, nil, nil)
		sixSigma(t, "sample of a band", len(rows), 1000, 0.25)
		if of := a.turns.slots.step(step); slices.ContainsFunc(rows, func(row int32) bool {
			return !slices.Contains(of, row)
		}) {
			t.Errorf("step %d samples rows of another step", step)
		}
		seen = append(seen, rows...)
	}
	if slices.Sort(seen); len(slices.Compact(seen)) != len(seen) {
		t.Error("a row is in both steps")
	}
}
