package mix

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// systemName is the name of this system in files and errors.
const systemName = "mix"

// System returns the functions that read plans and generators of this package.
func System() synth.System {
	return synth.System{Name: systemName, Plan: readPlan, Model: readModel}
}

// work implements synth.Work for a configuration whose degree and noise have been chosen.
type work struct {
	config     Config
	std        float64     // standard deviation of the noise on a sum of features or scaled labels
	label      float64     // length of a one-hot label in the units of the features
	candidates []Candidate // degrees considered
}

func newWork(c Config) *work {
	g := c.geometry()
	return &work{config: c, std: c.NoiseMultiplier * g.norm(), label: g.label}
}

// degree returns ℓ.
func (w *work) degree() int { return w.config.degree() }

// noise returns the standard deviations of the noise on a released row, which is a sum divided by
// the degree.
func (w *work) noise() (features, labels float64) {
	l := float64(w.degree())
	if w.label > 0 {
		labels = w.std / (w.label * l)
	}
	return w.std / l, labels
}

// TakesPersons marks that the system supports schemas with several rows per person. Persons are
// sampled, and each row is added with its weight.
func (w *work) TakesPersons() {}

// Title describes the release.
func (w *work) Title() string {
	what := "mixtures"
	if w.config.ByClass {
		what = "mixtures of one class each"
	}
	c := w.config
	return fmt.Sprintf("%d %s of %d records, %v", c.Mixtures, what, w.degree(), c.Schema)
}

// Notes states the noise and how the degree was chosen.
func (w *work) Notes() []string {
	x, y := w.noise()
	notes := []string{fmt.Sprintf("noise on a row: %.4g on features, %.4g on labels", x, y)}
	if notes = append(notes, w.config.choices.Notes()...); len(w.candidates) == 0 {
		return notes
	}
	var b strings.Builder
	b.WriteString("degree by predicted signal-to-noise of second moments:")
	for _, k := range w.candidates {
		fmt.Fprintf(&b, " %d: %.3g", k.Degree, k.Score)
	}
	return append(notes, b.String())
}

// Judge returns an error if the number of records is public and differs from the plan's number. For
// records that other processes read, it returns the errors of checkShards instead.
func (w *work) Judge(r *synth.Run) error {
	if r.Data == nil {
		return w.checkShards(r.Shards())
	}
	return w.counted(int64(r.Data.Len()))
}

// counted returns an error if the number of records is public and not n.
func (w *work) counted(n int64) error {
	public, _ := w.config.Sampling.public()
	if w.config.Budget.Relation == accountant.ReplaceOne && n != int64(public) {
		return fmt.Errorf("mix: %w", synth.ErrRecords)
	}
	return nil
}

// JudgePass makes the check of a public number of records in a pass that counts them.
func (w *work) JudgePass(ctx context.Context, r *synth.Run) error {
	if w.config.Budget.Relation != accountant.ReplaceOne {
		return nil
	}
	x := &mixer{work: w, run: r, away: &away{shards: r.Shards()}}
	_, err := x.counting(ctx, purposeCounts)
	return err
}

// Releases returns the schema of synthetic records.
func (w *work) Releases() records.Schema { return (&Model{work: w}).Schema() }

// Fit releases the mixtures that are not yet in a checkpoint.
func (w *work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	m := &Model{work: w, rows: w.newRows(0, w.config.Mixtures)}
	if err := m.restore(r.Saved()); err != nil {
		return nil, err
	}
	if r.Saved() != nil && m.rows.Len()+left(r) > w.config.Mixtures {
		return nil, synth.Malformed(fmt.Errorf("the checkpoint has more mixtures than the plan"))
	}
	r.Keep(m.Encode)
	x, err := w.mixer(ctx, r)
	if err != nil {
		return nil, err
	}
	m.centers = x.source.centers
	if err := x.rounds(ctx, m.add); err != nil {
		return nil, err
	}
	if m.rows.Len() == 0 {
		return nil, fmt.Errorf("mix: %s: %w", PurposeMixtures, synth.ErrLost)
	}
	return m, nil
}

// configJSON is the system's part of a plan.
type configJSON struct {
	Sampling samplingJSON `json:"sampling"`
	Config
	Candidates []Candidate `json:"candidates,omitempty"` // for readers of the plan
	// Choices are the choices of the default rules, for readers of the plan.
	Choices defaults.Choices `json:"choices,omitempty"`
}

// samplingJSON is a sampling with the name of its type.
type samplingJSON struct {
	Kind    string `json:"kind"`
	Records int    `json:"records"`
	Degree  int    `json:"degree"`
}

// Config returns the configuration, with degree and noise, in JSON.
func (w *work) Config() (json.RawMessage, error) {
	n, degree := w.config.Sampling.public()
	return json.Marshal(configJSON{samplingJSON{w.config.Sampling.kind(), n, degree}, w.config,
		w.candidates, w.config.choices})
}

// readConfig reads the JSON that Config wrote.
func readConfig(saved synth.SavedPlan) (j configJSON, err error) {
	if err := saved.Decode(&j); err != nil {
		return j, err
	}
	j.Schema, j.Budget = saved.Schema, saved.Budget
	j.Config.Sampling = samplingOf(j.Sampling.Kind, j.Sampling.Records, j.Sampling.Degree)
	j.Config.choices = j.Choices
	return j, nil
}

func readPlan(saved synth.SavedPlan) (synth.Plan, error) {
	j, err := readConfig(saved)
	if err != nil {
		return nil, err
	}
	noise := []float64{j.NoiseMultiplier}
	if j.Centers.wanted() {
		noise = append(noise, j.Centers.NoiseMultiplier)
	}
	if err := saved.Decided(noise...); err != nil {
		return nil, err
	}
	p, err := j.Plan()
	if err == nil && len(p.Candidates) == 0 {
		p.Candidates, p.work.candidates = j.Candidates, j.Candidates
	}
	return synth.PlanOf(p, err)
}

// mistake returns an error about a public parameter.
func mistake(path string, value any, want string) error {
	return param.New("mix."+path, value, want)
}
