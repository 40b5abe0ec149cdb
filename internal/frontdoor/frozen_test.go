package frontdoor_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// scribble changes every float64, int and string that it can reach from a value through exported
// fields, slices and pointers. It returns the number of changes.
func scribble(v reflect.Value, seen map[uintptr]bool) (writes int) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			return scribble(v.Elem(), seen)
		}
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		return scribble(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				writes += scribble(v.Field(i), seen)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			writes += scribble(v.Index(i), seen)
		}
	}
	if !v.CanSet() {
		return writes
	}
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(3*v.Float() + 7)
	case reflect.Int:
		v.SetInt(3*v.Int() + 7)
	case reflect.String:
		v.SetString("changed")
	default:
		return writes
	}
	return writes + 1
}

// scribbled calls every method of x that takes no arguments, and calls scribble on each result. It
// returns the number of changes.
func scribbled(x any) (writes int) {
	v := reflect.ValueOf(x)
	for i := range v.NumMethod() {
		if m := v.Method(i); m.Type().NumIn() == 0 {
			for _, out := range m.Call(nil) {
				writes += scribble(out, map[uintptr]bool{})
			}
		}
	}
	return writes
}

// TestPlansAreFrozen changes the configuration from which a plan was made, and the values that its
// methods return. The plan must not change: Fit runs the configuration that Plan has priced and
// checked.
func TestPlansAreFrozen(t *testing.T) {
	b := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	table := must(records.NewSchema(records.Numeric("a", 0, 1), records.Categorical("c", "x", "y"),
		records.Label("l", "u", "v")))(t)
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 6, Optimizer: sgd.Adam(1e-2)}
	groups := train
	groups.ClipNorm, groups.Clip = 0, sgd.Groups{List: []sgd.Group{
		{Blocks: []int{0, 2, 4}, ClipNorm: 1}, {Blocks: []int{1, 3, 5}, ClipNorm: 0.5}}}
	g := gan.Config{Schema: records.Interval(6, 0, 1), Budget: b, Latent: 8, Train: groups,
		Critic: models.MLP{Hidden: []int{9, 5}}, Generator: models.MLP{Hidden: []int{7}},
	}
	d := dpgm.Config{Schema: records.Image(8, 8), Budget: b,
		Features: rff.RBF{Dim: 20, Bandwidth: 8},
		Cluster:  kmeans.Config{K: 3, Iterations: 3, Share: 0.2, Norm: &kmeans.DPNorm{Max: 6, Bins: 6}},
		Model:    models.VAE{Hidden: []int{4}, Latent: 2}, Train: train}
	s := dpgm.Config{Schema: records.Sets(12, 4), Budget: b, Train: train,
		Model:   models.VAE{Hidden: []int{4}, Latent: 2},
		Cluster: kmeans.Config{K: 2, Iterations: 3, Share: 0.2}, Marginals: &dpgm.Marginals{Share: 0.3}}
	m := merf.Config{Schema: records.Image(8, 8), Budget: b,
		Kernel:    rff.Patches{Dim: 20, Windows: []float64{0.5}, Blur: 1, Low: 1, High: 2},
		Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{7}}}}
	x := mix.Config{Schema: records.Image(8, 8), Budget: b, Mixtures: 40, ClipNorm: 2,
		Sampling: mix.Poisson{Nominal: 12, Degree: 3}, Centers: mix.Centers{Share: 0.3, ClipNorm: 1}}
	a := tables.AIM{Common: tables.Common{Schema: table, Budget: b, Nominal: 1000}}
	l := compose.Labels{Of: privgen.AIM(table, b), Nominal: 1000,
		Features: rff.RBF{Dim: 8, Bandwidth: 1}}
	images := records.Image(8, 8).WithLabels("a", "b")
	u := compose.Changes{Of: m,
		Candidates: []compose.Change{{}, {Contrast: compose.DefaultContrast}, {Distortion: 0.5}}}
	q := compose.Ranks{Of: merf.Config{Kernel: rff.RBF{Dim: 10, Bandwidth: 1},
		Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{7}}}}}
	pooled := compose.Pool{Shares: []float64{2, 1}, Of: []synth.Design{
		privgen.AIM(table, b).Nominal(1000), privgen.MERF(table, b).Nominal(1000)}}
	for name, of := range map[string]struct {
		config any
		plan   func() (privgen.Plan, error)
	}{
		"gan":          {&g, func() (privgen.Plan, error) { return synth.PlanOf(g.Plan()) }},
		"dpgm":         {&d, func() (privgen.Plan, error) { return synth.PlanOf(d.Plan()) }},
		"dpgm of sets": {&s, func() (privgen.Plan, error) { return synth.PlanOf(s.Plan()) }},
		"merf":         {&m, func() (privgen.Plan, error) { return synth.PlanOf(m.Plan()) }},
		"mix":          {&x, func() (privgen.Plan, error) { return synth.PlanOf(x.Plan()) }},
		"aim":          {&a, func() (privgen.Plan, error) { return synth.PlanOf(a.Plan()) }},
		"labels":       {&l, func() (privgen.Plan, error) { return l.PlanFor(table, b) }},
		"ranks":        {&q, func() (privgen.Plan, error) { return q.PlanFor(table, b) }},
		"changes":      {&u, func() (privgen.Plan, error) { return u.PlanFor(images, b) }},
		"pool":         {&pooled, func() (privgen.Plan, error) { return pooled.PlanFor(table, b) }},
	} {
		p, err := of.plan()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before := [2]string{planJSON(t, p), p.String()}
		writes := scribbled(p)
		if of.config != nil {
			writes += scribble(reflect.ValueOf(of.config), map[uintptr]bool{})
		}
		if after := [2]string{planJSON(t, p), p.String()}; after != before {
			t.Errorf("%s: changes to the configuration or results changed the plan: got\n%s\nwant\n%s",
				name, after, before)
		}
		if writes < 5 {
			t.Errorf("%s: only %d values were changed: the test has no power", name, writes)
		}
	}
}

// TestGuaranteesAreFrozen changes the values that a generator and a ledger return. Their guarantees
// must not change.
func TestGuaranteesAreFrozen(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 3, Delta: 1e-5}
	data := must(records.FromFlat(s, []float32{.1, .2, .3, .4, .5, .6, .7, .8}))(t)
	p := must(merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 12, Bandwidth: 1},
		Generator: merf.GeneratorConfig{Steps: 2, Batch: 8, Latent: 2,
			Architecture: models.MLP{Hidden: []int{4}}}}.Plan())(t)
	l := ledger.New(b)
	g := must(p.FitOn(t.Context(), l, data))(t)
	promised := func() (list [4]string) {
		for i, of := range []any{g.Guarantee(), l.Guarantee(), l, l.Entries()} {
			text := must(json.Marshal(of))(t)
			list[i] = string(text)
		}
		return list
	}
	before, writes := promised(), 0
	for _, of := range []any{g.Guarantee(), l.Guarantee(), l.Entries(), l.Event()} {
		writes += scribble(reflect.ValueOf(of), map[uintptr]bool{})
	}
	if after := promised(); after != before {
		t.Errorf("changes to results changed the guarantees: got\n%s\nwant\n%s", after, before)
	}
	if writes < 10 {
		t.Errorf("only %d values were changed: the test has no power", writes)
	}
}

func planJSON(t *testing.T, p privgen.Plan) string {
	t.Helper()
	text := must(json.Marshal(p))(t)
	return string(text)
}
