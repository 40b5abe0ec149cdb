package synthtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/synth"
)

// testBill checks that a plan states its price in text and in JSON, and that its JSON reads back.
func (s Subject) testBill(t *testing.T) {
	for _, r := range relations {
		p, _ := s.quickest(t, budgetOf(r))
		text := p.String()
		for _, stage := range p.Stages() {
			if !strings.Contains(text, stage.Purpose) {
				t.Errorf("the plan's text does not name %q:\n%s", stage.Purpose, text)
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
		file, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		checkKeys(t, file)
		again, err := synth.Systems{s.System}.ReadPlan(file)
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != text || again.Total() != p.Total() {
			t.Errorf("the plan read back is\n%s\nwant\n%s", again, text)
		}
		second, err := json.Marshal(again)
		if err != nil || !bytes.Equal(second, file) {
			t.Errorf("the plan read back is written with error %v as\n%s\nwant\n%s", err, second, file)
		}
		s.hostilePlans(t, file)
	}
}

// checkKeys checks that names in JSON have one style: lower case, without hyphens and spaces.
func checkKeys(t *testing.T, file []byte) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				if key != strings.ToLower(key) || strings.ContainsAny(key, "- ") {
					t.Errorf("JSON contains the name %q, want lower case without hyphens and spaces", key)
				}
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
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
// evenly over all values and replacements.
func mutants(t *testing.T, file []byte, n int) [][]byte {
	t.Helper()
	var doc any
	parse := func() {
		if err := json.Unmarshal(file, &doc); err != nil {
			t.Fatal(err)
		}
	}
	parse()
	values := []any{nil, -1, 0, 1e300, "x", []any{}, map[string]any{}, true, math.MaxInt32}
	all := 0 // change counts the values of the document and replaces none
	change(doc, &all, -1, nil)
	all *= len(values)
	n = min(n, all)
	out := make([][]byte, n)
	for j := range out {
		i, at := j*all/n, 0
		parse()
		change(doc, &at, i/len(values), values[i%len(values)])
		bad, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		out[j] = bad
	}
	return out
}

// change replaces value number k of the document and reports whether it exists.
func change(doc any, at *int, k int, value any) bool {
	switch v := doc.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if *at == k {
				v[key] = value
				return true
			}
			*at++
			if change(v[key], at, k, value) {
				return true
			}
		}
	case []any:
		for i := range v {
			if *at == k {
				v[i] = value
				return true
			}
			*at++
			if change(v[i], at, k, value) {
				return true
			}
		}
	}
	return false
}

// testMistakes checks that missing and unsuitable arguments are refused before anything is
// reserved.
func (s Subject) testMistakes(t *testing.T) {
	b := budgetOf(accountant.AddOrRemoveOne)
	p, data := s.quickest(t, b)
	ctx := t.Context()
	wrong := func(what string, err error, ledger *accountant.Ledger) {
		t.Helper()
		var e *param.Error
		if !errors.As(err, &e) && !errors.Is(err, synth.ErrSchema) {
			t.Errorf("%s: %v", what, err)
		}
		if ledger != nil && (len(ledger.Entries()) > 0 || len(ledger.Children()) > 0) {
			t.Errorf("%s: something was reserved", what)
		}
	}
	ledger := accountant.NewLedger(b)
	_, err := p.FitOn(ctx, ledger, nil)
	wrong("no data", err, ledger)
	_, err = p.Fit(ctx, nil)
	wrong("no data of the plan's ledger", err, nil)
	_, err = p.FitOn(ctx, nil, data)
	wrong("no ledger", err, nil)
	for what, l := range map[string]*accountant.Ledger{
		"another relation": accountant.NewLedger(budgetOf(accountant.ReplaceOne)),
		"another unit":     accountant.NewLedger(b, accountant.WithUnit("user")),
	} {
		_, err = p.FitOn(ctx, l, data)
		wrong(what, err, l)
	}
	for _, k := range kinds(t) {
		if !k.schema.Equal(p.Schema()) {
			_, err = p.FitOn(ctx, ledger, sample(t, k.schema, 3, 1))
			wrong("another schema", err, ledger)
		}
	}
	_, err = p.FitOn(ctx, ledger, data, synth.OnPreview(0, func(int, *synth.Generator) {}))
	wrong("previews after every 0 steps", err, ledger)
	poor := accountant.NewLedger(accountant.Budget{Epsilon: b.Epsilon / 2, Delta: b.Delta})
	if _, err = p.FitOn(ctx, poor, data); !errors.Is(err, accountant.ErrBudgetExceeded) ||
		len(poor.Entries()) > 0 {
		t.Errorf("half the budget: got error %v and entries %v, want ErrBudgetExceeded and none", err,
			poor.Entries())
	}
	gen := fit(t, p, ledger, data, nil, synth.OnProgress(nil), synth.On(nil))
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
