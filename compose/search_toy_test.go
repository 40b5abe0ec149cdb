package compose_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"weak"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// toy is a system whose generator is one noisy number: the number of records.
type toy struct {
	noise    float64
	relation accountant.Relation
	quirk    func(t *toy, r *synth.Run) error // runs before the release; may be nil
	log      *fits
	refuses  error // the result of Judge
}

// fits records the trials that ran. No search reveals them.
type fits struct {
	mu     sync.Mutex
	number int
	models []weak.Pointer[toyModel]
}

type toyModel struct {
	schema records.Schema
	value  float64
}

var errToy = errors.New("the toy broke")

func (w *toy) Title() string                    { return "a number" }
func (w *toy) Notes() []string                  { return nil }
func (w *toy) Config() (json.RawMessage, error) { return json.Marshal(w.noise) }

func (w *toy) Judge(*synth.Run) error { return w.refuses }

func (w *toy) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	w.log.mu.Lock()
	w.log.number++
	w.log.mu.Unlock()
	if w.quirk != nil {
		if err := w.quirk(w, r); err != nil {
			return nil, err
		}
	}
	grant, err := r.Allowance("count").Next()
	if err != nil {
		return nil, err
	}
	sum := mechanism.NewFixedSum(1, mechanism.GridFor(w.noise))
	if w.relation == accountant.AddOrRemoveOne {
		sum.AddInt(0, int64(r.Data.Len()))
	}
	out := make([]float64, 1)
	if err := grant.Release(1/w.noise, mechanism.Part{Sum: sum, Std: w.noise, Out: out}); err != nil {
		return nil, err
	}
	r.Report("count", 1, 1)
	m := &toyModel{r.Data.Schema(), out[0]}
	w.log.mu.Lock()
	w.log.models = append(w.log.models, weak.Make(m))
	w.log.mu.Unlock()
	return m, nil
}

func (m *toyModel) Schema() records.Schema { return m.schema }
func (m *toyModel) Sampler(synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{}, param.New("toy", nil, "no samples")
}
func (m *toyModel) Encode() (*synth.File, error) { return &synth.File{Header: []byte("{}")}, nil }

// toyPlan returns a plan of the toy.
func toyPlan(t testing.TB, w *toy) synth.Plan {
	t.Helper()
	if w.log == nil {
		w.log = &fits{}
	}
	p, err := synth.NewProgram("toy", records.Binary(3), accountant.Budget{Epsilon: 50, Delta: 1e-5,
		Relation: w.relation},
		[]synth.Stage{{Purpose: "count", Event: accountant.Gaussian{NoiseMultiplier: w.noise},
			Count: 1}}, w)
	if err != nil {
		t.Fatal(err)
	}
	return &struct{ *synth.Program }{&p}
}

// largest scores a toy by its number. It ignores the noisy sum.
type largest struct{}

func (largest) Validate(records.Schema) error { return nil }
func (largest) Statistic(_ context.Context, g *synth.Generator) (compose.Statistic, error) {
	return value{g.Model().(*toyModel).value}, nil
}

type value struct{ x float64 }

func (value) Dim() int                            { return 1 }
func (value) Of(record records.Data, d []float64) { d[0] = 1 }
func (v value) Score([]float64) float64           { return v.x }

// some returns n records.
func some(t testing.TB, n int) records.Data {
	t.Helper()
	data, err := records.FromFlat(records.Binary(3), make([]float32, 3*n))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// search returns a search among toys.
func search(t testing.TB, trials compose.Trials, toys ...*toy) synth.Plan {
	t.Helper()
	c := compose.Search{Trials: trials, Score: largest{}, Noise: 5}
	for _, w := range toys {
		c.Candidates = append(c.Candidates, compose.Fixed(toyPlan(t, w)))
	}
	p, err := c.PlanFor(records.Binary(3), accountant.Budget{Epsilon: 100, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
