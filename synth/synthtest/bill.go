package synthtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/synth"
)

// testBill checks that a plan states its price in text and in JSON, and that its JSON reads back.
func (s Subject) testBill(t *testing.T) {
	for _, r := range relations {
		p, _ := s.quickest(t, budgetOf(r), 0)
		printed := p.String()
		for _, stage := range p.Stages() {
			if !strings.Contains(printed, stage.Purpose) {
				t.Errorf("the plan's text does not name %q:\n%s", stage.Purpose, printed)
			}
			if !(stage.Epsilon.Upper > 0 && stage.Epsilon.Upper <= p.Total().Upper*(1+1e-9)) {
				t.Errorf("%s costs ε = %v, want a positive price of at most %v", stage.Purpose, stage.Epsilon,
					p.Total())
			}
		}
		if p.Budget() != budgetOf(r) || p.System() != s.System.Name {
			t.Errorf("the plan has the system %s and the budget %v, want those of the subject", p.System(),
				p.Budget())
		}
		if !(p.Total().Upper <= p.Budget().Epsilon && p.Total().Upper > 0.9*p.Budget().Epsilon) {
			t.Errorf("the plan costs ε = %v, want at most the budget of %v and more than 90 %% of it",
				p.Total(), p.Budget().Epsilon)
		}
		file := text(t, p)
		checkNames(t, file)
		s.checkNoise(t, file, p)
		again := must(synth.Systems{s.System}.ReadPlan(file))(t)
		if again.String() != printed || again.Total() != p.Total() {
			t.Errorf("the plan read back is\n%s\nwant\n%s", again, printed)
		}
		if second := text(t, again); !bytes.Equal(second, file) {
			t.Errorf("the plan read back is written as\n%s\nwant\n%s", second, file)
		}
		s.hostilePlans(t, file)
	}
}

// checkNames checks that names in JSON have one style: lower case, without hyphens and spaces.
func checkNames(t *testing.T, file []byte) {
	t.Helper()
	eachValue(parse(t, file), func(name string, _ any, _ func(any)) {
		if name != strings.ToLower(name) || strings.ContainsAny(name, "- ") {
			t.Errorf("JSON contains the name %q, want lower case without hyphens and spaces", name)
		}
	})
}

// checkNoise checks that the noise multiplier of each stage is that of its event, or a number of
// the configuration. If the system reads a multiplier from the configuration, it must refuse a plan
// in which this is 0: see synth.SavedPlan.Decided.
func (s Subject) checkNoise(t *testing.T, file []byte, p synth.Plan) {
	t.Helper()
	doc := parse(t, file).(map[string]any)
	known, settings := map[any]bool{}, map[any]bool{}
	for _, stage := range doc["stages"].([]any) {
		eachValue(stage.(map[string]any)["event"], func(name string, z any, _ func(any)) {
			if name == "noise_multiplier" {
				known[z] = true
			}
		})
	}
	eachValue(doc["config"], func(name string, v any, set func(any)) {
		z, number := v.(float64)
		if settings[z] = number; !number || !known[z] {
			return
		}
		read := func(noise float64) (synth.Plan, error) {
			set(noise)
			defer set(z)
			return synth.Systems{s.System}.ReadPlan(text(t, doc))
		}
		if more, err := read(2 * z); err == nil && more.Total() == p.Total() {
			return // the system computes its noise again
		}
		if _, err := read(0); err == nil {
			t.Errorf("a plan whose %s is 0, not %v, is read", name, z)
		}
	})
	for _, stage := range doc["stages"].([]any) {
		stage := stage.(map[string]any)
		if z, set := stage["noise_multiplier"]; set && !known[z] && !settings[z] {
			t.Errorf("%v states the noise multiplier %v, which its event does not have", stage["purpose"], z)
		}
	}
}

// eachValue visits every value in a document, with its name or "" for an element of a list, and a
// function that replaces it.
func eachValue(doc any, visit func(name string, value any, set func(any))) {
	switch v := doc.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			visit(name, v[name], func(x any) { v[name] = x })
			eachValue(v[name], visit)
		}
	case []any:
		for i := range v {
			visit("", v[i], func(x any) { v[i] = x })
			eachValue(v[i], visit)
		}
	}
}

func parse(t *testing.T, file []byte) (doc any) {
	t.Helper()
	if err := json.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func text(t *testing.T, doc any) []byte {
	t.Helper()
	return must(json.Marshal(doc))(t)
}

// hostilePlans reads 100 plans with one changed value each; lab/hostile reads more. The result must
// be an error, or a plan that costs no more than its budget.
func (s Subject) hostilePlans(t *testing.T, file []byte) {
	t.Helper()
	for i, bad := range mutants(t, file, 100) {
		p, err := synth.Systems{s.System}.ReadPlan(bad)
		if err == nil && !(p.Total().Upper <= p.Budget().Epsilon) {
			t.Errorf("mutant %d costs ε = %v, more than its budget of %v:\n%s", i, p.Total(),
				p.Budget().Epsilon, bad)
		}
	}
}

// mutants returns at most n copies of a document, each with one value replaced. They are spread
// evenly over the values, and over the replacements.
func mutants(t *testing.T, file []byte, n int) [][]byte {
	t.Helper()
	values := []any{nil, -1, 0, 1e300, "x", []any{}, map[string]any{}, true, math.MaxInt32}
	all := 0
	eachValue(parse(t, file), func(string, any, func(any)) { all++ })
	out := make([][]byte, min(n, all*len(values)))
	for j := range out {
		doc, left := parse(t, file), j*all/len(out)
		eachValue(doc, func(_ string, _ any, set func(any)) {
			if left == 0 {
				set(values[j%len(values)])
			}
			left--
		})
		out[j] = text(t, doc)
	}
	return out
}

// testMistakes checks that missing and unsuitable arguments are refused before anything is
// reserved.
func (s Subject) testMistakes(t *testing.T) {
	b := budgetOf(accountant.AddOrRemoveOne)
	p, data := s.quickest(t, b, 0)
	ctx := t.Context()
	wrong := func(what string, err error, paid *ledger.Ledger) {
		t.Helper()
		var e *synth.ParamError
		if !errors.As(err, &e) && !errors.Is(err, synth.ErrSchema) {
			t.Errorf("%s: %v", what, err)
		}
		if paid != nil && (len(paid.Entries()) > 0 || len(paid.Children()) > 0) {
			t.Errorf("%s: something was reserved", what)
		}
	}
	paid := ledger.New(b)
	_, err := p.FitOn(ctx, paid, nil)
	wrong("no data", err, paid)
	_, err = p.Fit(ctx, nil)
	wrong("no data of the plan's ledger", err, nil)
	_, err = p.FitOn(ctx, nil, data)
	wrong("no ledger", err, nil)
	for what, l := range map[string]*ledger.Ledger{
		"another relation": ledger.New(budgetOf(accountant.ReplaceOne)),
		"another unit":     ledger.New(b, ledger.WithUnit("user")),
	} {
		_, err = p.FitOn(ctx, l, data)
		wrong(what, err, l)
	}
	for _, k := range kinds(t) {
		if !k.schema.Equal(p.Schema()) {
			_, err = p.FitOn(ctx, paid, sample(t, k.schema, 3, 1))
			wrong("another schema", err, paid)
		}
	}
	_, err = p.FitOn(ctx, paid, data, synth.OnPreview(0, func(int, *synth.Generator) {}))
	wrong("previews after every 0 steps", err, paid)
	poor := ledger.New(accountant.Budget{Epsilon: b.Epsilon / 2, Delta: b.Delta})
	if _, err = p.FitOn(ctx, poor, data); !errors.Is(err, accountant.ErrBudgetExceeded) ||
		len(poor.Entries()) > 0 {
		t.Errorf("half the budget: got error %v and entries %v, want ErrBudgetExceeded and none", err,
			poor.Entries())
	}
	gen := fit(t, p, paid, data, nil, synth.OnProgress(nil), synth.On(nil))
	for what, opts := range map[string][]synth.DrawOption{
		"cluster": {synth.FromCluster(gen.Clusters())},
		"class":   {synth.OfClass(gen.Schema().Classes())}, "negative class": {synth.OfClass(-2)}} {
		_, err := gen.Sample(ctx, 3, opts...)
		wrong(what, err, nil)
	}
	_, err = gen.Sample(ctx, -1)
	wrong("-1 records", err, nil)
	if text := fmt.Sprintf("%v %+v %s", gen, p, p); text == "" {
		t.Error("generator and plan print nothing")
	}
}
