package compose_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var (
	two = records.Interval(2, 0, 1)
)

// poolOfCustoms returns a pool of custom systems.
func poolOfCustoms(t *testing.T, list ...custom) (c compose.Pool) {
	t.Helper()
	for _, w := range list {
		p := must(customPlan(&w, two))(t)
		c.Of = append(c.Of, compose.Fixed(p))
	}
	return c
}

func fittedPool(t *testing.T, c compose.Pool, ledger *ledger.Ledger) (*synth.Generator, error) {
	t.Helper()
	p := must(c.PlanFor(two, budgetOf3))(t)
	data := must(records.FromFlat(two, make([]float32, 20)))(t)
	return p.FitOn(t.Context(), ledger, data)
}

// TestEverySystemJudges checks that the refusal of any system ends the run before anything is paid
// for.
func TestEverySystemJudges(t *testing.T) {
	for i := range 3 {
		list := slices.Repeat([]custom{{releases: two}}, 3)
		list[i].judge = func(*synth.Run) error { return errRefused }
		l := ledger.New(budgetOf3)
		_, err := fittedPool(t, poolOfCustoms(t, list...), l)
		if !errors.Is(err, errRefused) || len(l.Entries()) != 0 {
			t.Errorf("system %d refuses: got error %v and %d ledger entries, want no entry", i+1, err,
				len(l.Entries()))
		}
	}
}

// TestPoolOfAnotherSchema checks that a system is refused if its generators draw records of
// another schema than its plan's.
func TestPoolOfAnotherSchema(t *testing.T) {
	c := poolOfCustoms(t, custom{releases: two}, custom{releases: records.Interval(1, 0, 1)})
	_, err := c.PlanFor(two, budgetOf3)
	var wrong *param.Error
	if !errors.As(err, &wrong) || wrong.Path != "compose.Pool.Of[1]" {
		t.Errorf("got %v, want a *param.Error of compose.Pool.Of[1]", err)
	}
}

// TestChangedPlans changes single values of a written plan. Reading it must be an error.
func TestChangedPlansOfPools(t *testing.T) {
	p, err := poolOfCustoms(t, custom{releases: two}, custom{releases: two}).PlanFor(two, budgetOf3)
	if err != nil {
		t.Fatal(err)
	}
	text := must(p.MarshalJSON())(t)
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
		"no shares": func(_, config map[string]any) {
			delete(config["settings"].(map[string]any), "shares")
		},
		"nine systems": func(_, config map[string]any) {
			config["plans"] = slices.Repeat(config["plans"].([]any)[:1], 9)
			settings := config["settings"].(map[string]any)
			settings["shares"] = slices.Repeat(settings["shares"].([]any)[:1], 9)
		},
	} {
		if err := read(change); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// TestChangedGenerators changes single values of a saved generator. Reading it must be an error.
func TestChangedGeneratorsOfPools(t *testing.T) {
	gen, err := fittedPool(t, poolOfCustoms(t, custom{releases: two}, custom{releases: two}),
		ledger.New(budgetOf3))
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
		return func(model map[string]any) { model["released"].(map[string]any)["shares"] = list }
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
