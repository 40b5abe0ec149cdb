package synthtest

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// testSharedLedger runs many fits at once on a ledger that can pay for some of them. The number of
// completed fits must be the number that the ledger can pay for. The others must be refused before
// they draw anything.
func (s Subject) testSharedLedger(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	const fits, payable = 6, 3
	l := ledger.New(accountant.Budget{Epsilon: costOf(t, p, payable),
		Delta: p.Budget().Delta})
	errs := make([]error, fits)
	var group sync.WaitGroup
	for i := range fits {
		group.Go(func() { _, errs[i] = p.FitOn(context.Background(), l, data) })
	}
	group.Wait()
	complete := 0
	for _, err := range errs {
		switch {
		case err == nil:
			complete++
		case !errors.Is(err, accountant.ErrBudgetExceeded):
			t.Error(err)
		}
	}
	if complete != payable {
		t.Errorf("%d of %d fits completed, want the %d that can be paid for", complete, fits, payable)
	}
	eachEntry(l, func(e ledger.Entry) {
		if e.Spent != e.Reserved {
			t.Errorf("%s: %d drawn of %d reserved", e.Purpose, e.Spent, e.Reserved)
		}
	})
}

// costOf returns ε of n runs of a plan on one ledger.
func costOf(t *testing.T, p synth.Plan, runs int) float64 {
	t.Helper()
	var all accountant.Composed
	for range runs {
		all.Events = append(all.Events, synth.Total(p.Stages()...))
	}
	cost := must(accountant.Epsilon(all, p.Budget().Delta, p.Budget().Relation))(t)
	return cost.Upper * (1 + 1e-6)
}

func eachEntry(l *ledger.Ledger, visit func(ledger.Entry)) {
	for _, e := range l.Entries() {
		visit(e)
	}
	for _, g := range l.Children() {
		for _, c := range g.Parts {
			eachEntry(c, visit)
		}
	}
}

// reports counts the progress reports of a run, in total and by stage.
func (s Subject) reports(t *testing.T, p synth.Plan, data records.Data) (n int,
	stages map[string]int) {
	t.Helper()
	stages = map[string]int{}
	fit(t, p, ledger.New(p.Budget()), data, synth.OnProgress(func(at synth.Progress) {
		n++
		if stages[at.Stage]++; at.Step < 1 || at.Step > at.Of {
			t.Errorf("got a report of step %d of %d of %s", at.Step, at.Of, at.Stage)
		}
		if !(at.Epsilon >= 0 && at.Epsilon <= p.Total().Upper*(1+1e-6)) {
			t.Errorf("%s: ε = %v so far of %v", at.Stage, at.Epsilon, p.Total().Upper)
		}
	}))
	for _, stage := range p.Stages() {
		if stages[stage.Purpose] == 0 {
			t.Logf("the run does not report %s", stage.Purpose)
		}
	}
	if n == 0 {
		t.Error("the run reports no progress")
	}
	return n, stages
}

// testCancellation checks that a run cancelled at any stage ends with the context's error and gets
// no refund. Only a run that has reported all may complete. A run cancelled beforehand must reserve
// nothing, and a run cancelled while it reads records must draw nothing more.
func (s Subject) testCancellation(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	n, stages := s.reports(t, p, data)
	for stage := range stages {
		ctx, cancel := context.WithCancel(t.Context())
		l, seen := ledger.New(p.Budget()), 0
		_, err := p.FitOn(ctx, l, data, synth.OnProgress(func(at synth.Progress) {
			if ctx.Err() == nil {
				seen++
			}
			if at.Stage == stage {
				cancel()
			}
		}))
		cancel()
		if !errors.Is(err, context.Canceled) && (err != nil || seen < n) {
			t.Errorf("cancelled in %s: got error %v, want context.Canceled", stage, err)
		}
		if got := l.Epsilon().Upper; got < p.Total().Upper*(1-1e-3) {
			t.Errorf("cancelled in %s: ε = %v of %v is reserved", stage, got, p.Total().Upper)
		}
		if _, err := p.FitOn(t.Context(), l, data); !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("cancelled in %s: a second run: got error %v, want ErrBudgetExceeded", stage, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := ledger.New(p.Budget())
	if _, err := p.FitOn(ctx, l, data); !errors.Is(err, context.Canceled) ||
		len(l.Entries()) > 0 {
		t.Errorf("cancelled beforehand: got error %v and entries %v, want context.Canceled and none", err,
			l.Entries())
	}
	ctx, cancel = context.WithCancel(t.Context())
	before := 0
	first := sync.OnceFunc(func() {
		before = taken(l)
		cancel()
	})
	const chunks = 20_000 // rows that no system reads at once
	many := failing{Data: sample(t, p.Schema(), chunks, 1), read: first}
	_, err := p.FitOn(ctx, l, many)
	if after := taken(l); !errors.Is(err, context.Canceled) || after > before {
		t.Errorf("cancelled at the first read: got error %v and %d further draws, want context.Canceled "+
			"and none", err, after-before)
	}
}

// testOptions checks that, given the same noise, a plan results in the same generator with any
// options.
func (s Subject) testOptions(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	draw := func(opts ...synth.Option) device.Batch {
		l := ledger.New(p.Budget())
		gen := must(p.FitOn(privacytest.Seeded(t, t.Context(), 7), l, data, opts...))(t)
		if gen.Guarantee().NotPrivate == "" {
			t.Error("a guarantee with deterministic noise claims to be private")
		}
		drawn := must(gen.Sample(t.Context(), 50, synth.Seed(3)))(t)
		return contents(drawn)
	}
	want := draw()
	for what, opts := range map[string][]synth.Option{"none": nil,
		"one worker":    {synth.On(device.CPUWith(1))},
		"three workers": {synth.On(device.CPUWith(3))},
		"progress":      {synth.OnProgress(func(synth.Progress) {})},
		"previews": {synth.OnPreview(1, func(_ int, g *synth.Generator) {
			if _, err := g.Sample(context.Background(), 2); err != nil {
				t.Error(err)
			}
		})}} {
		if !reflect.DeepEqual(draw(opts...), want) {
			t.Errorf("%s: the generator draws other records than without options", what)
		}
	}
}

// losing is a journal that cannot count one of the uses, or a run's noise that cannot be drawn for
// one of them.
type losing struct {
	ledger.Journal
	tracer
	uses *int64 // before that one; a system may draw concurrently
}

var errLosing = errors.New("a full disk")

func (l losing) next() error {
	if atomic.AddInt64(l.uses, -1) == -1 {
		return errLosing
	}
	return nil
}

func (l losing) Release(*entropy.Release) error { return l.next() }

func (l losing) Append(ctx context.Context, at ledger.Position, lines []ledger.JournalLine) error {
	if bytes.Contains(lines[len(lines)-1].Text, []byte(`"spend":`)) {
		if err := l.next(); err != nil {
			return err
		}
	}
	return l.Journal.Append(ctx, at, lines)
}

// testLostUses checks that a run ends with the error of a use that the ledger cannot count, and of
// noise that cannot be drawn, whichever use it is.
func (s Subject) testLostUses(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	for _, noise := range []bool{false, true} {
		run := func(uses int64) (left int64, err error) {
			l := losing{must(ledger.Memory().Journal(t.Context(), "x", ledger.Create))(t),
				tracer{}, &uses}
			ctx, on := entropy.WithTap(t.Context(), l), ledger.New(p.Budget())
			if !noise {
				ctx = t.Context()
				on = must(ledger.CreateOn(ctx, l, ledger.Terms{Name: "x", Budget: p.Budget()}))(t)
			}
			_, err = p.FitOn(ctx, on, data)
			return uses, err
		}
		last := 1<<30 - must(run(1<<30))(t) - 1
		for i := range int64(9) {
			if left, err := run(last * i / 8); left < 0 && !errors.Is(err, errLosing) {
				t.Errorf("use %d of %d, noise %v: got error %v", last*i/8, last, noise, err)
			}
		}
	}
}
