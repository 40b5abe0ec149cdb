package marginal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// counting is a system of one release, which a function of the test makes.
type counting struct {
	schema  records.Schema
	state   []byte // of the pass
	counter func() *Histogram
	release func(context.Context, *synth.Run) error
}

func (counting) Title() string                    { return "counting" }
func (counting) Notes() []string                  { return nil }
func (counting) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (counting) Passes() []string                 { return []string{"use"} }
func (w counting) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	return nil, w.release(ctx, r)
}

func (w counting) Partial(p synth.Pass, _ device.Backend) (*mechanism.Partial, error) {
	if p.Purpose != "use" || !bytes.Equal(p.State, w.state) {
		return nil, errors.New("a pass of another purpose or state")
	}
	id, err := mechanism.NewPassID("counting", p)
	return mechanism.NewPartial(id, w.schema, w.counter(), false), err
}

// watched records every release.
type watched struct{ list []entropy.Release }

func (*watched) Source() (*entropy.Source, error) { return entropy.New() }
func (*watched) Sample(entropy.Sample)            {}
func (*watched) Refuse(string, error)             {}
func (*watched) Spend(string, any, int, error)    {}
func (w *watched) Release(r *entropy.Release) error {
	w.list = append(w.list, *r)
	return nil
}

// ended is data that failed.
type ended struct{ records.Data }

func (ended) Gather([]int32, *device.Batch) { panic("no rows today") }
func (ended) Range(int, int, *device.Batch) { panic("no rows today") }

// TestReleasesStateTheirEffect: a survey, the parts of its cells and halves are released once, with
// the noise that their sensitivity asks for, and never from data that fail.
func TestReleasesStateTheirEffect(t *testing.T) {
	const z = 3.0
	s := must(t, records.Integer("x", 0, 5000), records.Flag("f", "no", "yes"), records.Label("y", "a",
		"b"))
	data, err := records.FromValues(s, []any{17, "no", "a"}, []any{4000, "yes", "b"}, []any{90, "yes",
		"b"})
	if err != nil {
		t.Fatal(err)
	}
	a := AttributesOf(s)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	known := Surveyed{Counts: make([][]float64, len(a))}
	for j := range a {
		known.Counts[j] = make([]float64, a[j].Codes)
	}
	known.Counts[0][3], known.Counts[0][9] = 80, 90
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		budget.Relation = r
		survey, halves := Survey{a, r}, Halves{a[:1], r}
		parts := PartSurvey{a, known.Divide(a, 60), r}
		others, class := survey.Std(z)
		for name, c := range map[string]struct {
			w   counting
			std []float64
		}{
			"survey": {counting{s, nil, survey.Counter, func(ctx context.Context,
				run *synth.Run) error {
				got, err := survey.Release(ctx, run, "use", z)
				if err == nil && (len(got.Counts) != len(a) || !(got.Total >= 1)) {
					t.Errorf("surveyed %+v", got)
				}
				return err
			}}, []float64{others, class}},
			"parts": {counting{s, parts.Division.State(), parts.Counter, func(ctx context.Context,
				run *synth.Run) error {
				weights, err := parts.Release(ctx, run, "use", z, known)
				if err == nil && len(weights) != parts.size() {
					t.Errorf("%d weights, want %d", len(weights), parts.size())
				}
				return err
			}}, []float64{parts.Std(z)}},
			"halves": {counting{s, nil, halves.Counter, func(ctx context.Context,
				run *synth.Run) error {
				got, err := halves.Release(ctx, run, "use", z)
				if err == nil && (len(got) != 1 || len(got[0]) != a[0].Codes) {
					t.Errorf("fractions of halves: %v", got)
				}
				return err
			}}, []float64{halves.Std(z)}},
		} {
			p, err := synth.NewPassProgram("counting", s, budget, []synth.Stage{{Purpose: "use",
				Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1, Once: true}}, c.w)
			if err != nil {
				t.Fatal(err)
			}
			tap := &watched{}
			if _, err := p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), data); err != nil {
				t.Fatalf("%v %s: %v", r, name, err)
			}
			if len(tap.list) != 1 || len(tap.list[0].Std) != len(c.std) ||
				!(math.Abs(tap.list[0].Effect*z-1) < 1e-12) {
				t.Fatalf("%v %s: released %+v", r, name, tap.list)
			}
			for k, std := range c.std {
				if got := tap.list[0].Std[k]; got != std {
					t.Errorf("%v %s: part %d has noise %v, want %v", r, name, k, got, std)
				}
			}
			tap = &watched{}
			failing := ended{data}
			if _, err := p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget),
				failing); !errors.Is(err,
				records.ErrData) || len(tap.list) > 0 {
				t.Errorf("%v %s of data that fail: %v, %d releases", r, name, err, len(tap.list))
			}
		}
	}
}
