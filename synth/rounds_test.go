package synth

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestRoundsAreCountedFirst: before a round of lanes begins, the checkpoint counts the uses that
// every lane makes in it, at most the line's, and those of no other stage. A round that is already
// counted writes nothing. After the run nothing can be counted.
func TestRoundsAreCountedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	var over *Run
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		over = r
		lanes := r.Allowances("steps")
		for _, step := range []struct {
			each  int
			want  []int // of the lanes and of the other stage
			write bool
			draws []int // of each lane, after the round is counted
		}{
			{2, []int{4, 4, 0}, true, []int{2, 1}}, // two rounds of two uses are counted at once
			{2, []int{4, 4, 0}, false, []int{2, 3}},
			{1, []int{6, 6, 0}, true, []int{0, 0}},
			{9, []int{8, 7, 0}, true, []int{0, 0}}, // no more than the lines have
			{9, []int{8, 7, 0}, false, []int{4, 3}},
			{1, []int{8, 7, 0}, false, []int{0, 0}},
		} {
			before, taken := r.keeper.nonce, []int(nil)
			if err := r.Ahead("steps", step.each); err != nil {
				return nil, err
			}
			for _, line := range r.keeper.lines {
				taken = append(taken, line.taken)
			}
			if written := r.keeper.nonce != before; !slices.Equal(taken, step.want) ||
				written != step.write {
				t.Errorf("%d uses each: the file counts %v, want %v; written: %t", step.each, taken,
					step.want, written)
			}
			for i, n := range step.draws {
				for range n {
					if _, err := lanes[i].Next(); err != nil {
						return nil, err
					}
				}
			}
		}
		return nil, nil
	}}
	p := deedOf(t, records.Binary(2), work, Stage{Purpose: "steps", Event: normal, Count: 15,
		Lanes: 2},
		Stage{Purpose: "other", Event: normal, Count: 2})
	if _, err := p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 9), CheckpointEvery(path,
		2)); err != nil {
		t.Fatal(err)
	}
	if err := over.Ahead("steps", 1); !errors.Is(err, errOver) {
		t.Errorf("a run that is over counts ahead: %v", err)
	}
	if err := (&Run{}).Ahead("steps", 1); err != nil {
		t.Errorf("a run without a checkpoint: %v", err)
	}
}

var errFull = errors.New("the disk is full")

// failing is a backend whose journals append nothing as long as fails holds.
type failing struct {
	ledger.Backend
	fails *bool
}

type failingJournal struct {
	ledger.Journal
	fails *bool
}

func (f failing) Journal(ctx context.Context, name string, mode ledger.Mode) (ledger.Journal,
	error) {
	j, err := f.Backend.Journal(ctx, name, mode)
	return failingJournal{j, f.fails}, err
}

func (j failingJournal) Append(ctx context.Context, after ledger.Position,
	lines []ledger.JournalLine) error {
	if *j.fails {
		return errFull
	}
	return j.Journal.Append(ctx, after, lines)
}

// TestRunsThatReserveNothing: the file of a run that the ledger refuses is removed. If the ledger
// failed, it may hold the reservation, so the file stays, and the same call goes on.
func TestRunsThatReserveNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		_, err := r.Allowance("use").Next()
		return nil, err
	}}, Stage{Purpose: "use", Event: normal, Count: 2})
	data, small := bits(t, 9), ledger.New(accountant.Budget{Epsilon: 0.1, Delta: 1e-5})
	for range 2 {
		if _, err := p.FitOn(t.Context(), small, data, Checkpoint(path)); !errors.Is(err,
			accountant.ErrBudgetExceeded) || errors.As(err, new(*Interrupted)) {
			t.Errorf("a budget that is too small: %v", err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file of a refused run: %v", err)
		}
	}
	fails := false
	s := ledger.NewStore(failing{ledger.Memory().Backend, &fails})
	open := func() *ledger.Ledger {
		l, err := s.Create(t.Context(), "people", ledger.Terms{Budget: deedBudget})
		if errors.Is(err, ledger.ErrExists) {
			l, err = s.Open(t.Context(), "people")
		}
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open()
	fails = true
	var interrupted *Interrupted
	if _, err := p.FitOn(t.Context(), l, data, Checkpoint(path)); !errors.Is(err, errFull) ||
		!errors.As(err, &interrupted) || interrupted.Checkpoint != path {
		t.Errorf("a ledger that failed: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("the file of a run whose ledger failed:", err)
	}
	_ = l.Close()
	fails = false
	l = open()
	defer l.Close()
	tr, err := Pending(t.Context(), p, l, data, Checkpoint(path))
	if err != nil || tr.ID == "" {
		t.Errorf("the run is no longer pending: %v", err)
	}
	if _, err := p.FitOn(t.Context(), l, data, Checkpoint(path)); err != nil ||
		l.Entries()[0].Spent != 1 {
		t.Errorf("the same call: %v, %+v", err, l.Entries())
	}
}

// joint is a model of a text and a class with known probabilities. It draws all six records in
// turn, of those that it is conditioned on. It conditions on single values of the columns in known.
type joint struct {
	s     records.Schema
	p     map[[2]string]float64
	known []string
	only  map[string]string
}

func (m joint) Schema() records.Schema { return m.s }
func (joint) Encode() (*File, error)   { return nil, errors.ErrUnsupported }

func (m joint) Sampler(d Draw) (Sampler, error) {
	return Sampler{Schema: m.s, Next: func(n int) (records.Data, error) {
		var rows [][]any
		for len(rows) < n {
			for _, x := range []string{"a", "b", "c"} {
				for class, name := range []string{"u", "v"} {
					if m.allows(x, name) && (d.Class < 0 || d.Class == class) && len(rows) < n {
						rows = append(rows, []any{x, name})
					}
				}
			}
		}
		return records.FromValues(m.s, rows...)
	}}, nil
}

func (m joint) allows(x, class string) bool {
	return (m.only["x"] == "" || m.only["x"] == x) && (m.only["class"] == "" ||
		m.only["class"] == class)
}

func (m joint) Condition(list []records.Constraint) (Model, []int, float64) {
	var met []int
	given, p := m, 0.0
	given.only = map[string]string{}
	for i, c := range list {
		if value, one := c.Value(); one && slices.Contains(m.known, c.Columns()[0]) {
			given.only[c.Columns()[0]] = value
			met = append(met, i)
		}
	}
	for cell, share := range m.p {
		if given.allows(cell[0], cell[1]) {
			p += share
		}
	}
	return given, met, p
}

// TestConditionedDraws: what a draw states of constraints that the model itself meets, for all
// records and within a class.
func TestConditionedDraws(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("x", "a", "b", "c"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	p := map[[2]string]float64{{"a", "u"}: 0.25, {"b", "u"}: 0.125, {"a", "v"}: 0.125, {"c",
		"v"}: 0.5}
	a, c, u := records.Only("x", "a"), records.Only("x", "c"), records.Only("class", "u")
	both := []string{"x", "class"}
	some := records.Only("x", "a", "b")
	for what, w := range map[string]struct {
		known       []string
		opts        []DrawOption
		exact       []records.Constraint
		probability float64
		none        bool
	}{
		"nothing known": {nil, []DrawOption{Given(a)}, nil, 0, false},
		"all records":   {both, []DrawOption{Given(a)}, []records.Constraint{a}, 0.375, false},
		"by rejection":  {both, []DrawOption{Given(some)}, nil, 0, false},
		"one of two": {both, []DrawOption{Given(some, a)}, []records.Constraint{a}, 0.375,
			false},
		"in a class": {both, []DrawOption{Given(a), OfClass(1)}, []records.Constraint{a}, 0.2,
			false},
		"of a class": {both, []DrawOption{Given(u)}, []records.Constraint{u}, 0.375, false},
		"both": {both, []DrawOption{Given(u, a)}, []records.Constraint{u, a}, 0.25,
			false},
		"an unknown class": {both[:1], []DrawOption{Given(a), OfClass(1)}, []records.Constraint{a}, 0,
			false},
		"impossible":         {both, []DrawOption{Given(c, u)}, []records.Constraint{u, c}, 0, true},
		"impossible records": {both, []DrawOption{Given(records.Only("x", "b"), a)}, nil, 0, true},
	} {
		gen := NewGenerator("joint", joint{s: s, p: p, known: w.known}, ledger.Guarantee{})
		var done Accepted
		drawn, err := gen.Sample(t.Context(), 7, append(w.opts, OnAccepted(func(a Accepted) {
			done = a
		}))...)
		var rejected *Rejected
		if w.none {
			if what == "impossible" && (!errors.As(err, &rejected) || rejected.Probability != 0 ||
				len(rejected.Exact) != len(w.exact)) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err != nil || drawn.Len() != 7 {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var exact []string
		for _, c := range w.exact {
			exact = append(exact, c.String())
		}
		if !slices.Equal(done.Exact, exact) || done.Probability != w.probability {
			t.Errorf("%s: exactly %q with probability %v, want %q with %v", what, done.Exact,
				done.Probability, exact, w.probability)
		}
	}
}

// TestGeneratorsThatAreNone: the zero value and nil have no system, model or schema, and draw
// nothing.
func TestGeneratorsThatAreNone(t *testing.T) {
	for _, g := range []*Generator{nil, {}} {
		if g.System() != "" || g.Model() != nil || g.Schema().Dim() != 0 || g.Clusters() != 1 ||
			g.String() != "generator: none" {
			t.Errorf("%v has the system %q", g, g.System())
		}
		if _, err := g.Sample(t.Context(), 1); err == nil {
			t.Error("a generator that is none draws records")
		}
	}
}
