package pool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/pool"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var (
	errRefused = errors.New("refused")
	two        = records.Interval(2, 0, 1)
)

// custom is a user-defined system of records of two numbers.
type custom struct {
	releases records.Schema // of the generator's records
	refusal  error          // of Judge
}

func (w custom) Title() string                    { return "custom" }
func (w custom) Notes() []string                  { return nil }
func (w custom) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (w custom) Releases() records.Schema         { return w.releases }
func (w custom) Judge(*synth.Run) error           { return w.refusal }
func (w custom) Fit(context.Context, *synth.Run) (synth.Model, error) {
	return customModel{w.releases}, nil
}

// plan returns the plan of one Gaussian release, which the system does not make.
func (w custom) plan() (synth.Plan, error) {
	p, err := synth.NewProgram("custom", two, budget, []synth.Stage{{Purpose: "look",
		Event: accountant.Gaussian{NoiseMultiplier: 20}, Count: 1}}, w)
	return &struct{ *synth.Program }{&p}, err
}

// customModel is written to a file as its schema.
type customModel struct{ schema records.Schema }

func (m customModel) Schema() records.Schema { return m.schema }
func (m customModel) Sampler(synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{}, errors.New("no records")
}
func (m customModel) Encode() (*synth.File, error) { return synth.NewFile(m.schema) }

// withCustom is a list of the system of this package with a custom system.
var withCustom = synth.Systems{pool.System(synth.Systems{{Name: "custom",
	Plan: func(synth.SavedPlan) (synth.Plan, error) { return custom{releases: two}.plan() },
	Model: func(f *synth.File, _ synth.Loading) (synth.Model, error) {
		var m customModel
		err := f.Decode(&m.schema)
		return m, err
	}}})}

// configOf returns a pool of custom systems.
func configOf(t *testing.T, list ...custom) pool.Config {
	t.Helper()
	c := pool.Config{Budget: budget}
	for _, w := range list {
		p, err := w.plan()
		if err != nil {
			t.Fatal(err)
		}
		c.Of = append(c.Of, p)
	}
	return c
}

func fitted(t *testing.T, c pool.Config, ledger *accountant.Ledger) (*synth.Generator, error) {
	t.Helper()
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromFlat(two, make([]float32, 20))
	if err != nil {
		t.Fatal(err)
	}
	return p.FitOn(t.Context(), ledger, data)
}

// TestEverySystemJudges checks that the refusal of any system ends the run before anything is paid
// for.
func TestEverySystemJudges(t *testing.T) {
	for i := range 3 {
		list := slices.Repeat([]custom{{releases: two}}, 3)
		list[i].refusal = errRefused
		ledger := accountant.NewLedger(budget)
		_, err := fitted(t, configOf(t, list...), ledger)
		if !errors.Is(err, errRefused) || len(ledger.Entries()) != 0 {
			t.Errorf("system %d refuses: got error %v and %d ledger entries, want no entry", i+1, err,
				len(ledger.Entries()))
		}
	}
}

// TestReleasesOfAnotherSchema checks that a system is refused if its generators draw records of
// another schema than its plan's.
func TestReleasesOfAnotherSchema(t *testing.T) {
	c := configOf(t, custom{releases: two}, custom{releases: records.Interval(1, 0, 1)})
	_, err := c.Plan()
	var wrong *param.Error
	if !errors.As(err, &wrong) || wrong.Path != "pool.Config.Of[1]" {
		t.Errorf("got %v, want a *param.Error of pool.Config.Of[1]", err)
	}
}

// TestChangedPlans changes single values of a written plan. Reading it must be an error.
func TestChangedPlans(t *testing.T) {
	p, err := configOf(t, custom{releases: two}, custom{releases: two}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	read := func(change func(plan, config map[string]any)) error {
		var j map[string]any
		if err := json.Unmarshal(text, &j); err != nil {
			t.Fatal(err)
		}
		change(j, j["config"].(map[string]any))
		changed, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		_, err = withCustom.ReadPlan(changed)
		return err
	}
	if err := read(func(_, _ map[string]any) {}); err != nil {
		t.Fatalf("an unchanged plan: %v", err)
	}
	for name, change := range map[string]func(plan, config map[string]any){
		"another schema": func(plan, _ map[string]any) { plan["schema"] = records.Interval(3, 0, 1) },
		"no shares":      func(_, config map[string]any) { delete(config, "shares") },
		"nine systems": func(_, config map[string]any) {
			for _, list := range []string{"plans", "shares"} {
				config[list] = slices.Repeat(config[list].([]any)[:1], 9)
			}
		},
	} {
		if err := read(change); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// TestChangedGenerators changes single values of a saved generator. Reading it must be an error.
func TestChangedGenerators(t *testing.T) {
	gen, err := fitted(t, configOf(t, custom{releases: two}, custom{releases: two}),
		accountant.NewLedger(budget))
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := gen.Save(&saved); err != nil {
		t.Fatal(err)
	}
	read := func(change func(model map[string]any)) error {
		f, err := synth.DecodeFile(bytes.NewReader(saved.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var h map[string]any
		if err := json.Unmarshal(f.Header, &h); err != nil {
			t.Fatal(err)
		}
		change(h["model"].(map[string]any))
		if f.Header, err = json.Marshal(h); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		_, err = withCustom.Load(&out)
		return err
	}
	shares := func(list ...float64) func(map[string]any) {
		return func(model map[string]any) { model["shares"] = list }
	}
	if err := read(shares(0.25, 0.75)); err != nil {
		t.Fatalf("other shares of sum 1: %v", err)
	}
	for name, change := range map[string]func(model map[string]any){
		"a negative share": shares(1.5, -0.5),
		"a share of 0":     shares(1, 0),
		"a small sum":      shares(0.5, 0.4),
		"a large sum":      shares(0.5, 0.6),
		"another schema": func(model map[string]any) {
			model["models"].([]any)[1].(map[string]any)["model"] = records.Interval(3, 0, 1)
		},
	} {
		if err := read(change); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}
