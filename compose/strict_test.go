package compose_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// edited returns a JSON object with a change of the object at a path in it.
func edited(t *testing.T, text []byte, change func(map[string]any), path ...string) []byte {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	at := whole
	for _, key := range path {
		at = at[key].(map[string]any)
	}
	change(at)
	return must(json.Marshal(whole))(t)
}

// TestFilesOfCompositionsAreStrict: a plan or a generator of any composition is refused if its
// settings, or what it releases, have a field that nobody knows, have another type, or lack what
// every written file has.
func TestFilesOfCompositionsAreStrict(t *testing.T) {
	b := accountant.Budget{Epsilon: 8, Delta: 1e-5}
	var rows [][]any
	for i := range 40 {
		rows = append(rows, []any{float64(i) / 4, []string{"u", "v"}[i%2]})
	}
	data := records.Data(must(records.FromValues(small(t), rows...))(t))
	shops, aim := shopOf(t, customers(20, 1)), tables.AIM{Rounds: 1}
	all := compose.Systems(append(tables.Systems(), systems...))
	for name, c := range map[string]struct {
		of   synth.Design
		data records.Data
		zero []string // settings that no written plan has as 0, or empty
	}{
		"ranks":   {ranksOf(embedding(40)), data, []string{"cells", "noise_multiplier"}},
		"pool":    {poolOf(embedding(40), embedding(40)), data, []string{"shares"}},
		"labels":  {labelsOf(embedding(40), 40), data, []string{"rule", "features"}},
		"changes": {changesOf(small(t), 40), data, []string{"candidates", "share", "records"}},
		"levels":  {compose.Levels{Of: embedding(900)}, towns(t, usual), []string{"noise_multiplier"}},
		"linked": {compose.Linked{Tables: shop(t), Of: aim, Each: aim}, shops,
			[]string{"tables"}},
	} {
		p := must(c.of.PlanFor(c.data.Schema(), b))(t)
		text := must(p.MarshalJSON())(t)
		refused := func(what string, change func(map[string]any), path ...string) {
			t.Helper()
			if _, err := all.ReadPlan(edited(t, text, change, path...)); !errors.Is(err, synth.ErrFormat) {
				t.Errorf("%s: a plan with %s: %v, want ErrFormat", name, what, err)
			}
		}
		if _, err := all.ReadPlan(edited(t, text, func(map[string]any) {})); err != nil {
			t.Fatalf("%s: the plan as it was written: %v", name, err)
		}
		unknown := func(j map[string]any) { j["unknown"] = 1 }
		refused("an unknown setting", unknown, "config", "settings")
		refused("an unknown field", unknown, "config")
		refused("settings of another type", func(j map[string]any) { j["settings"] = 7 }, "config")
		refused("no parts", func(j map[string]any) { j["plans"] = []any{} }, "config")
		for _, key := range c.zero {
			refused("no "+key, func(j map[string]any) {
				if _, ok := j[key]; !ok {
					t.Errorf("%s: no plan has %s", name, key)
				}
				delete(j, key)
			}, "config", "settings")
		}

		l := ledger.New(b, ledger.WithUnit(records.UnitOf(c.data)))
		g := must(p.FitOn(t.Context(), l, c.data))(t)
		var saved bytes.Buffer
		if err := g.Save(&saved); err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func(model map[string]any){
			"": func(map[string]any) {},
			"an unknown field": func(j map[string]any) {
				j["released"].(map[string]any)["unknown"] = 1
			},
			"another unknown field":     unknown,
			"a release of another type": func(j map[string]any) { j["released"] = 7 },
			"no models":                 func(j map[string]any) { j["models"] = []any{} },
			"an empty release":          func(j map[string]any) { j["released"] = map[string]any{} },
			"models of other rows": func(j map[string]any) {
				of, other := j["models"].([]any), schemaOf(t, records.Flag("other", "no", "yes"))
				own := of[len(of)-1].(map[string]any)["model"].(map[string]any)
				if _, ok := own["schema"]; !ok {
					t.Errorf("%s: the header of a model has no schema", name)
				}
				own["schema"] = other
			},
		} {
			f := must(synth.DecodeFile(bytes.NewReader(saved.Bytes())))(t)
			f.Header = edited(t, f.Header, change, "model")
			var out bytes.Buffer
			if err := f.Write(&out); err != nil {
				t.Fatal(err)
			}
			if _, err := all.Load(&out); errors.Is(err, synth.ErrFormat) != (what != "") {
				t.Errorf("%s: a generator with %s: %v", name, what, err)
			}
		}
	}
}

// TestDrawnTablesAreThoseOfTheirModels: a generator of tables is refused if its models are of rows
// that the tables do not have, and one of another system has no tables.
func TestDrawnTablesAreThoseOfTheirModels(t *testing.T) {
	b, aim := accountant.Budget{Epsilon: 8, Delta: 1e-5}, tables.AIM{Rounds: 1}
	shops := shopOf(t, customers(20, 1))
	p := must(compose.Linked{Tables: shop(t), Of: aim, Each: aim}.PlanFor(shops.Schema(), b))(t)
	g := must(p.Fit(t.Context(), shops))(t)
	var saved bytes.Buffer
	if err := g.Save(&saved); err != nil {
		t.Fatal(err)
	}
	all := compose.Systems(tables.Systems())
	for most, good := range map[float64]bool{6: true, 5: false} {
		f := must(synth.DecodeFile(bytes.NewReader(saved.Bytes())))(t)
		f.Header = edited(t, f.Header, func(j map[string]any) {
			child := j["children"].([]any)[0].(map[string]any)
			if child["most"] != 6.0 {
				t.Errorf("a customer has at most %v orders", child["most"])
			}
			child["most"] = most
		}, "model", "released", "tables")
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		if _, err := all.Load(&out); (err == nil) != good || !good && !errors.Is(err, synth.ErrFormat) {
			t.Errorf("tables of at most %v orders: %v", most, err)
		}
	}
	part := must(compose.Part(g, 0))(t)
	var wrong *param.Error
	if _, err := drawnTables(t.Context(), part, 5); !errors.As(err, &wrong) ||
		wrong.Path != "compose.DrawTables.g" {
		t.Errorf("tables of the system of the root alone: %v", err)
	}
}
