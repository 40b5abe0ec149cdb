package marginal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
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
			tap, reports := &watched{}, []string(nil)
			told := synth.OnProgress(func(p synth.Progress) {
				reports = append(reports, fmt.Sprint(p.Stage, p.Step, p.Of))
			})
			if _, err := p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), data,
				told); err != nil {
				t.Fatalf("%v %s: %v", r, name, err)
			}
			if fmt.Sprint(reports) != "[use1 1]" {
				t.Errorf("%v %s reports %q", r, name, reports)
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
			gone, release := c.w, c.w.release
			gone.release = func(ctx context.Context, run *synth.Run) error {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return release(ctx, run)
			}
			p, err = synth.NewPassProgram("counting", s, budget, p.Stages(), gone)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), data)
			if !errors.Is(err, context.Canceled) || len(tap.list) > 0 {
				t.Errorf("%v %s for a caller who gave up: %v, %d releases", r, name, err, len(tap.list))
			}
		}
	}
}

// losing fails some releases, whose shares are then lost, and gives every release the same noise.
type losing struct {
	watched
	fails int
	noise func(i int) float64
}

var errLost = errors.New("lost")

func (w *losing) Release(r *entropy.Release) error {
	for _, out := range r.Outputs {
		copy(out, valuesOf(len(out), w.noise))
	}
	if w.fails--; w.fails >= 0 {
		return errLost
	}
	return nil
}

func valuesOf(n int, f func(i int) float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = f(i)
	}
	return list
}

// TestLostSharesWidenTheNoise: after interruptions lost half of the shares of a release, every
// estimate takes the noise for √2 times the planned one.
func TestLostSharesWidenTheNoise(t *testing.T) {
	const z = 3.0
	s := must(t, records.Integer("x", 0, 5000), records.Label("y", "a", "b"))
	data, err := records.FromValues(s, []any{17, "a"}, []any{4000, "b"})
	if err != nil {
		t.Fatal(err)
	}
	a, budget := AttributesOf(s), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	known := Surveyed{Counts: [][]float64{make([]float64, a[0].Codes), {1, 1}}}
	known.Counts[0][3], known.Counts[0][9] = 80, 90
	survey, halves := Survey{a, budget.Relation}, Halves{a[:1], budget.Relation}
	parts := PartSurvey{a, known.Divide(a, 60), budget.Relation}
	others, class := survey.Std(z)
	var got []float64
	for name, c := range map[string]struct {
		w    counting
		std  float64
		want func(out func(int) float64, wider float64) []float64
	}{
		"survey": {counting{s, nil, survey.Counter, func(ctx context.Context, r *synth.Run) error {
			all, err := survey.Release(ctx, r, "use", z)
			got = all.Noise
			return err
		}}, others, func(_ func(int) float64, wider float64) []float64 {
			return []float64{wider * others, wider * class}
		}},
		"parts": {counting{s, parts.Division.State(), parts.Counter, func(ctx context.Context,
			r *synth.Run) (err error) {
			got, err = parts.Release(ctx, r, "use", z, known)
			return err
		}}, parts.Std(z), func(out func(int) float64, wider float64) []float64 {
			return parts.weights(valuesOf(parts.size(), out), wider*parts.Std(z), known)
		}},
		"halves": {counting{s, nil, halves.Counter, func(ctx context.Context, r *synth.Run) error {
			all, err := halves.Release(ctx, r, "use", z)
			got = slices.Concat(all...)
			return err
		}}, halves.Std(z), func(out func(int) float64, wider float64) []float64 {
			list := valuesOf(halves.size(), out)
			return layoutOf(a[0]).fractions(list[1:], max(list[0], 1), wider*halves.Std(z))
		}},
	} {
		p, err := synth.NewPassProgram("counting", s, budget, []synth.Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1, Once: true}}, c.w)
		if err != nil {
			t.Fatal(err)
		}
		noise := func(i int) float64 { // between what the planned and what the wider noise explains
			return []float64{3, 0, 0, 3, -3}[i%5] * c.std
		}
		path, l := filepath.Join(t.TempDir(), "c"), ledger.New(budget)
		ctx := entropy.WithTap(t.Context(), &losing{fails: 4, noise: noise})
		for i := range 5 {
			if _, err := p.FitOn(ctx, l, data, synth.Checkpoint(path)); errors.Is(err, errLost) != (i < 4) {
				t.Fatalf("%s, run %d: %v", name, i, err)
			}
		}
		if want := c.want(noise, math.Sqrt2); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		} else if slices.Equal(want, c.want(noise, 1)) {
			t.Errorf("%s does not depend on the noise, so this test shows nothing", name)
		}
	}
}

// TestFewRecordsUnderNoise: if the noise leaves no record, the fractions are those of one record,
// and not of a negative number of them.
func TestFewRecordsUnderNoise(t *testing.T) {
	const z = 3.0
	s := must(t, records.Integer("x", 0, 30))
	data, err := records.FromValues(s, []any{17}, []any{4})
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	halves := Halves{AttributesOf(s), budget.Relation}
	noise := func(i int) float64 { return []float64{-40, 9, -7}[i%3] * halves.Std(z) }
	var got [][]float64
	p, err := synth.NewPassProgram("counting", s, budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1, Once: true}}, counting{s, nil,
		halves.Counter, func(ctx context.Context, r *synth.Run) (err error) {
			got, err = halves.Release(ctx, r, "use", z)
			return err
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := entropy.WithTap(t.Context(), &losing{noise: noise})
	if _, err := p.FitOn(ctx, ledger.New(budget), data); err != nil {
		t.Fatal(err)
	}
	want := layoutOf(halves.Attributes[0]).fractions(valuesOf(halves.size(), noise)[1:], 1,
		halves.Std(z))
	if !slices.Equal(got[0], want) {
		t.Errorf("fractions %v, want %v", got[0], want)
	}
}
