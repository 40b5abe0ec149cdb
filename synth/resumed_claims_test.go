package synth_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestResumedRunsClaimNoMore checks what a run says after it has been resumed on a new ledger: it
// is not private if the interrupted run was not, it lists the classes of all the noise that was
// drawn, and it counts the uses that were taken. A ledger that refuses it in between changes
// nothing.
func TestResumedRunsClaimNoMore(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	const why = "the noise is a test's"
	stop := errors.New("stopped")
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	resumed := false
	p, err := synth.NewProgram("reading", table.Schema(), budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		reading{func(r *synth.Run) error {
			if resumed {
				return nil
			}
			grant, err := r.Allowance("use").Next()
			if err != nil {
				return err
			}
			grant.NoteReal()
			r.Ledger.MarkNotPrivate(why)
			return stop
		}})
	if err != nil {
		t.Fatal(err)
	}
	keep := synth.Checkpoint(filepath.Join(t.TempDir(), "run"))
	if _, err := p.FitOn(t.Context(), ledger.New(budget), table, keep); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	refused := ledger.New(accountant.Budget{Epsilon: 0.1, Delta: 1e-5}) // the file stays
	if _, err := p.FitOn(t.Context(), refused, table, keep); !errors.Is(err,
		accountant.ErrBudgetExceeded) {
		t.Errorf("a ledger of too small a budget: %v", err)
	}
	resumed = true
	again := ledger.New(budget)
	if _, err := p.FitOn(t.Context(), again, table, keep); err != nil {
		t.Fatal(err)
	}
	if got := again.NotPrivate(); got != why {
		t.Errorf("not private: %q, want %q", got, why)
	}
	line := again.Entries()[0]
	if !slices.Contains(line.Notes, ledger.RealNoise) {
		t.Errorf("classes of noise %v, want real among them", line.Notes)
	}
	if line.Spent != 1 {
		t.Errorf("%d uses are spent, want 1", line.Spent)
	}
}
