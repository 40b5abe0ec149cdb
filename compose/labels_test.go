package compose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

var numbers = records.Interval(2, 0, 1).WithLabels("low", "high", "never")

func budgetUnder(r accountant.Relation) accountant.Budget {
	return accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
}

// lowAndHigh returns n records of the classes low and high, which differ in their first number. A
// third of them is high.
func lowAndHigh(t testing.TB, s records.Schema, n int) *records.Table {
	t.Helper()
	flat, labels := make([]float32, n*s.Dim()), make([]int32, n)
	for i := range n {
		labels[i] = int32(i % 3 / 2)
		row := flat[i*s.Dim():]
		row[0], row[1] = 0.1+0.8*float32(labels[i]), float32(i)/float32(n)
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}

// stub is a user-defined system. One in four records of its generator has a wrong label: low for a
// high number, or high for a low one. It counts the drawn records.
type stub struct {
	schema records.Schema
	drawn  int
}

func (w *stub) Title() string {
	return "stub"
}

func (w *stub) Notes() []string {
	return nil
}

func (w *stub) Config() (json.RawMessage, error) {
	return json.RawMessage("{}"), nil
}

func (w *stub) Fit(context.Context, *synth.Run) (synth.Model, error) { return w, nil }
func (w *stub) Schema() records.Schema {
	return w.schema
}

func (w *stub) Encode() (*synth.File, error) {
	return &synth.File{Header: []byte("{}")}, nil
}

func (w *stub) Sampler(d synth.Draw) (synth.Sampler, error) {
	i := 0
	return synth.Sampler{Schema: w.schema, Next: func(n int) (records.Data, error) {
		flat, labels := []float32(nil), []int32(nil)
		for range n {
			label := i % 2
			if d.Class >= 0 {
				label = d.Class
			}
			is := label
			if i/2%4 == 3 { // wrong
				is = 1 - label%2
			}
			flat = append(flat, 0.1+0.8*float32(is), 0.5)
			labels = append(labels, int32(label))
			i++
		}
		w.drawn += n
		return records.FromFlat(w.schema, flat, labels...)
	}}, nil
}

// stubPlan returns the plan of a user-defined system.
func stubPlan(t testing.TB, w synth.Work, s records.Schema) synth.Plan {
	t.Helper()
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	p := must(synth.NewProgram("stub", s, b, []synth.Stage{{Purpose: "look",
		Event: accountant.Gaussian{NoiseMultiplier: 20}, Count: 1}}, w))(t)
	return &struct{ *synth.Program }{&p}
}

// learnt returns a generator of a stub's records with a classifier that distinguishes low from
// high.
func learnt(t testing.TB, w *stub, c compose.Labels) *synth.Generator {
	t.Helper()
	w.schema = numbers
	return learntOf(t, stubPlan(t, w, numbers), c)
}

// learntOf returns a generator of the plan's records with a classifier that distinguishes low from
// high.
func learntOf(t testing.TB, of synth.Plan, c compose.Labels) *synth.Generator {
	t.Helper()
	c.Of, c.Nominal = compose.Fixed(of), 400
	c.Features = rff.RBF{Dim: 20, Bandwidth: 0.5}
	c.Train = sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 30, NoiseMultiplier: 1.5,
		Optimizer: sgd.Momentum(2, 0.9)}
	p := must(c.PlanFor(of.Schema(), of.Budget()))(t)
	return must(p.Fit(t.Context(), lowAndHigh(t, of.Schema(), 400)))(t)
}

func draw(t testing.TB, g *synth.Generator, n int, opts ...synth.DrawOption) *records.Table {
	t.Helper()
	rows := must(g.Sample(t.Context(), n, append(opts, synth.Seed(3))...))(t)
	return rows.(*records.Table)
}

// right counts the records whose label agrees with their first number.
func right(d *records.Table) (n int) {
	for i, label := range d.Labels() {
		if is := d.Row(nil, i)[0] > 0.5; is == (label == 1) && label < 2 {
			n++
		}
	}
	return n
}

// TestKeep checks that records with wrong labels are left out. The classes must have the
// proportions of the other system.
func TestKeep(t *testing.T) {
	gen := learnt(t, &stub{}, compose.Labels{})
	rows := draw(t, gen, 400)
	ones := 0
	for _, label := range rows.Labels() {
		ones += int(label)
	}
	if right(rows) != 400 || ones != 200 {
		t.Errorf("%d right labels of 400, %d of the second class", right(rows), ones)
	}
	if again := draw(t, gen, 400); !slices.Equal(again.Labels(), rows.Labels()) {
		t.Error("a seed gives two draws")
	}
	for class := range 2 {
		rows := draw(t, gen, 100, synth.OfClass(class))
		if rows.Len() != 100 || right(rows) != 100 || slices.Contains(rows.Labels(), int32(1-class)) {
			t.Errorf("%d records of class %d, %d right", rows.Len(), class, right(rows))
		}
	}
	of := must(compose.Part(gen, 0))(t)
	if got := right(draw(t, of, 400)); got != 300 {
		t.Errorf("the stub draws %d right labels of 400", got)
	}
	for class, want := range []float64{0.75, 0.75, 0} {
		got := agreementOf(t, gen)[class]
		if got < want-0.01 || got > want+0.01 {
			t.Errorf("agreement %v in class %d", got, class)
		}
	}
	var wrong *param.Error
	if _, err := compose.WithMargin(gen, 1); !errors.As(err, &wrong) {
		t.Errorf("a margin of 1: %v", err)
	}
}

// TestOtherRulesAreRefused checks that a plan that uses its classifier in another way is not read
// as one that keeps records.
func TestOtherRulesAreRefused(t *testing.T) {
	b := budgetUnder(accountant.AddOrRemoveOne)
	p := must(labelsOf(embedding(40), 40).PlanFor(numbers, b))(t)
	text := must(json.Marshal(p))(t)
	for rule, want := range map[string]error{"keep": nil, "relabel": synth.ErrFormat} {
		other := bytes.ReplaceAll(text, []byte(`"rule":"keep"`), []byte(`"rule":"`+rule+`"`))
		if _, err := compose.Systems(systems).ReadPlan(other); !errors.Is(err, want) {
			t.Errorf("a plan of the rule %q: %v, want %v", rule, err, want)
		}
	}
}

// TestDrawsEnd checks draws of a class of which no record is accepted. They must generate exactly
// the largest number of records that Tries allows, and return records of the requested class.
func TestDrawsEnd(t *testing.T) {
	w := &stub{}
	gen := learnt(t, w, compose.Labels{Tries: 4})
	w.drawn = 0
	var done synth.Accepted
	rows := draw(t, gen, 50, synth.OfClass(2), told(&done))
	others := slices.ContainsFunc(rows.Labels(), func(c int32) bool { return c != 2 })
	if rows.Len() != 50 || others {
		t.Errorf("%d records, labels %v", rows.Len(), rows.Labels())
	}
	if w.drawn != 50*4 {
		t.Errorf("%d records were generated, want %d", w.drawn, 50*4)
	}
	if done.Unaccepted != 50 {
		t.Errorf("%d records are unaccepted, want all 50", done.Unaccepted)
	}
}

// ending is a context that ends when it is asked for the last time.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestContextsEndTries: a draw that ends has no further tries of its records.
func TestContextsEndTries(t *testing.T) {
	w := &stub{}
	gen := learnt(t, w, compose.Labels{Tries: 1000})
	w.drawn = 0
	_, err := gen.Sample(&ending{t.Context(), 5}, 50, synth.OfClass(2), synth.Seed(1))
	if !errors.Is(err, context.Canceled) || w.drawn > 6*50 {
		t.Errorf("%d records after six questions, and error %v", w.drawn, err)
	}
}

// told keeps what a draw reports at its end.
func told(a *synth.Accepted) synth.DrawOption {
	return synth.OnAccepted(func(done synth.Accepted) { *a = done })
}

// TestUnacceptedRecordsAreCounted draws several chunks with few and with many attempts. The
// classifier accepts exactly the records whose label is right, so the wrong ones are those that ran
// out of attempts. A second draw begins at 0, and a draw that stops early counts its chunks only.
func TestUnacceptedRecordsAreCounted(t *testing.T) {
	const n = 2*synth.SampleChunk + 96
	for tries, want := range map[int]int{1: n / 4, 20: 0} {
		gen := learnt(t, &stub{}, compose.Labels{Tries: tries})
		for range 2 {
			var done synth.Accepted
			rows := draw(t, gen, n, told(&done))
			if done.Unaccepted != n-right(rows) || done.Unaccepted != want {
				t.Errorf("%d tries: %d records are unaccepted, want %d; %d are wrong", tries,
					done.Unaccepted, want, n-right(rows))
			}
		}
		var done synth.Accepted
		for _, err := range gen.Stream(t.Context(), n, told(&done)) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if first := want * synth.SampleChunk / n; done.Unaccepted != first {
			t.Errorf("%d tries: %d records of one chunk are unaccepted, want %d", tries,
				done.Unaccepted, first)
		}
	}
}

// TestBothArePaidForTogether checks that the ledger and the guarantee name the classifier and the
// other system's stages, with their joint price. It does so under both relations. A ledger that can
// pay for only one of the two must not change.
func TestBothArePaidForTogether(t *testing.T) {
	s := numbers
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		c := labelsOf(embedding(40), 40)
		p := must(c.PlanFor(s, budgetUnder(r)))(t)
		l := ledger.New(budgetUnder(r))
		gen := must(p.FitOn(t.Context(), l, lowAndHigh(t, s, 40)))(t)
		classifier, of := p.Stages()[0], partsOf(p)[0]
		c.Train.NoiseMultiplier = classifier.NoiseMultiplier
		if want := c.Train.Event(r); !accountant.EqualEvents(classifier.Event, want) {
			t.Errorf("%v: the classifier's step is %v, want %v", r, classifier.Event, want)
		}
		both := must(accountant.Epsilon(accountant.Composed{Events: []accountant.Event{classifier.Whole(),
			synth.Total(of.Stages()...)}}, 1e-5, r))(t)
		if got := l.Epsilon().Upper; got < both.Upper*(1-1e-9) || got > both.Upper*(1+1e-9) {
			t.Errorf("%v: the ledger says ε = %v, both cost %v", r, got, both.Upper)
		}
		if got := p.Total().Upper; got < 0.98*3 || got > 3 {
			t.Errorf("%v: ε = %v of a budget of 3", r, got)
		}
		text := gen.Guarantee().String()
		for _, stage := range []string{"classifier step", "merf: mean embedding"} {
			if !strings.Contains(text, stage) {
				t.Errorf("%v: the guarantee does not name %q:\n%s", r, stage, text)
			}
		}
		poor := ledger.New(accountant.Budget{Epsilon: of.Total().Upper * 1.01, Delta: 1e-5,
			Relation: r})
		if _, err := p.FitOn(t.Context(), poor, lowAndHigh(t, s, 40)); !errors.Is(err,
			accountant.ErrBudgetExceeded) || len(poor.Entries()) != 0 {
			t.Errorf("%v: a ledger for one alone: %v, entries %v", r, err, poor.Entries())
		}
	}
}

// TestLabelsRefusals checks that Plan refuses parts that do not fit together.
func TestLabelsRefusals(t *testing.T) {
	b := budgetUnder(accountant.AddOrRemoveOne)
	half := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan := func(s records.Schema, r accountant.Relation) synth.Design {
		t.Helper()
		half := half
		half.Relation = r
		p := must(embedding(40).PlanFor(s, half))(t)
		return compose.Fixed(p)
	}
	good := plan(numbers, b.Relation)
	for name, change := range map[string]func(c *compose.Labels){
		"no system": func(c *compose.Labels) { c.Of = nil },
		"no classes": func(c *compose.Labels) {
			c.Of = plan(records.Interval(2, 0, 1), b.Relation)
		},
		"another relation": func(c *compose.Labels) {
			c.Of = plan(numbers, accountant.ReplaceOne)
		},
		"no nominal size":  func(c *compose.Labels) { c.Nominal = 0 },
		"no features":      func(c *compose.Labels) { c.Features = nil },
		"a share of all":   func(c *compose.Labels) { c.Share = 1 },
		"a margin":         func(c *compose.Labels) { c.Margin = 1 },
		"tries":            func(c *compose.Labels) { c.Tries = -1 },
		"correlated noise": func(c *compose.Labels) { c.Train.Bands = 2 },
		"an allocation": func(c *compose.Labels) {
			c.Train = sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 6, NominalBatch: 20,
				Optimizer: sgd.Adam(1e-2), RandomAllocation: true}
		},
		"features that no file holds": func(c *compose.Labels) {
			c.Features = struct{ rff.RBF }{rff.RBF{Dim: 4, Bandwidth: 1}}
		},
		"a labelling of a labelling": func(c *compose.Labels) {
			p := must(c.PlanFor(numbers, b))(t)
			c.Of = compose.Fixed(p)
		},
		"a contrast": func(c *compose.Labels) {
			c.Contrast = compose.Contrast{Black: 0.1, White: 0.9}
		},
	} {
		c := labelsOf(good, 40)
		if _, err := c.PlanFor(numbers, b); err != nil {
			t.Fatal(err)
		}
		change(&c)
		var wrong *param.Error
		if _, err := c.PlanFor(numbers, b); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	little := accountant.Budget{Epsilon: 1.1, Delta: 1e-5}
	_, err := labelsOf(good, 40).PlanFor(numbers, little)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("both for little more than the price of one: %v", err)
	}
}

// TestContrastIsForTheClassifier checks that drawn images have the grey levels of the other
// system's images. A generator that is read back must draw the same images.
func TestContrastIsForTheClassifier(t *testing.T) {
	s := records.Image(8, 8).WithLabels("a", "b")
	b := budgetUnder(accountant.AddOrRemoveOne)
	flat, labels := make([]float32, 40*64), make([]int32, 40)
	for i := range flat {
		flat[i] = float32(i%7) / 6
		labels[i/64] = int32(i / 64 % 2)
	}
	data := must(records.FromFlat(s, flat, labels...))(t)
	agreement := map[string]bool{}
	for _, contrast := range []compose.Contrast{{}, {White: 1}, {Black: 0.49, White: 0.5}} {
		c := labelsOf(embedding(40), 40)
		c.Features, c.Contrast, c.Tries = nil, contrast, 1 // of scattering
		p := must(c.PlanFor(s, b))(t)
		gen := must(p.Fit(t.Context(), data))(t)
		var file bytes.Buffer
		if err := gen.Save(&file); err != nil {
			t.Fatal(err)
		}
		back := must(compose.Systems(systems).Load(&file))(t)
		inner := must(compose.Part(gen, 0))(t)
		own, again, of := draw(t, gen, 20), draw(t, back, 20), draw(t, inner, 20)
		if !slices.Equal(values(own), values(of)) {
			t.Errorf("%v: the images differ from the other system's images", contrast)
		}
		if !slices.Equal(values(own), values(again)) || !slices.Equal(own.Labels(), again.Labels()) {
			t.Errorf("%v: a generator that was read back draws other images", contrast)
		}
		agreement[fmt.Sprint(agreementOf(t, gen))] = true
	}
	if len(agreement) < 2 {
		t.Errorf("contrast changes nothing: %v", agreement)
	}
}

func values(t *records.Table) []float32 {
	v, _ := t.Flat()
	return v
}

// agreementOf returns the agreement of a generator of labels.
func agreementOf(t testing.TB, g *synth.Generator) []float64 {
	t.Helper()
	return must(compose.Agreement(g))(t)
}
