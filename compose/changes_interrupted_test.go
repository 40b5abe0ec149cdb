package compose_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// stripes returns 60 images of two classes.
func stripes(t *testing.T) *records.Table {
	t.Helper()
	flat, labels := make([]float32, 60*36), make([]int32, 60)
	for i := range flat {
		labels[i/36] = int32(i / 36 % 2)
		flat[i] = float32(i%7)/12 + float32(i/36%2)/2
	}
	return must(records.FromFlat(records.Image(6, 6).WithLabels("a", "b"), flat, labels...))(t)
}

// stopped is a context that ends after a number of looks at Err, once it is armed.
type stopped struct {
	context.Context
	armed bool
	looks int
}

func (c *stopped) Err() error {
	if c.armed {
		if c.looks--; c.looks < 0 {
			return context.Canceled
		}
	}
	return c.Context.Err()
}

// TestInterruptedChoicesLoseNothing interrupts runs after the last mixture, before the choice. The
// run that resumes has all mixtures.
func TestInterruptedChoicesLoseNothing(t *testing.T) {
	const mixtures = 3000
	data := stripes(t)
	b := accountant.Budget{Epsilon: 8, Delta: 1e-5}
	of := mix.Config{Mixtures: mixtures, ClipNorm: 2, Sampling: mix.Poisson{Nominal: 60, Degree: 4}}
	p := must(compose.Changes{Of: of, Records: 30, Candidates: []compose.Change{{},
		{Distortion: 1}}}.PlanFor(data.Schema(), b))(t)
	for _, looks := range []int{0, 1, 3} {
		path, l := filepath.Join(t.TempDir(), "run"), ledger.New(b)
		ctx := &stopped{Context: t.Context(), looks: looks}
		_, err := p.FitOn(ctx, l, data, synth.Checkpoint(path),
			synth.OnProgress(func(now synth.Progress) { ctx.armed = now.Step == now.Of }))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d looks: the run ends with %v, want an interruption", looks, err)
		}
		for _, e := range l.Entries() {
			if e.Purpose == "choice of a change" && e.Spent > 0 {
				t.Errorf("after %d looks: the choice is spent before it is made", looks)
			}
		}
		gen := must(p.FitOn(t.Context(), l, data, synth.Checkpoint(path)))(t)
		part := must(compose.Part(gen, 0))(t)
		if n := part.Model().(*mix.Model).Rows().Len(); n != mixtures {
			t.Errorf("after %d looks: %d of %d mixtures are left", looks, n, mixtures)
		}
	}
}

// echoes is the work of a system whose model returns the given records.
type echoes struct{ of records.Data }

func (echoes) Title() string                    { return "echoes" }
func (echoes) Notes() []string                  { return nil }
func (echoes) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }

func (w echoes) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	grant, err := r.Allowance("sum").Next()
	if err != nil {
		return nil, err
	}
	_, err = grant.Exponential([]int64{0})
	return echo(w), err
}

type echo struct{ of records.Data }

func (m echo) Schema() records.Schema        { return m.of.Schema() }
func (echo) Encode() (*synth.File, error)    { return synth.NewFile(struct{}{}) }
func (m echo) clone(n int) (list []int32)    { return make([]int32, n) }
func (m echo) table() (*records.Table, bool) { t, ok := m.of.(*records.Table); return t, ok }

func (m echo) Sampler(synth.Draw) (synth.Sampler, error) {
	drawn := 0
	next := func(n int) (records.Data, error) {
		drawn += n
		if t, ok := m.table(); ok {
			return t.Take(m.clone(n)), nil
		}
		return first{m.of, n}, nil
	}
	return synth.Sampler{Schema: m.Schema(), Next: next, Unaccepted: func() int { return drawn }}, nil
}

// first is the first record of data, n times. It is not a *records.Table.
type first struct {
	of records.Data
	n  int
}

func (d first) Schema() records.Schema               { return d.of.Schema() }
func (d first) Len() int                             { return d.n }
func (d first) Gather(rows []int32, b *device.Batch) { d.of.Gather(make([]int32, len(rows)), b) }
func (d first) Range(lo, hi int, b *device.Batch)    { d.of.Gather(make([]int32, hi-lo), b) }

type echoPlan struct{ synth.Program }

// echoing plans a choice of changes of the records that are given.
func echoing(t *testing.T, of records.Data) synth.Plan {
	t.Helper()
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	echo := design(func(s records.Schema, b accountant.Budget) (synth.Plan, error) {
		program, err := synth.NewProgram("echoes", s, b, []synth.Stage{{Purpose: "sum",
			Count: 1, Event: accountant.ExponentialMechanism{Epsilon: b.Epsilon / 2}}}, echoes{of})
		return &echoPlan{program}, err
	})
	p := must(compose.Changes{Of: echo, Records: 10, Candidates: []compose.Change{{Distortion: 1},
		{Distortion: 2}}}.PlanFor(of.Schema(), b))(t)
	return p
}

// TestClassifiersDoNotLearnFromPrivateRecords: a model that returns the private records is refused
// before a classifier sees them.
func TestClassifiersDoNotLearnFromPrivateRecords(t *testing.T) {
	data := stripes(t)
	_, err := echoing(t, data).Fit(t.Context(), data)
	if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "compose.Changes.Of" {
		t.Errorf("got error %v", err)
	}
}

// TestChangesFitAllData: records of a user-defined type can be changed. The other system's count of
// records that it did not accept is passed on.
func TestChangesFitAllData(t *testing.T) {
	gen := must(echoing(t, first{stripes(t), 10}).Fit(t.Context(), stripes(t)))(t)
	var done synth.Accepted
	rows, err := gen.Sample(t.Context(), 5, synth.OnAccepted(func(a synth.Accepted) { done = a }))
	if err != nil || rows.Len() != 5 {
		t.Errorf("no records of the chosen change: %v", err)
	}
	if done.Unaccepted != 5 {
		t.Errorf("%d records are unaccepted, want the 5 of the other system", done.Unaccepted)
	}
}

// TestRunsThatCannotEndAreRefused lists plans whose classifiers could not be trained.
func TestRunsThatCannotEndAreRefused(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	for want, c := range map[string]struct{ height, width, records int }{
		"Records":   {28, 28, 1 << 24},
		"PlanFor.s": {1 << 11, 1 << 10, 10},
	} {
		s := records.Image(c.height, c.width).WithLabels("a", "b")
		_, err := compose.Changes{Of: embedding(60), Records: c.records}.PlanFor(s, b)
		if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "compose.Changes."+want {
			t.Errorf("%d images of %d×%d: got error %v", c.records, c.height, c.width, err)
		}
	}
}
