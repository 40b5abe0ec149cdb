package synth_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestTheFileCountsUsesFirst checks that the checkpoint has counted every use when the use may be
// drawn, however many uses are counted at a time. Otherwise a killed run would draw it again.
func TestTheFileCountsUsesFirst(t *testing.T) {
	const count = 7
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	for every := range 4 { // 0 leaves the number to the run
		path := filepath.Join(t.TempDir(), "run")
		keep := synth.Checkpoint(path)
		if every > 0 {
			keep = synth.CheckpointEvery(path, every)
		}
		p, err := synth.NewProgram("reading", table.Schema(), budget, []synth.Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: 20}, Count: count}},
			reading{func(r *synth.Run) error {
				for drawn := 1; drawn <= count; drawn++ {
					if _, err := r.Allowance("use").Next(); err != nil {
						return err
					}
					if taken := takenIn(t, path); taken < drawn || taken > count {
						t.Errorf("every %d uses: %d uses are counted when use %d of %d may be drawn", every,
							taken, drawn, count)
					}
				}
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.FitOn(t.Context(), ledger.New(budget), table, keep); err != nil {
			t.Fatal(err)
		}
	}
}

// takenIn returns how many uses of its only line a checkpoint counts as taken.
func takenIn(t *testing.T, path string) int {
	t.Helper()
	text := must(os.ReadFile(path))(t)
	f := must(synth.DecodeFile(bytes.NewReader(text)))(t)
	var h struct{ Taken []int }
	if err := json.Unmarshal(f.Header, &h); err != nil || len(h.Taken) != 1 {
		t.Fatalf("the header %s: %v", f.Header, err)
	}
	return h.Taken[0]
}

// TestTheFileIsThisRunsOwn checks that a run draws nothing more after its checkpoint has been
// replaced by an older one, and that the checkpoint is there before anything is reserved.
func TestTheFileIsThisRunsOwn(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	path, asked := filepath.Join(t.TempDir(), "run"), 0
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	l := ledger.New(budget, ledger.WithPolicy(func(ledger.Request) error {
		asked++
		_, err := os.Stat(path)
		return err
	}))
	var last error
	p, err := synth.NewProgram("reading", table.Schema(), budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 20}, Count: 3}},
		reading{func(r *synth.Run) error {
			a := r.Allowance("use")
			_, first := a.Next()
			old, read := os.ReadFile(path)
			_, second := a.Next()
			if err := errors.Join(first, read, second, os.WriteFile(path, old, 0o600)); err != nil {
				t.Error(err)
			}
			_, last = a.Next()
			return last
		}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.FitOn(t.Context(), l, table, synth.CheckpointEvery(path, 1))
	if asked == 0 || !errors.Is(last, synth.ErrTaken) || !errors.Is(err, synth.ErrTaken) {
		t.Fatalf("use of another run's file: %v; the run: %v; want ErrTaken", last, err)
	}
	if n := l.Entries()[0].Spent; n != 2 {
		t.Errorf("%d uses are spent, want 2", n)
	}
}
