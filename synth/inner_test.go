package synth_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// enclosing is a system that carries out another one.
type enclosing struct {
	reading
	part synth.Inner
}

func (w enclosing) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	return r.FitInner(ctx, w.part)
}

// TestInnerPlansDrawFromTheReservation checks that a part whose stages the run's plan lacks is
// refused before it starts.
func TestInnerPlansDrawFromTheReservation(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	table := must(records.FromFlat(s, []float32{0, 1, 1, 0}))(t)
	fits := 0
	inner := must(synth.NewProgram("reading", s, b, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		reading{func(*synth.Run) error { fits++; return nil }}))(t)
	part := synth.Inner{Plan: &inner, Prefix: "x: "}
	for prefix, want := range map[string]int{"x: ": 1, "y: ": 0} {
		fits = 0
		p, err := synth.NewProgram("enclosing", s, b, part.Stages(),
			enclosing{part: synth.Inner{Plan: &inner, Prefix: prefix}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Fit(t.Context(), table)
		var wrong *param.Error
		if fits != want || want == 0 && (!errors.As(err, &wrong) || wrong.Path != "synth.Inner.Prefix") {
			t.Errorf("prefix %q: %d fits, error %v, want %d fits", prefix, fits, err, want)
		}
	}
}

// TestPartsReadTheirSchema checks that a part does not start on records of another schema than its
// plan's, which can lie outside the bounds by which its sums are limited.
func TestPartsReadTheirSchema(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	of := func(s records.Schema) *records.Table {
		return must(records.FromFlat(s, []float32{0, 1, 1, 0}))(t)
	}
	fits := 0
	inner := must(synth.NewProgram("reading", s, b, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		reading{func(*synth.Run) error { fits++; return nil }}))(t)
	for data, want := range map[records.Data]int{of(s): 1, of(records.Interval(2, 0, 9)): 0,
		of(records.Interval(1, 0, 1)): 0, of(records.Image(1, 2)): 0} {
		fits = 0
		part := synth.Inner{Plan: &inner, Prefix: "x: ", Data: data}
		p, err := synth.NewProgram("enclosing", s, b, part.Stages(), enclosing{part: part})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Fit(t.Context(), of(s))
		var wrong *param.Error
		if fits != want || want == 0 && (!errors.As(err, &wrong) || wrong.Path != "synth.Inner.Data") {
			t.Errorf("%v: %d fits, error %v, want %d fits", data.Schema(), fits, err, want)
		}
	}
}

// beyond is a user-defined data set with values outside its schema.
type beyond struct{ records.Data }

func (d beyond) Range(lo, hi int, b *device.Batch) {
	d.Data.Range(lo, hi, b)
	b.Dense.Data[0] = 1000
}

// TestPartsReadClampedRecords checks that a part's records are clamped to the schema as those of a
// run are, also if they are of a user-defined type.
func TestPartsReadClampedRecords(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	table := must(records.FromFlat(s, []float32{0, 1, 1, 0}))(t)
	var batch device.Batch
	inner := must(synth.NewProgram("reading", s, b, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		reading{func(r *synth.Run) error { r.Data.Range(0, 2, &batch); return nil }}))(t)
	part := synth.Inner{Plan: &inner, Prefix: "x: ", Data: beyond{table}}
	whole := must(synth.NewProgram("enclosing", s, b, part.Stages(), enclosing{part: part}))(t)
	if _, err := whole.Fit(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	if got := slices.Max(batch.Dense.Data); got != 1 {
		t.Errorf("a part read the value %v of records in [0, 1]", got)
	}
}

// TestPartsReleaseNothingAfterTheirRecordsFailed checks that a part draws nothing after its own
// records have failed, as a run does after its records have. A checkpoint would keep the release.
func TestPartsReleaseNothingAfterTheirRecordsFailed(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	table := must(records.FromFlat(s, []float32{0, 1, 1, 0}))(t)
	for bad, want := range map[bool]error{false: nil, true: synth.ErrData} {
		var refused error
		inner := must(synth.NewProgram("reading", s, b, []synth.Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
			reading{func(r *synth.Run) error {
				r.Data.Range(0, 2, new(device.Batch))
				g, err := r.Allowance("use").Next()
				if err == nil {
					err = g.Release(0.1, mechanism.Part{Sum: mechanism.NewFixedSum(1, 1), Std: 10,
						Out: make([]float64, 1)})
				}
				refused = err
				return err
			}}))(t)
		part := synth.Inner{Plan: &inner, Prefix: "x: ", Data: unreadable{table, bad}}
		whole := must(synth.NewProgram("enclosing", s, b, part.Stages(), enclosing{part: part}))(t)
		if _, err := whole.Fit(t.Context(), table); !errors.Is(err, want) || !errors.Is(refused, want) {
			t.Errorf("records that fail %t: the release returns %v, and the run %v", bad, refused, err)
		}
	}
}

// unreadable is a user-defined data set whose rows may not be readable.
type unreadable struct {
	records.Data
	bad bool
}

func (d unreadable) Range(lo, hi int, b *device.Batch) {
	if d.bad {
		panic("unreadable")
	}
	d.Data.Range(lo, hi, b)
}

// TestPartsNoteTheirNoise checks that the one release of a part has the noise class that the part's
// sums deserve, with and without a checkpoint.
func TestPartsNoteTheirNoise(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	table := must(records.FromFlat(s, []float32{0, 1, 1, 0}))(t)
	for _, real := range []bool{false, true} {
		inner, err := synth.NewProgram("reading", s, b, []synth.Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1, Once: true}},
			reading{func(r *synth.Run) error {
				if real {
					r.NoteReal("use")
				}
				_, err := r.Once("use", []int{1}, func() (float64, []mechanism.Part, error) {
					return 0.2, []mechanism.Part{{Sum: mechanism.NewFixedSum(1, 0x1p-30), Std: 5}}, nil
				})
				return err
			}})
		if err != nil {
			t.Fatal(err)
		}
		part := synth.Inner{Plan: &inner, Prefix: "x: "}
		p := must(synth.NewProgram("enclosing", s, b, part.Stages(), enclosing{part: part}))(t)
		for _, opts := range [][]synth.Option{nil,
			{synth.Checkpoint(filepath.Join(t.TempDir(), "run"))}} {
			l := ledger.New(b)
			if _, err := p.FitOn(t.Context(), l, table, opts...); err != nil {
				t.Fatal(err)
			}
			class := l.Guarantee().NoiseClass
			if slices.Contains(class, ledger.RealNoise) != real ||
				!slices.Contains(class, ledger.ExactNoise) {
				t.Errorf("inexact sums: %v, checkpoint: %v: noise class %v", real, opts != nil, class)
			}
		}
	}
}

// TestPartsEndWithTheirData checks that a part fails if its own data failed while it read them,
// even if the run's data did not.
func TestPartsEndWithTheirData(t *testing.T) {
	s, b := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	table := must(records.FromFlat(s, []float32{0, 1, 1, 0}))(t)
	for _, fails := range []bool{false, true} {
		view := &lying{Data: table}
		inner, err := synth.NewProgram("reading", s, b, []synth.Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1}},
			reading{func(r *synth.Run) error {
				if fails {
					view.read(r)
				}
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		part := synth.Inner{Plan: &inner, Prefix: "x: ", Data: records.Clamped(view)}
		var got error
		p := must(synth.NewProgram("enclosing", s, b, part.Stages(), ending{part: part, got: &got}))(t)
		if _, err := p.Fit(t.Context(), table); err != nil {
			t.Fatal(err)
		}
		if errors.Is(got, synth.ErrData) != fails || !fails && got != nil {
			t.Errorf("data that fail: %v: the part returns %v", fails, got)
		}
	}
}

// ending is a system that carries out another one and keeps its error.
type ending struct {
	reading
	part synth.Inner
	got  *error
}

func (w ending) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	_, *w.got = r.FitInner(ctx, w.part)
	return nil, nil
}
