package compose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var (
	budgetOf3  = accountant.Budget{Epsilon: 3, Delta: 1e-5}
	errRefused = errors.New("refused")
	errNoDraw  = errors.New("no records")
)

// custom is a user-defined system. Its generator returns the records of made, and an error if made
// is nil.
type custom struct {
	schema   records.Schema
	releases records.Schema // of the generator's records
	judge    func(r *synth.Run) error
	made     func(r *synth.Run) records.Data
}

func (w *custom) Title() string                    { return "custom" }
func (w *custom) Notes() []string                  { return nil }
func (w *custom) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (w *custom) Releases() records.Schema         { return w.releases }
func (w *custom) Judge(r *synth.Run) error {
	if w.judge == nil {
		return nil
	}
	return w.judge(r)
}
func (w *custom) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	m := customModel{schema: w.releases}
	if w.made != nil {
		m.data = w.made(r)
	}
	return m, nil
}

// customModel is written to a file as its schema.
type customModel struct {
	schema records.Schema
	data   records.Data
}

func (m customModel) Schema() records.Schema { return m.schema }
func (m customModel) Sampler(synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: m.schema, Next: func(int) (records.Data, error) {
		if m.data == nil {
			return nil, errNoDraw
		}
		return m.data, nil
	}}, nil
}
func (m customModel) Encode() (*synth.File, error) { return synth.NewFile(m.schema) }

// withCustom is a list of the system of this package with a custom system.
var withCustom = compose.Systems(synth.Systems{{Name: "custom",
	Plan: func(s synth.SavedPlan) (synth.Plan, error) { return customPlan(&custom{}, s.Schema) },
	Model: func(f *synth.File, _ synth.Loading) (synth.Model, error) {
		var m customModel
		err := f.Decode(&m.schema)
		return m, err
	}}})

// small returns a schema of a number and a label.
func small(t *testing.T) records.Schema {
	t.Helper()
	return schemaOf(t, records.Numeric("x", 0, 10), records.Label("class", "u", "v"))
}

// onRanks returns a run of a custom system, which releases once, on ranks of the small schema.
func onRanks(t *testing.T, w *custom) compose.Ranks {
	t.Helper()
	ranks := must(compose.RankSchema(small(t)))(t)
	p := must(customPlan(w, ranks))(t)
	return compose.Ranks{NoiseMultiplier: 20, Cells: 12, Of: compose.Fixed(p)}
}

// customPlan returns the plan of one Gaussian release, which the system does not make.
func customPlan(w *custom, s records.Schema) (synth.Plan, error) {
	w.schema = s
	if w.releases.Dim() == 0 {
		w.releases = s
	}
	p, err := synth.NewProgram("custom", s, budgetOf3, []synth.Stage{{Purpose: "look",
		Event: accountant.Gaussian{NoiseMultiplier: 20}, Count: 1}}, w)
	return &struct{ *synth.Program }{&p}, err
}

// fittedRanks fits a custom system on ranks of a few records, and charges the ledger for it.
func fittedRanks(t *testing.T, w *custom, ledger *ledger.Ledger) (*synth.Generator, error) {
	t.Helper()
	p := must(onRanks(t, w).PlanFor(small(t), budgetOf3))(t)
	var rows [][]any
	for i := range 40 {
		rows = append(rows, []any{float64(i) / 4, []string{"u", "v"}[i%2]})
	}
	data := must(records.FromValues(small(t), rows...))(t)
	return p.FitOn(t.Context(), ledger, data)
}

// TestJudgeSeesRanks checks that the other system judges records of ranks, and that its error ends
// the run before anything is paid for.
func TestJudgeSeesRanks(t *testing.T) {
	var seen records.Schema
	w := &custom{judge: func(r *synth.Run) error {
		seen = r.Data.Schema()
		return errRefused
	}}
	l := ledger.New(budgetOf3)
	_, err := fittedRanks(t, w, l)
	if !errors.Is(err, errRefused) || len(l.Entries()) != 0 {
		t.Errorf("got error %v and %d ledger entries, want the judge's error and no entry", err,
			len(l.Entries()))
	}
	if !seen.Equal(w.schema) {
		t.Errorf("the other system judges records of the schema %v, want %v", seen, w.schema)
	}
}

// wrapped is a user-defined type that hides the wrapped data.
type wrapped struct {
	records.Data
	_ int
}

// TestPrivateRecordsAsSyntheticOnes checks that a system whose generator returns the private
// records is refused. The mapping back would be computed from them.
func TestPrivateRecordsAsSyntheticOnes(t *testing.T) {
	for name, made := range map[string]func(r *synth.Run) records.Data{
		"all of them":  func(r *synth.Run) records.Data { return r.Data },
		"in a wrapper": func(r *synth.Run) records.Data { return wrapped{Data: r.Data} },
	} {
		_, err := fittedRanks(t, &custom{made: made}, ledger.New(budgetOf3))
		var wrong *param.Error
		if !errors.As(err, &wrong) || wrong.Path != "compose.Ranks.Of" {
			t.Errorf("%s: got %v, want a *param.Error of compose.Ranks.Of", name, err)
		}
	}
}

// TestRanksOfAnotherSchema checks that a system is refused if its generators draw records of
// another schema than its plan's, here records without labels.
func TestRanksOfAnotherSchema(t *testing.T) {
	unlabelled := schemaOf(t, records.Numeric("x", 0, 1))
	_, err := onRanks(t, &custom{releases: unlabelled}).PlanFor(small(t), budgetOf3)
	var wrong *param.Error
	if !errors.As(err, &wrong) || wrong.Path != "compose.Ranks.Of" {
		t.Errorf("got %v, want a *param.Error of compose.Ranks.Of", err)
	}
}

// TestPlansWithoutNoise checks that reading a plan never calibrates its noise.
func TestPlansWithoutNoise(t *testing.T) {
	p, err := ranksOf(embedding(40)).PlanFor(small(t), budgetOf3)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	all := compose.Systems(systems)
	if _, err := all.ReadPlan(text); err != nil {
		t.Fatalf("an unchanged plan: %v", err)
	}
	var j map[string]any
	if err := json.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	settings := j["config"].(map[string]any)["settings"].(map[string]any)
	if _, ok := settings["noise_multiplier"]; !ok {
		t.Fatal("the plan states no noise")
	}
	settings["noise_multiplier"] = 0
	if text, err = json.Marshal(j); err != nil {
		t.Fatal(err)
	}
	if _, err := all.ReadPlan(text); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("a plan without noise: got %v, want ErrFormat", err)
	}
}

// TestChangedGenerators changes single values of a saved generator. Reading it must be an error.
func TestChangedGeneratorsOfRanks(t *testing.T) {
	gen, err := fittedRanks(t, &custom{}, ledger.New(budgetOf3))
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := gen.Save(&saved); err != nil {
		t.Fatal(err)
	}
	read := func(change func(f *synth.File)) error {
		f, err := synth.DecodeFile(bytes.NewReader(saved.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		_, err = withCustom.Load(&out)
		return err
	}
	fraction := func(p float64) func(f *synth.File) {
		return func(f *synth.File) { copy(f.Sections[0].Data, synth.Floats([]float64{p})) }
	}
	quantile := func(k int, x float32) func(f *synth.File) {
		return func(f *synth.File) { copy(f.Sections[1].Data[4*k:], synth.Floats([]float32{x})) }
	}
	if err := read(func(*synth.File) {}); err != nil {
		t.Fatalf("an unchanged generator: %v", err)
	}
	cells := func(n int) func(f *synth.File) {
		return func(f *synth.File) {
			old := []byte(`"cells":`)
			if !bytes.Contains(f.Header, old) {
				t.Fatal("the header has no cells")
			}
			at := bytes.Index(f.Header, old) + len(old)
			rest := bytes.TrimLeft(f.Header[at:], "0123456789")
			f.Header = append(append(bytes.Clone(f.Header[:at]), fmt.Sprint(n)...), rest...)
		}
	}
	for name, change := range map[string]func(f *synth.File){
		"one cell":            cells(1),
		"too many cells":      cells(4095),
		"other cells":         cells(9),
		"a negative fraction": fraction(-0.01),
		"a large fraction":    fraction(2.01),
		"a negative quantile": quantile(0, -0.01),
		"a large quantile":    quantile(1024, 1.01),
		"a falling quantile":  quantile(512, 0.1),
		"a model of numbers, not ranks": func(f *synth.File) {
			var h map[string]any
			if err := json.Unmarshal(f.Header, &h); err != nil {
				t.Fatal(err)
			}
			m := h["model"].(map[string]any)
			m["models"].([]any)[0].(map[string]any)["model"] = m["released"].(map[string]any)["schema"]
			if f.Header, err = json.Marshal(h); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if err := read(change); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}
