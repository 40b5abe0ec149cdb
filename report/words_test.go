package report_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/fidelity"
	"github.com/seed7ba64551/privgen/synth"
)

// TestWords checks that the guarantee in words names the unit, the possible change, the factor e^ε
// and 1/δ. Without a guarantee the words must say so and name no figure.
func TestWords(t *testing.T) {
	fake := table(t, 50, 1)
	for name, c := range map[string]struct {
		g     *ledger.Guarantee
		words []string
		never []string
	}{
		"add or remove": {&ledger.Guarantee{Epsilon: 1, Delta: 1e-5, Unit: "record", Budget: 2},
			[]string{"2.72 times", "1 in 100,000", "left out, or one more had been added", "73.2 %",
				"one row of the data", "ε = 2 that was set for these data, ε = 1 had been used when"}, nil},
		"replace": {&ledger.Guarantee{Epsilon: 0.1, Delta: 0, Unit: "user",
			Relation: accountant.ReplaceOne},
			[]string{"1.11 times", "one user had been replaced by any other",
				"each user with everything"}, []string{"except with", "that was set"}},
		"rows": {&ledger.Guarantee{Epsilon: 1, Delta: 1e-6, Unit: "user", RowsPerUnit: 7},
			[]string{"at most 7 rows of each were used"}, []string{"one row of the data"}},
		"large": {&ledger.Guarantee{Epsilon: 20, Delta: 1e-9, Unit: "record"},
			[]string{"4.9e+08 times", "1 in 1,000,000,000", "100 %"}, nil},
		"infinite": {&ledger.Guarantee{Epsilon: math.Inf(1), Delta: 1e-5},
			[]string{"There is no guarantee: no finite ε"}, []string{"times as likely"}},
		"test noise": {&ledger.Guarantee{Epsilon: 1, Delta: 1e-5, NotPrivate: "seeded noise"},
			[]string{"There is no guarantee: seeded noise."}, []string{"times as likely"}},
		"none": {nil, []string{"No guarantee was given"}, []string{"times as likely"}},
	} {
		in := report.Input{Synthetic: fake, Guarantee: c.g}
		r, err := report.Released(t.Context(), in, quick())
		if without := c.g == nil || c.g.NotPrivate != "" || math.IsInf(c.g.Epsilon, 1); without {
			var refused *param.Error
			if !errors.As(err, &refused) {
				t.Errorf("%s: published without a guarantee: %v", name, err)
			}
			in.Real = table(t, 50, 2)
			r, err = report.Compute(t.Context(), in, quick())
			if err == nil && !r.Promise.Attack.IsNone() {
				t.Errorf("%s: a best guess of %v without a guarantee", name, r.Promise.Attack)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(r.Promise.Words, " ")
		for _, w := range c.words {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is not in %q", name, w, text)
			}
		}
		for _, w := range c.never {
			if strings.Contains(text, w) {
				t.Errorf("%s: %q is in %q", name, w, text)
			}
		}
		if _, err := parse(pageOf(t, r)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkSchema(t, r)
	}
}

// TestWordsRoundUp checks that the words promise no less change than e^ε, and no rarer an exception
// than δ, for guarantees of all sizes.
func TestWordsRoundUp(t *testing.T) {
	stated := func(text, before, after string) float64 {
		_, rest, _ := strings.Cut(text, before)
		number, _, _ := strings.Cut(rest, after)
		x, err := strconv.ParseFloat(strings.ReplaceAll(strings.Trim(number, ". "), ",", ""), 64)
		if err != nil {
			t.Fatalf("no number between %q and %q in %q", before, after, text)
		}
		return x
	}
	for eps := 0.013; eps < 30; eps *= 1.6 {
		for _, delta := range []float64{1e-5, 3.3e-6, 0.0007, 0.3} {
			text := report.Words(ledger.Guarantee{Epsilon: eps, Delta: delta, Unit: "record"}, math.NaN())[0]
			if f := stated(text, "at most ", " times"); !(f >= math.Exp(eps) && f <= 1.1*math.Exp(eps)) {
				t.Errorf("ε = %v: %v times, want at least %v", eps, f, math.Exp(eps))
			}
			if n := stated(text, "1 in ", "\n"); !(1/n >= delta && n > 0.5/delta-1) {
				t.Errorf("δ = %v: 1 in %v", delta, n)
			}
		}
	}
}

// TestMarkOfWhatIsNotPrivate checks every ε on a page: of the records, the bill and the released
// figures. If there is no guarantee, the page must say so prominently, and such figures must not be
// published.
func TestMarkOfWhatIsNotPrivate(t *testing.T) {
	real, fake := table(t, 50, 1), table(t, 50, 2)
	good, marked := spent(t, accountant.AddOrRemoveOne), spent(t, accountant.AddOrRemoveOne)
	marked.NotPrivate = "seeded <noise>"
	infinite := good
	infinite.Epsilon = math.Inf(1)
	settings, base := quick(), released(t)
	settings.Methods = []classify.Method{}
	figures := func(g ledger.Guarantee) *fidelity.Released {
		out := *base
		out.Guarantee = g
		return &out
	}
	for name, c := range map[string]struct {
		in      report.Input
		refused bool
		marks   int
	}{
		"good":   {report.Input{Guarantee: &good, Fidelity: figures(good)}, false, 0},
		"marked": {report.Input{Guarantee: &marked}, true, 2},
		"marked generator": {report.Input{Generator: synth.NewGenerator("x", redraw{fake}, marked)},
			true, 2},
		"marked figures":    {report.Input{Guarantee: &good, Fidelity: figures(marked)}, true, 1},
		"infinite figures":  {report.Input{Guarantee: &good, Fidelity: figures(infinite)}, true, 0},
		"only good figures": {report.Input{Fidelity: figures(good)}, true, 0},
		"both marked":       {report.Input{Guarantee: &marked, Fidelity: figures(marked)}, true, 3},
	} {
		c.in.Synthetic = fake
		_, err := report.Released(t.Context(), c.in, settings)
		if refused := new(param.Error); (err != nil) != c.refused ||
			errors.As(err, &refused) != c.refused {
			t.Errorf("%s: published: %v", name, err)
		}
		c.in.Real = real
		r, err := report.Compute(t.Context(), c.in, settings)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(pageOf(t, r), "Not private: seeded &lt;noise&gt;"); n != c.marks {
			t.Errorf("%s: the page says %d times that there is no guarantee, want %d", name, n, c.marks)
		}
	}
}

// TestWhatIsRefused checks that invalid inputs and settings are errors.
func TestWhatIsRefused(t *testing.T) {
	real, fake := table(t, 50, 1), table(t, 50, 2)
	for name, c := range map[string]struct {
		in report.Input
		s  report.Settings
	}{
		"nothing":         {report.Input{}, report.Settings{}},
		"no real records": {report.Input{Synthetic: fake}, report.Settings{}},
		"no synthetic":    {report.Input{Real: real}, report.Settings{}},
		"another schema":  {report.Input{Real: sets(t, 10, 1), Synthetic: fake}, report.Settings{}},
		"held-out schema": {report.Input{Real: real, Synthetic: fake, HeldOut: sets(t, 10, 1)},
			report.Settings{}},
		"few held out": {report.Input{Real: real, Synthetic: fake, HeldOut: fake.Slice(0, 2)},
			report.Settings{}},
		"one record": {report.Input{Real: real.Slice(0, 1), Synthetic: fake}, report.Settings{}},
		"settings":   {report.Input{Real: real, Synthetic: fake}, report.Settings{Rows: -1}},
	} {
		if _, err := report.Compute(t.Context(), c.in, c.s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestPersonsByRow checks that for persons the rows are compared. The noise must be compared with
// the number of persons.
func TestPersonsByRow(t *testing.T) {
	rows, fake := table(t, 100, 1), table(t, 80, 2)
	keys := make([]int, rows.Len())
	for i := range keys {
		keys[i] = i / 4
	}
	persons, err := records.GroupBy(rows, keys, 4)
	if err != nil {
		t.Fatal(err)
	}
	g := ledger.Guarantee{Epsilon: 5, Delta: 1e-5, Unit: records.UnitUser}
	of := func(real records.Data) *report.Report {
		r, err := report.Compute(t.Context(), report.Input{Real: real, Synthetic: fake, Guarantee: &g},
			quick())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := of(persons), of(rows)
	if a.Quality.Synthetic.Score != b.Quality.Synthetic.Score || a.Sizes.Real != 100 {
		t.Errorf("the rows of persons score %v, the same rows %v", a.Quality.Synthetic.Score,
			b.Quality.Synthetic.Score)
	}
	if !(a.Ceiling.Noise < b.Ceiling.Noise) || !strings.Contains(pageOf(t, a), "rows of 25 persons") {
		t.Errorf("noise on 25 persons %v, on 100 rows %v", a.Ceiling.Noise, b.Ceiling.Noise)
	}
}
