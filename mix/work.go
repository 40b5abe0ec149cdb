package mix

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/synth"
)

// systemName is the name of this system in files and errors.
const systemName = "mix"

// System reads plans and generators of this package back.
func System() synth.System {
	return synth.System{Name: systemName, Plan: readPlan, Model: readModel}
}

// work is what the plan adds to the frame: a configuration with degree and noise decided.
type work struct {
	config     Config
	std        float64     // of the noise on a sum, features and scaled labels alike
	label      float64     // length of a one-hot label in the units of the features
	candidates []Candidate // degrees looked at
}

func newWork(c Config) *work {
	g := c.geometry()
	return &work{config: c, std: c.NoiseMultiplier * g.norm(), label: g.label}
}

// degree is ℓ.
func (w *work) degree() int {
	_, degree := w.config.Sampling.public()
	return degree
}

// noise gives the standard deviations of the noise on a released row, which is a mixture divided by
// its degree.
func (w *work) noise() (features, labels float64) {
	l := float64(w.degree())
	if w.label > 0 {
		labels = w.std / (w.label * l)
	}
	return w.std / l, labels
}

// Title says what is released.
func (w *work) Title() string {
	what := "mixtures"
	if w.config.ByClass {
		what = "mixtures of one class each"
	}
	c := w.config
	return fmt.Sprintf("%d %s of %d records, %v", c.Mixtures, what, w.degree(), c.Schema)
}

// Notes state the noise, and how the degree was chosen.
func (w *work) Notes() []string {
	x, y := w.noise()
	notes := []string{fmt.Sprintf("noise on a row: %.4g on features, %.4g on labels", x, y)}
	if len(w.candidates) == 0 {
		return notes
	}
	var b strings.Builder
	fmt.Fprintf(&b, "degree by predicted signal-to-noise of %v:", w.config.Criterion)
	for _, k := range w.candidates {
		fmt.Fprintf(&b, " %d: %.3g", k.Degree, k.Score)
	}
	return append(notes, b.String())
}

// Judge refuses records of another number than the plan declares, where that is public.
func (w *work) Judge(r *synth.Run) error {
	n, _ := w.config.Sampling.public()
	if w.config.Budget.Relation == accountant.ReplaceOne && r.Data != nil && r.Data.Len() != n {
		return fmt.Errorf("mix: %w", synth.ErrRecords)
	}
	return nil
}

// Fit releases the mixtures, after those that a checkpoint holds.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	m := &Model{work: w, rows: w.newRows(0, w.config.Mixtures)}
	if err := m.restore(r.Saved()); err != nil {
		return nil, err
	}
	if r.Saved() != nil && m.rows.Len()+left(r) > w.config.Mixtures {
		return nil, malformed(fmt.Errorf("more mixtures than the plan has"))
	}
	r.Keep(m.Encode)
	x, err := w.mixer(ctx, r)
	if err != nil {
		return nil, err
	}
	m.centers = x.source.centers
	err = x.rounds(ctx, func(chunk *Rows, parts []int32) error {
		m.add(chunk, parts)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if m.rows.Len() == 0 {
		return nil, fmt.Errorf("mix: %s: %w", PurposeMixtures, synth.ErrLost)
	}
	return m, nil
}

// configJSON is the system's part of a plan.
type configJSON struct {
	Sampling        samplingJSON `json:"sampling"`
	Mixtures        int          `json:"mixtures"`
	ClipNorm        float64      `json:"clip_norm"`
	ByClass         bool         `json:"by_class,omitempty"`
	Centers         Centers      `json:"centers,omitzero"`
	Projection      Projection   `json:"projection,omitzero"`
	LabelShare      float64      `json:"label_share"`
	Criterion       Criterion    `json:"criterion"`
	NoiseMultiplier float64      `json:"noise_multiplier"`
	Candidates      []Candidate  `json:"candidates,omitempty"` // for the reader
}

// samplingJSON is a sampling under the name of its type.
type samplingJSON struct {
	Kind    string `json:"kind"`
	Records int    `json:"records"`
	Degree  int    `json:"degree"`
}

func (j samplingJSON) sampling() (Sampling, error) {
	for _, s := range []Sampling{Poisson{j.Records, j.Degree},
		PoissonReplaceOne{j.Records, j.Degree}, WithoutReplacement{j.Records, j.Degree}} {
		if s.kind() == j.Kind {
			return s, nil
		}
	}
	return nil, mistake("Config.Sampling", j.Kind,
		"Poisson, PoissonReplaceOne or WithoutReplacement")
}

// Config is the configuration in JSON, with degree and noise decided.
func (w *work) Config() (json.RawMessage, error) {
	c := w.config
	n, degree := c.Sampling.public()
	return json.Marshal(configJSON{Sampling: samplingJSON{c.Sampling.kind(), n, degree},
		Mixtures: c.Mixtures, ClipNorm: c.ClipNorm, ByClass: c.ByClass, Centers: c.Centers,
		Projection: c.Projection, LabelShare: c.LabelShare, Criterion: c.Criterion,
		NoiseMultiplier: c.NoiseMultiplier, Candidates: w.candidates})
}

// readConfig is the inverse of Config.
func readConfig(saved synth.SavedPlan) (c Config, candidates []Candidate, err error) {
	var j configJSON
	if err := json.Unmarshal(saved.Config, &j); err != nil {
		return c, nil, malformed(err)
	}
	s, err := j.Sampling.sampling()
	if err != nil {
		return c, nil, err
	}
	c = Config{Schema: saved.Schema, Budget: saved.Budget, Sampling: s, Mixtures: j.Mixtures,
		ClipNorm: j.ClipNorm, ByClass: j.ByClass, Centers: j.Centers, Projection: j.Projection,
		LabelShare: j.LabelShare, Criterion: j.Criterion, NoiseMultiplier: j.NoiseMultiplier}
	return c, j.Candidates, nil
}

func readPlan(saved synth.SavedPlan) (synth.Plan, error) {
	c, candidates, err := readConfig(saved)
	if err != nil {
		return nil, err
	}
	noise := []float64{c.NoiseMultiplier}
	if c.Centers.wanted() {
		noise = append(noise, c.Centers.NoiseMultiplier)
	}
	if err := saved.Decided(noise...); err != nil {
		return nil, err
	}
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	if len(p.Candidates) == 0 {
		p.Candidates, p.work.candidates = candidates, candidates
	}
	return p, nil
}

// mistake is one in a public parameter.
func mistake(path string, value any, want string) error {
	return param.New("mix."+path, value, want)
}
