package synthtest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// testCheckpoints interrupts runs at several places. It checks that the same call continues the
// run, on the old ledger and on a fresh one, and draws no more than was reserved. After the run is
// complete, the same call must return the same result: if all releases are the same, that of a run
// without interruptions.
func (s Subject) testCheckpoints(t *testing.T) {
	for i, r := range relations {
		p, data := s.quickest(t, budgetOf(r), i) // with classes under one of them
		n := 0                                   // reports
		whole := must(p.FitOn(forced(t), ledger.New(p.Budget()), data, synth.On(device.CPUWith(1)),
			synth.Checkpoint(filepath.Join(tempDir(t), "run")),
			synth.OnProgress(func(synth.Progress) { n++ })))(t)
		places, fresh := cmp.Or(s.Interrupts, 6), r == accountant.ReplaceOne
		for i := range places {
			at := 1 + i*max(n-1, 1)/places
			t.Run(name("report ", at, " of ", n, ", fresh ", fresh), func(t *testing.T) {
				gen := s.interrupted(t, p, data, at, fresh)
				if !reflect.DeepEqual(modelOf(t, gen), modelOf(t, whole)) {
					t.Error("an interrupted run returns another result than one that was not interrupted")
				}
			})
		}
	}
}

// modelOf returns a generator's file without its guarantee, and records that it draws.
func modelOf(t *testing.T, g *synth.Generator) []any {
	file := must(g.Model().Encode())(t)
	return []any{file, contents(must(g.Sample(t.Context(), 40, synth.Seed(1)))(t))}
}

// interrupted cancels a run again and again, each time after one more report, until it completes.
func (s Subject) interrupted(t *testing.T, p synth.Plan, data records.Data, at int,
	fresh bool) (gen *synth.Generator) {
	path := filepath.Join(tempDir(t), "run")
	keep := synth.CheckpointEvery(path, 2)
	l, ctx := ledger.New(p.Budget()), forced(t)
	for try := 0; gen == nil; try++ {
		if try > 200 {
			t.Fatal("the run never completes")
		}
		if fresh {
			l = ledger.New(p.Budget())
		}
		gen = s.try(ctx, t, p, l, data, at+try, keep, path)
	}
	checkDrawn(t, p, l)
	spent := taken(l)
	again := fit(t, p, l, data, keep)
	if taken(l) != spent {
		t.Errorf("the call after a complete run drew %d more times", taken(l)-spent)
	}
	if !reflect.DeepEqual(modelOf(t, gen), modelOf(t, again)) {
		t.Error("the same call returns another result")
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(files) != 1 {
		t.Errorf("got the files %v, want the checkpoint only", files)
	}
	return gen
}

// try runs the plan and cancels it at the given number of progress reports. It returns the
// generator of a run that completed, and nil for an interrupted one.
func (s Subject) try(ctx context.Context, t *testing.T, p synth.Plan, ledger *ledger.Ledger,
	data records.Data, reports int, keep synth.Option, path string) *synth.Generator {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := 0
	gen, err := p.FitOn(ctx, ledger, data, keep, synth.On(device.CPUWith(1)),
		synth.OnProgress(func(synth.Progress) {
			if seen++; seen == reports {
				cancel()
			}
		}))
	if err == nil {
		return gen
	}
	var stopped *synth.Interrupted
	if !errors.Is(err, context.Canceled) || !errors.As(err, &stopped) || stopped.Checkpoint != path {
		t.Fatalf("interrupted after report %d: got %v, want an Interrupted with this checkpoint", reports,
			err)
	}
	return nil
}

// answers makes the n-th release of each purpose the same in all runs.
type answers struct {
	tracer
	made map[string]int
}

func forced(t *testing.T) context.Context {
	return entropy.WithTap(t.Context(), answers{made: map[string]int{}})
}

func (a answers) Release(r *entropy.Release) error {
	a.made[r.Purpose]++
	for i, out := range r.Outputs {
		for j := range out {
			v := math.Sin(float64(7*a.made[r.Purpose] + 3*i + j))
			if choices := len(r.Inputs[i]); len(out) < choices {
				out[j] = math.Floor(v * v * (float64(choices) - 0.01))
			} else if len(r.Std) > 0 {
				out[j] = math.Round(r.Std[i]*(1+3*v)/r.Grid[i]) * r.Grid[i]
			}
		}
	}
	return nil
}

// checkDrawn checks that a ledger never counts more uses as taken than were reserved. The plan must
// be reserved once. A stage that is drawn once is reserved in shares of the same price.
func checkDrawn(t *testing.T, p synth.Plan, l *ledger.Ledger) {
	t.Helper()
	eachEntry(l, func(e ledger.Entry) {
		if e.Spent > e.Reserved {
			t.Errorf("%s: %d drawn of %d reserved", e.Purpose, e.Spent, e.Reserved)
		}
	})
	if got, want := l.Epsilon().Upper, p.Total().Upper; got > want*(1+1e-6) ||
		got < want*(1-1e-3) {
		t.Errorf("the ledger has ε = %v, want the plan's %v", got, want)
	}
}

func taken(l *ledger.Ledger) (n int) {
	eachEntry(l, func(e ledger.Entry) { n += e.Spent })
	return n
}

// testTaken checks that a checkpoint serves one plan only, and one run at a time. A run whose file
// was replaced or removed must stop before it draws more.
func (s Subject) testTaken(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	path := filepath.Join(tempDir(t), "run")
	keep := synth.CheckpointEvery(path, 1)
	first := true
	var beside error
	gen := fit(t, p, ledger.New(p.Budget()), data, keep,
		synth.OnProgress(func(synth.Progress) {
			if first {
				first = false
				_, beside = p.FitOn(context.Background(), ledger.New(p.Budget()), data, keep)
			}
		}))
	if !errors.Is(beside, synth.ErrTaken) {
		t.Errorf("a second run during the first: got error %v, want ErrTaken", beside)
	}
	if gen == nil {
		t.Fatal("no generator")
	}
	other := must(s.Plan(p.Schema(), accountant.Budget{Epsilon: 2, Delta: 1e-5}, rows))(t)
	if _, err := other.Fit(t.Context(), data, keep); !errors.Is(err, synth.ErrPlan) {
		t.Errorf("a checkpoint of another plan: got error %v, want ErrPlan", err)
	}
	s.replaced(t, p, data)
	folder := tempDir(t)
	l := ledger.New(p.Budget())
	if _, err := p.FitOn(t.Context(), l, data, synth.Checkpoint(folder)); err == nil {
		t.Error("a folder is accepted as a checkpoint")
	}
	if len(l.Entries()) > 0 {
		t.Errorf("a run that could not start reserved %v", l.Entries())
	}
}

// replaced removes the file during a run, and replaces it with an older copy during another run.
func (s Subject) replaced(t *testing.T, p synth.Plan, data records.Data) {
	for _, remove := range []bool{true, false} {
		path := filepath.Join(tempDir(t), "run")
		var old []byte
		done := false
		_, err := p.Fit(context.Background(), data, synth.CheckpointEvery(path, 1), synth.OnProgress(
			func(synth.Progress) {
				text, err := os.ReadFile(path)
				switch {
				case err != nil || done:
				case old == nil:
					old = text
				case remove:
					done = os.Remove(path) == nil
				case string(old) != string(text):
					done = os.WriteFile(path, old, 0o600) == nil
				}
			}))
		if done && err != nil && !errors.Is(err, synth.ErrTaken) {
			t.Errorf("the file was changed, removed %v: got error %v, want ErrTaken", remove, err)
		}
		if done && err == nil {
			t.Logf("removed %v: the run had nothing left to write", remove)
		}
	}
}
