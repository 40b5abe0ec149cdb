package synthtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// The system of this test is written as a user of the module would write it. It releases the
// number of records once and then, step by step, sums of Poisson samples. Its generators draw
// coordinates independently.

const (
	stageCount = "number of records"
	stageSteps = "sums of samples"
	steps      = 8
	rate       = 0.5
)

type plan struct {
	synth.Program
}

type work struct {
	schema records.Schema
	budget accountant.Budget
	noise  float64
	forget bool // a fault: saved sums are not read
}

func newPlan(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
	w := &work{schema: s, budget: b}
	if err := w.calibrate(); err != nil {
		return nil, err
	}
	return w.plan(w)
}

// plan returns the plan of a run that fit carries out.
func (w *work) plan(fit synth.Work) (synth.Plan, error) {
	p, err := synth.NewProgram("toy", w.schema, w.budget, w.stages(), fit)
	if err != nil {
		return nil, err
	}
	return &plan{p}, nil
}

// check refuses records that the system does not support.
func (w *work) check() error {
	s, b := w.schema, w.budget
	var k param.Checker
	k.Add(s.Validate())
	k.Add(b.Validate())
	k.OK(s.IsBinary() && s.Classes() == 0 && !s.Sparse() && b.Relation == accountant.AddOrRemoveOne ||
		b.Relation == accountant.ReplaceOne && s.Kind() == records.IntervalVector && s.Classes() == 0 &&
			!s.IsImage(),
		"toy.schema", s.String(), "binary records; merf handles the others")
	return k.Err()
}

// calibrate sets the least noise that the budget pays for.
func (w *work) calibrate() error {
	if err := w.check(); err != nil {
		return err
	}
	noise, _, err := accountant.CalibrateNoise(w.budget, func(z float64) accountant.Event {
		w.noise = z
		var all accountant.Composed
		for _, s := range w.stages() {
			all.Events = append(all.Events, accountant.Repeated{Event: s.Event, Count: s.Count})
		}
		return all
	})
	w.noise = noise
	return err
}

func (w *work) stages() []synth.Stage {
	g := accountant.Gaussian{NoiseMultiplier: w.noise}
	return []synth.Stage{{Purpose: stageCount, Event: g, Count: 1, Once: true,
		NoiseMultiplier: w.noise},
		{Purpose: stageSteps, Event: accountant.PoissonSampled{Probability: rate, Event: g},
			Count: steps, NoiseMultiplier: w.noise}}
}

func (w *work) Title() string   { return w.schema.String() }
func (w *work) Notes() []string { return []string{"a note"} }
func (w *work) Config() (json.RawMessage, error) {
	return json.Marshal(config{w.noise})
}

type config struct {
	Noise float64 `json:"noise"`
}

// read sets the noise that a saved plan states.
func (w *work) read(s synth.SavedPlan) error {
	var c config
	if err := json.Unmarshal(s.Config, &c); err != nil {
		return synth.Malformed(err)
	}
	w.noise = c.Noise
	return errors.Join(w.check(), s.Decided(c.Noise))
}

// sensitivity returns a bound on the effect of one record on a sum of records and on their
// number.
func (w *work) sensitivity() float64 { return 100 * float64(w.schema.Dim()) }

type state struct {
	Count float64   `json:"count"`
	Sums  []float64 `json:"sums"`
	Made  int       `json:"made"`
}

func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	std := w.noise * w.sensitivity()
	st := state{Sums: make([]float64, w.schema.Dim())}
	out, err := r.Once(stageCount, []int{1}, func() (float64, []mechanism.Part, error) {
		sum := mechanism.NewFixedSum(1, mechanism.GridFor(std))
		if w.budget.Relation == accountant.AddOrRemoveOne { // under replace-one the number is public
			sum.AddInt(0, int64(r.Data.Len()))
		}
		return 1 / w.noise, []mechanism.Part{{Sum: sum, Std: std}}, nil
	})
	if err != nil {
		return nil, err
	}
	r.Report(stageCount, 1, 1)
	if f := r.Saved(); f != nil && !w.forget {
		if err := json.Unmarshal(f.Header, &st); err != nil || len(st.Sums) != w.schema.Dim() {
			return nil, synth.ErrFormat
		}
	}
	st.Count = out[0][0]
	r.Keep(func() (*synth.File, error) {
		head, err := json.Marshal(st)
		return &synth.File{Header: head}, err
	})
	a := r.Allowance(stageSteps)
	for a.Remaining() > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		grant, err := a.Next()
		if err != nil {
			return nil, err
		}
		index, _ := grant.PoissonSample(r.Data.Len(), nil, nil)
		var b device.Batch
		r.Data.Gather(index, &b)
		sum := mechanism.NewFixedSum(w.schema.Dim(), mechanism.GridFor(std))
		for i := range b.Rows {
			sum.AddRow(b.Dense.Row(i), 1)
		}
		noisy := make([]float64, sum.Dim())
		if err := grant.Release(1/w.noise, mechanism.Part{Sum: sum, Std: std, Out: noisy}); err != nil {
			return nil, err
		}
		for j, v := range noisy {
			st.Sums[j] += v
		}
		st.Made++
		r.Report(stageSteps, steps-a.Remaining(), steps)
	}
	return &model{w.schema, append([]float64(nil), st.Sums...)}, nil
}

type model struct {
	schema records.Schema
	sums   []float64
}

func (m *model) Schema() records.Schema { return m.schema }

func (m *model) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng, schema := rand.New(rand.NewPCG(d.Seed, 1)), m.schema
	if d.Means && schema.IsBinary() {
		schema = records.Interval(schema.Dim(), 0, 1) // means are not binary
	}
	return synth.Sampler{Schema: schema, Next: func(n int) (records.Data, error) {
		flat := make([]float32, n*schema.Dim())
		for i := range flat {
			switch most := m.sums[i%len(m.sums)]; {
			case schema.IsBinary():
				flat[i] = float32(rng.IntN(2))
			case m.schema.IsBinary():
				flat[i] = 0.5
			case d.Means:
				flat[i] = float32(most / 2)
			default:
				flat[i] = float32(rng.Float64() * most)
			}
		}
		schema.Clamp(flat)
		return records.FromFlat(schema, flat)
	}}, nil
}

type header struct {
	Schema records.Schema `json:"schema"`
}

func (m *model) Encode() (*synth.File, error) {
	head, err := json.Marshal(header{m.schema})
	return &synth.File{Header: head,
		Sections: []synth.Section{{Name: "sums", Data: synth.Floats(m.sums)}}}, err
}

func system() synth.System {
	return synth.System{Name: "toy",
		Plan: func(s synth.SavedPlan) (synth.Plan, error) {
			w := &work{schema: s.Schema, budget: s.Budget}
			if err := w.read(s); err != nil {
				return nil, err
			}
			return w.plan(w)
		},
		Model: func(f *synth.File, _ synth.Loading) (synth.Model, error) {
			var h header
			if err := json.Unmarshal(f.Header, &h); err != nil {
				return nil, synth.ErrFormat
			}
			if err := h.Schema.Validate(); err != nil || h.Schema.Sparse() || h.Schema.Classes() > 0 ||
				h.Schema.Kind() == records.MixedTable {
				return nil, errors.Join(synth.ErrFormat, err)
			}
			data, err := f.Section("sums")
			if err != nil {
				return nil, err
			}
			sums, err := synth.ReadFloats[float64](data, h.Schema.Dim())
			return &model{h.Schema, sums}, err
		}}
}

func TestASystemOfOnesOwn(t *testing.T) {
	synthtest.Run(t, synthtest.Subject{System: system(), Plan: newPlan})
}

var kills = flag.Int("kills", 4, "how many processes to kill")

func TestKilledRunsGoOn(t *testing.T) {
	synthtest.Kill(t, synthtest.Subject{System: system(), Plan: newPlan}, *kills)
}

func TestProcessesShareACheckpoint(t *testing.T) {
	synthtest.Race(t, synthtest.Subject{System: system(), Plan: newPlan}, max(*kills/4, 1))
}
