package sequence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sequence"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

var numbers = records.Interval(5, -1, 2)

func budget(r accountant.Relation) accountant.Budget {
	return accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
}

// table returns n records that are all different.
func table(t testing.TB, s records.Schema, n int) *records.Table {
	t.Helper()
	flat := make([]float32, n*s.Dim())
	for i := range flat {
		flat[i] = float32(i)/float32(len(flat)) - 0.5
	}
	d, err := records.FromFlat(s, flat)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustPlan(t testing.TB, r accountant.Relation, first, then planner) *sequence.Plan {
	t.Helper()
	p, err := planOf(numbers, budget(r), 40, first, then)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// spy is a user-defined system. As the second system it keeps the records that it is given as
// public. As the first system its generator returns the records of made.
type spy struct {
	given records.Data
	made  func(r *synth.Run) records.Data
	alone bool // does not use the records of an earlier system
}

func (w *spy) Title() string                    { return "spy" }
func (w *spy) Notes() []string                  { return nil }
func (w *spy) StartsFromEarlier() bool          { return !w.alone }
func (w *spy) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (w *spy) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	w.given = r.Public()
	m := spyModel{schema: numbers}
	if w.made != nil {
		m.data = w.made(r)
	}
	return m, nil
}

type spyModel struct {
	schema records.Schema
	data   records.Data
}

func (m spyModel) Schema() records.Schema { return m.schema }
func (m spyModel) Sampler(synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: m.schema,
		Next: func(n int) (records.Data, error) { return m.data, nil }}, nil
}
func (m spyModel) Encode() (*synth.File, error) { return &synth.File{Header: []byte("{}")}, nil }

// spyPlan returns the plan of a spy with one Gaussian release, which the spy does not make.
func spyPlan(t testing.TB, w *spy, b accountant.Budget) synth.Plan {
	t.Helper()
	p, err := synth.NewProgram("spy", numbers, b, []synth.Stage{{Purpose: "look",
		Event: accountant.Gaussian{NoiseMultiplier: 20}, Count: 1}}, w)
	if err != nil {
		t.Fatal(err)
	}
	return &struct{ *synth.Program }{&p}
}

// TestSecondSeesSyntheticRecordsAlone: the public records of the second system are drawn by the
// first one's released generator, and none of them is private.
func TestSecondSeesSyntheticRecordsAlone(t *testing.T) {
	b := budget(accountant.AddOrRemoveOne)
	first, err := embedding(numbers, accountant.Budget{Epsilon: 1, Delta: 1e-5}, 40)
	if err != nil {
		t.Fatal(err)
	}
	w := &spy{}
	p, err := sequence.Config{Budget: b, First: first, Then: spyPlan(t, w, b), Records: 200,
		Seed: 9}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	data := table(t, numbers, 40)
	gen, err := p.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	if w.given == nil || w.given.Len() != 200 {
		t.Fatalf("the second system is given the wrong public records %v", w.given)
	}
	if records.Overlap(w.given, data) {
		t.Error("public records share storage with private ones")
	}
	private := map[string]bool{}
	for row := range rowsOf(data) {
		private[row] = true
	}
	for row := range rowsOf(w.given) {
		if private[row] {
			t.Error("a private record is given as a public one")
		}
	}
	// The public records are records that the released generator draws with the same seed.
	stage, err := sequence.Stage(gen, 0)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := stage.Sample(t.Context(), 200, synth.Seed(9))
	if err != nil {
		t.Fatal(err)
	}
	want, got := rowsOf(drawn), rowsOf(w.given)
	for row := range got {
		if !want[row] {
			t.Fatal("the public records differ from the released generator's records")
		}
	}
}

// TestThenUsesTheRecordsOfFirst: a second system that ignores the records of the first one is
// refused, because the first one's budget would be wasted.
func TestThenUsesTheRecordsOfFirst(t *testing.T) {
	b := budget(accountant.AddOrRemoveOne)
	half := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	first, err := embedding(numbers, half, 40)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := sequence.Config{Budget: b, First: first, Then: spyPlan(t, &spy{}, b)}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for name, then := range map[string]synth.Plan{"merf": first, "a sequence": inner,
		"a system that may follow and does not": spyPlan(t, &spy{alone: true}, b)} {
		_, err := sequence.Config{Budget: accountant.Budget{Epsilon: 100, Delta: 1e-5}, First: first,
			Then: then}.Plan()
		if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "sequence.Config.Then" {
			t.Errorf("%s: got error %v, want a *param.Error about sequence.Config.Then", name, err)
		}
	}
}

func rowsOf(d records.Data) map[string]bool {
	out := map[string]bool{}
	var row bytes.Buffer
	var b device.Batch
	for i := range d.Len() {
		d.Range(i, i+1, &b)
		row.Reset()
		row.Write(synth.Floats32(b.Dense.Row(0)))
		out[row.String()] = true
	}
	return out
}

// around is a user-defined type that hides the wrapped data.
type around struct {
	records.Data
	_ int
}

// TestPrivateRecordsAsSyntheticOnes: if the generator of a user-defined first system returns the
// private records, the run is refused before the second system begins.
func TestPrivateRecordsAsSyntheticOnes(t *testing.T) {
	b := budget(accountant.AddOrRemoveOne)
	for name, made := range map[string]func(r *synth.Run) records.Data{
		"all of them":  func(r *synth.Run) records.Data { return r.Data },
		"in a wrapper": func(r *synth.Run) records.Data { return around{Data: r.Data} },
	} {
		then := &spy{}
		p, err := sequence.Config{Budget: b, First: spyPlan(t, &spy{made: made}, b),
			Then: spyPlan(t, then, b), Records: 40}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Fit(t.Context(), table(t, numbers, 40))
		var wrong *param.Error
		if !errors.As(err, &wrong) || wrong.Path != "sequence.Config.First" || then.given != nil {
			t.Errorf("%s: %v, the second system was given %v", name, err, then.given)
		}
	}
}

// TestBothStagesArePaidForTogether: under both relations, the ledger and the guarantee name the
// stages of both systems and state their joint price. A ledger that can pay for only one system is
// not changed.
func TestBothStagesArePaidForTogether(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		p := mustPlan(t, r, embedding, adversary)
		ledger := accountant.NewLedger(budget(r))
		gen, err := p.FitOn(t.Context(), ledger, table(t, numbers, 40))
		if err != nil {
			t.Fatal(err)
		}
		text := gen.Guarantee().String()
		var all accountant.Composed
		for _, inner := range []synth.Plan{p.Config().First, p.Config().Then} {
			all.Events = append(all.Events, synth.Total(inner.Stages()...))
			if inner.Total().Upper >= ledger.Epsilon().Upper {
				t.Errorf("%v: both cost ε = %v, %s alone %v", r, ledger.Epsilon(), inner.System(),
					inner.Total())
			}
		}
		for _, stage := range []string{"1 merf: mean embedding", "2 gan: critic step"} {
			if !strings.Contains(text, stage) {
				t.Errorf("%v: the guarantee does not name %q:\n%s", r, stage, text)
			}
		}
		both, err := accountant.Epsilon(all, 1e-5, r)
		if err != nil {
			t.Fatal(err)
		}
		if got := ledger.Epsilon().Upper; got < both.Upper*(1-1e-9) || got > both.Upper*(1+1e-9) {
			t.Errorf("%v: the ledger says ε = %v, both systems cost %v", r, got, both.Upper)
		}
		if got := p.Total().Upper; got < 0.98*3 || got > 3 {
			t.Errorf("%v: got ε = %v, want the budget of 3, less at most 2 per cent", r, got)
		}
		poor := accountant.NewLedger(accountant.Budget{Epsilon: p.Config().First.Total().Upper * 1.01,
			Delta: 1e-5, Relation: r})
		if _, err := p.FitOn(t.Context(), poor, table(t, numbers, 40)); !errors.Is(err,
			accountant.ErrBudgetExceeded) || len(poor.Entries()) != 0 {
			t.Errorf("%v: a ledger for the first system alone: got error %v and entries %v",
				r, err, poor.Entries())
		}
	}
}

// TestRefusals: Plan refuses systems that do not fit together. A plan that follows another system
// cannot run by itself.
func TestRefusals(t *testing.T) {
	b := budget(accountant.AddOrRemoveOne)
	plan := func(s records.Schema, r accountant.Relation, make planner) synth.Plan {
		t.Helper()
		p, err := make(s, accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: r}, 40)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	labelled := numbers.WithLabels("a", "b")
	add := plan(numbers, accountant.AddOrRemoveOne, embedding)
	gans := plan(numbers, accountant.AddOrRemoveOne, adversary)
	dpgms := plan(labelled, accountant.AddOrRemoveOne, func(s records.Schema, b accountant.Budget,
		n int) (synth.Plan, error) {
		p, err := planOf(s, b, n, embedding, mixture) // its records have no labels
		return synth.PlanOf(p, err)
	})
	for name, c := range map[string]sequence.Config{
		"no first":       {Budget: b, Then: gans},
		"no second":      {Budget: b, First: add},
		"a nil plan":     {Budget: b, First: (*gan.Plan)(nil), Then: gans},
		"another schema": {Budget: b, First: plan(labelled, b.Relation, embedding), Then: gans},
		"too few":        {Budget: b, First: add, Then: gans, Records: -1},
		"too many":       {Budget: b, First: add, Then: gans, Records: 1 << 30},
		"no labels":      {Budget: b, First: dpgms, Then: plan(labelled, b.Relation, adversary)},
		"another relation": {Budget: b, Then: gans,
			First: plan(numbers, accountant.ReplaceOne, embedding)},
		"another one, second": {Budget: b, First: add,
			Then: plan(numbers, accountant.ReplaceOne, adversary)},
	} {
		var wrong *param.Error
		if _, err := c.Plan(); !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	dear := b
	dear.Epsilon = 1.2
	c := sequence.Config{Budget: dear, First: add, Then: plan(numbers, b.Relation, adversary)}
	if _, err := c.Plan(); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a budget for one system: got error %v, want ErrBudgetExceeded", err)
	}
	dear.Epsilon = 1
	_, err := sequence.Config{Budget: dear, First: add}.Within(
		func(b accountant.Budget) (synth.Plan, error) { return adversary(numbers, b, 40) })
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a first system that leaves no budget: got error %v, want ErrBudgetExceeded", err)
	}
	for _, alone := range []synth.Plan{gans, plan(numbers, b.Relation, mixture)} {
		ledger := accountant.NewLedger(b)
		_, err := alone.FitOn(t.Context(), ledger, table(t, numbers, 40))
		var wrong *param.Error
		if !errors.As(err, &wrong) || len(ledger.Entries()) != 0 {
			t.Errorf("%s by itself: got error %v and entries %v, want *param.Error",
				alone.System(), err, ledger.Entries())
		}
	}
}

// TestStopsBetween: a run that is stopped in the second system does not repeat the draws of the
// first system. It continues from the second system's state, which the checkpoint keeps while the
// first system's generator is made again.
func TestStopsBetween(t *testing.T) {
	p := mustPlan(t, accountant.AddOrRemoveOne, embedding, adversary)
	data := table(t, numbers, 40)
	path := filepath.Join(t.TempDir(), "run")
	stop := func(stage string, step int) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := p.Fit(ctx, data, synth.CheckpointEvery(path, 1),
			synth.OnProgress(func(at synth.Progress) {
				if at.Stage == stage && at.Step == step {
					cancel()
				}
			}))
		return err
	}
	kept := func() (second bool, done int, taken []int) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := synth.DecodeFile(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var h struct {
			Taken []int `json:"taken"`
			State struct {
				Parts []struct {
					Kept   bool `json:"kept"`
					Header struct {
						Done int `json:"done"`
					} `json:"header"`
				} `json:"parts"`
			} `json:"state"`
		}
		if err := json.Unmarshal(f.Header, &h); err != nil {
			t.Fatal(err)
		}
		if len(h.State.Parts) != 2 {
			t.Fatalf("want the states of two systems, got %s", f.Header)
		}
		return h.State.Parts[1].Kept, h.State.Parts[1].Header.Done, h.Taken
	}
	for step := 1; step <= 3; step++ {
		if err := stop("2 gan: critic step", step); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		second, done, taken := kept()
		if !second || done != step || taken[0] != 8 || taken[1] != step {
			t.Errorf("stopped after step %d: got second state %v, %d steps done, %v taken", step, second,
				done, taken)
		}
	}
	if err := stop("", 0); err != nil {
		t.Fatal(err)
	}
}

// TestThreeSystems: a sequence can be the first system of another one.
func TestThreeSystems(t *testing.T) {
	b := budget(accountant.AddOrRemoveOne)
	two := func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
		p, err := planOf(s, b, n, embedding, mixture)
		return synth.PlanOf(p, err)
	}
	p, err := planOf(numbers, b, 40, two, adversary)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	gen, err := p.Fit(t.Context(), table(t, numbers, 40), synth.Checkpoint(path))
	if err != nil {
		t.Fatal(err)
	}
	if text := gen.Guarantee().String(); !strings.Contains(text,
		"1 sequence: 1 merf: mean embedding") || !strings.Contains(text, "2 gan: critic step") {
		t.Errorf("got a wrong guarantee:\n%s", text)
	}
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	all := synth.Systems{sequence.System(systems)}
	if _, err := all.Load(&file); err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := all.ReadPlan(text)
	if err != nil || again.String() != p.String() {
		t.Errorf("the plan is not read back: error %v\n%v", err, again)
	}
}

// TestWarmRecordsMatter: the second system learns from the first system's records. After a warm
// start on them, and one step of almost pure noise, its generator draws similar records.
func TestWarmRecordsMatter(t *testing.T) {
	warm := func(steps int) float64 {
		w := &spy{made: func(*synth.Run) records.Data {
			flat := make([]float32, 40*numbers.Dim())
			for i := range flat {
				flat[i] = 2
			}
			d, err := records.FromFlat(numbers, flat)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}}
		b := budget(accountant.AddOrRemoveOne)
		then, err := gan.Config{Schema: numbers, Budget: b,
			Critic:    models.MLP{Hidden: []int{8}, Activation: models.LeakyReLU},
			Generator: models.MLP{}, Latent: 2, Follows: true, WarmSteps: steps, CriticSteps: 2,
			Train: sgd.Config{ClipNorm: 1e-6, SamplingProbability: 0.01, Steps: 1,
				NoiseMultiplier: 20, Optimizer: sgd.Adam(0.01)},
			GeneratorOptimizer: sgd.Adam(0.05), Loss: models.Wasserstein}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		p, err := sequence.Config{Budget: b, First: spyPlan(t, w, b), Then: then, Records: 40}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		gen, err := p.Fit(t.Context(), table(t, numbers, 40))
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := gen.Sample(t.Context(), 200, synth.Seed(1))
		if err != nil {
			t.Fatal(err)
		}
		sum, batch := 0.0, device.Batch{}
		drawn.Range(0, 200, &batch)
		for _, v := range batch.Dense.Data {
			sum += float64(v)
		}
		return sum / float64(len(batch.Dense.Data))
	}
	if short, long := warm(1), warm(200); long < short+0.5 {
		t.Errorf("got mean %.3g after 200 warm steps on records of 2, %.3g after one", long, short)
	}
}
