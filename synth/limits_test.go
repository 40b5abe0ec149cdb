package synth

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestStagesAtTheirLimits: a stage is planned at the limits of its fields, and refused just beyond
// with the path of the mistake, under both relations.
func TestStagesAtTheirLimits(t *testing.T) {
	with := func(change func(*Stage)) Stage {
		s := Stage{Purpose: "a", Event: normal, Count: 1}
		change(&s)
		return s
	}
	for i, c := range []struct {
		stage Stage
		path  string // "" for none
	}{
		{with(func(*Stage) {}), ""},
		{with(func(s *Stage) { s.Purpose = "" }), "Purpose"},
		{with(func(s *Stage) { s.Event = nil }), "Event"},
		{with(func(s *Stage) { s.Count = 0 }), "Count"},
		{with(func(s *Stage) { s.Lanes = 1 }), ""}, {with(func(s *Stage) { s.Lanes = -1 }), "Lanes"},
		{with(func(s *Stage) { s.Parts = 1 }), ""}, {with(func(s *Stage) { s.Parts = -1 }), "Parts"},
		{with(func(s *Stage) { s.Parts, s.MovesCovered = 2, true }), ""},
		{with(func(s *Stage) { s.Parts = 2 }), "MovesCovered"},
		{with(func(s *Stage) { s.Once = true }), ""},
		{with(func(s *Stage) { s.Once, s.Parts, s.Lanes = true, 1, 1 }), ""},
		{with(func(s *Stage) { s.Once, s.Count = true, 2 }), "Once"},
		{with(func(s *Stage) { s.Once, s.Lanes, s.Count = true, 2, 1 }), "Once"},
		{with(func(s *Stage) { s.Once, s.Parts, s.MovesCovered = true, 2, true }), "Once"},
		{with(func(s *Stage) { s.Once, s.Event = true, accountant.Pure{Epsilon: 1} }), "Once"},
	} {
		for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne,
			accountant.ReplaceOne} {
			b, path := deedBudget, c.path
			b.Relation = relation
			if path == "MovesCovered" && relation == accountant.AddOrRemoveOne {
				path = ""
			}
			_, err := NewProgram("deed", records.Binary(2), b, []Stage{c.stage}, deed{})
			var wrong *param.Error
			if (err == nil) != (path == "") || err != nil && (!errors.As(err, &wrong) ||
				wrong.Path != "synth.NewProgram.stages[0]."+path) {
				t.Errorf("case %d, %v: %v, want a mistake in %q", i, relation, err, path)
			}
		}
	}
	use := []Stage{{Purpose: "a", Event: normal, Count: 1}}
	for path, err := range map[string]error{
		"system": second(NewProgram("", records.Binary(2), deedBudget, use, deed{})),
		"work":   second(NewProgram("deed", records.Binary(2), deedBudget, use, nil)),
		"stages": second(NewProgram("deed", records.Binary(2), deedBudget, nil, deed{})),
	} {
		var wrong *param.Error
		if !errors.As(err, &wrong) || wrong.Path != "synth.NewProgram."+path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func spent(e ledger.Entry) bool { return e.Spent > 0 }

func second[T any](_ T, err error) error { return err }

// losing gives every release to nobody: it fails.
type losing struct{ releases int }

var errLosing = errors.New("lost")

func (*losing) Source() (*entropy.Source, error) { return entropy.New() }
func (*losing) Sample(entropy.Sample)            {}
func (*losing) Refuse(string, error)             {}
func (*losing) Spend(string, any, int, error)    {}
func (l *losing) Release(*entropy.Release) error { l.releases++; return errLosing }

// TestReleasesThatFail: an error before a release ends the run before a use is spent, with a
// checkpoint and without one. A release that fails ends it, too, and one whose shares were all lost
// is never made up.
func TestReleasesThatFail(t *testing.T) {
	unready := errors.New("not ready")
	var before error
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		_, err := r.Once("use", []int{1}, func() (float64, []mechanism.Part, error) {
			sum := mechanism.NewFixedSum(1, mechanism.GridFor(5))
			return 0.2, []mechanism.Part{{Sum: sum, Std: 5}}, before
		})
		return drawnBits{}, err
	}}
	p := deedOf(t, records.Binary(2), work, Stage{Purpose: "use", Event: normal, Count: 1, Once: true})
	path := filepath.Join(t.TempDir(), "run")
	for name, opts := range map[string][]Option{"kept": {Checkpoint(path)}, "not kept": nil} {
		before = unready
		tap, l := &losing{}, ledger.New(deedBudget)
		ctx := entropy.WithTap(t.Context(), tap)
		if _, err := p.FitOn(ctx, l, bits(t, 4), opts...); !errors.Is(err, unready) ||
			tap.releases > 0 || slices.ContainsFunc(l.Entries(), spent) {
			t.Errorf("%s: %v, %d releases, entries %+v", name, err, tap.releases, l.Entries())
		}
		before = nil
		if name == "not kept" {
			if _, err := p.FitOn(ctx, ledger.New(deedBudget), bits(t, 4)); !errors.Is(err, errLosing) {
				t.Errorf("a release that fails: %v", err)
			}
			continue
		}
		for i := range shares {
			if _, err := p.FitOn(ctx, l, bits(t, 4), opts...); !errors.Is(err, errLosing) ||
				tap.releases != i+1 {
				t.Errorf("share %d fails: %v, %d releases", i, err, tap.releases)
			}
		}
		if _, err := p.FitOn(ctx, l, bits(t, 4), opts...); !errors.Is(err, ErrLost) ||
			tap.releases != shares {
			t.Errorf("all shares are lost: %v, %d releases", err, tap.releases)
		}
	}
}

// TestUsesThatAreNotSpent: a checkpoint that counts a use passes on the error of spending it.
func TestUsesThatAreNotSpent(t *testing.T) {
	refused := errors.New("refused")
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		for range 2 { // a use that is not counted yet, and one that is
			if err := r.keeper.take(0, func() error { return refused }); !errors.Is(err, refused) {
				t.Errorf("a use that is not spent: %v", err)
			}
		}
		plain := &Run{program: r.program}
		if err := plain.take(0, func() error { return refused }); !errors.Is(err, refused) {
			t.Errorf("a use that is not spent, without a checkpoint: %v", err)
		}
		return drawnBits{}, nil
	}}
	p := deedOf(t, records.Binary(2), work, Stage{Purpose: "use", Event: normal, Count: 3})
	if _, err := p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 4),
		Checkpoint(filepath.Join(t.TempDir(), "run"))); err != nil {
		t.Fatal(err)
	}
}

// TestUnitsOfRecords: a run is refused before its fit if its ledger does not protect the unit of
// its records.
func TestUnitsOfRecords(t *testing.T) {
	fits := 0
	p := deedOf(t, records.Binary(2), deed{run: func(context.Context, *Run) (Model, error) {
		fits++
		return drawnBits{}, nil
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	for _, unit := range []string{records.UnitRecord, records.UnitUser} {
		for _, of := range []string{records.UnitRecord, records.UnitUser, records.UnitPart} {
			l := ledger.New(deedBudget, ledger.WithUnit(unit))
			before := fits
			_, err := p.FitOn(t.Context(), l, records.WithUnit(bits(t, 4), of))
			if good := unit == of; (err == nil) != good || good != (fits > before) ||
				!good && len(l.Entries()) > 0 {
				t.Errorf("records of the unit %q on a ledger of %q: %v", of, unit, err)
			}
		}
	}
}

// TestLoadOptions: what a system reads a model with: the given backend or that of the processor,
// and the given limits, which must be valid.
func TestLoadOptions(t *testing.T) {
	var got Loading
	list := Systems{{Name: "deed", Plan: func(SavedPlan) (Plan, error) { return nil, nil },
		Model: func(_ *File, l Loading) (Model, error) { got = l; return drawnBits{}, nil }}}
	var saved bytes.Buffer
	p := deedOf(t, records.Binary(2), deed{run: func(context.Context, *Run) (Model, error) {
		return drawnBits{}, nil
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	g, err := p.Fit(t.Context(), bits(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Save(&saved); err != nil {
		t.Fatal(err)
	}
	load := func(opts ...LoadOption) error {
		return second(list.Load(bytes.NewReader(saved.Bytes()), opts...))
	}
	if err := load(nil); err != nil || got.Backend == nil || got.Limits.Values != 0 {
		t.Errorf("without options: %v, %+v", err, got)
	}
	own := struct{ device.Backend }{device.CPU()}
	limits := records.Limits{Values: 9999, Depth: 50}
	if err := load(LoadOn(own), WithLimits(limits)); err != nil ||
		got.Backend != device.Backend(own) || got.Limits != limits {
		t.Errorf("with options: %v, %+v", err, got)
	}
	var wrong *param.Error
	if err := load(WithLimits(records.Limits{Values: -1})); !errors.As(err, &wrong) {
		t.Errorf("a negative limit: %v", err)
	}
	if err := load(WithLimits(records.Limits{Depth: 1})); !errors.Is(err, ErrFormat) {
		t.Errorf("a file beyond the limits: %v", err)
	}
}

// TestFilesThatCannotBeMade: an error of the header or of a part is an error of the file, and a
// section of a negative length is no section.
func TestFilesThatCannotBeMade(t *testing.T) {
	unready := errors.New("not ready")
	if _, err := NewFile(math.NaN()); err == nil {
		t.Error("a header that JSON cannot hold is written")
	}
	bad := Part{Name: "x", Save: func() ([]byte, error) { return []byte{1}, unready }}
	if _, err := NewFile(7, bad); !errors.Is(err, unready) {
		t.Errorf("a part that cannot be saved: %v", err)
	}
	text := encoded(t, &File{Kind: "deed", Header: []byte("{}"), Sections: []Section{{Name: "x",
		Data: make([]byte, 10)}}})
	if !bytes.Contains(text, []byte(`"bytes":10`)) {
		t.Fatalf("no section of 10 bytes in %q", text)
	}
	hostile := bytes.Replace(text, []byte(`"bytes":10`), []byte(`"bytes":-1`), 1)
	if _, err := DecodeFile(bytes.NewReader(hostile)); !errors.Is(err, ErrFormat) {
		t.Errorf("a section of -1 bytes: %v", err)
	}
}

// TestPreviewsThatFail: the error of a model for a preview ends the run, and a preview that is not
// due makes no model.
func TestPreviewsThatFail(t *testing.T) {
	unready := errors.New("not ready")
	var seen []int
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		for step := 1; step < 4; step++ {
			if err := r.Preview(step, func() (Model, error) { return drawnBits{}, nil }); err != nil {
				return nil, err
			}
		}
		err := r.Preview(5, func() (Model, error) { t.Error("step 5 is not due"); return nil, nil })
		return drawnBits{}, errors.Join(err, r.Preview(6, func() (Model, error) { return nil, unready }))
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	_, err := p.Fit(t.Context(), bits(t, 4), OnPreview(2, func(step int, _ *Generator) {
		seen = append(seen, step)
	}))
	if !errors.Is(err, unready) || !slices.Equal(seen, []int{2}) {
		t.Errorf("previews of steps %v, error %v", seen, err)
	}
}
