package frontdoor_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// unsure is a backend whose journals report a failure for one write, before or after it.
type unsure struct {
	ledger.Backend
	armed, writes *bool
}

type unsureJournal struct {
	ledger.Journal
	unsure
}

var errUnsure = errors.New("the answer is lost")

func (u unsure) Journal(ctx context.Context, name string, mode ledger.Mode) (ledger.Journal,
	error) {
	j, err := u.Backend.Journal(ctx, name, mode)
	return unsureJournal{j, u}, err
}

func (j unsureJournal) Append(ctx context.Context, after ledger.Position,
	lines []ledger.JournalLine) error {
	fails := *j.armed
	*j.armed = false
	if fails && !*j.writes {
		return errUnsure
	}
	if err := j.Journal.Append(ctx, after, lines); err != nil || !fails {
		return err
	}
	return errUnsure
}

// TestUnknownOutcomeKeepsTheCheckpoint: the journal of a reservation fails before or after its line
// is durable. The budget is enough for one fit. The same call must then continue with what was
// reserved, or reserve it.
func TestUnknownOutcomeKeepsTheCheckpoint(t *testing.T) {
	schema, data := earners(t)
	plan := clustered(t, schema)
	for _, writes := range []bool{false, true} {
		for name, backend := range map[string]ledger.Backend{"folder": ledger.Dir(t.TempDir()),
			"memory": ledger.Memory()} {
			armed, path := false, filepath.Join(t.TempDir(), "run")
			s := ledger.NewStore(unsure{backend, &armed, &writes})
			l, err := s.Create(t.Context(), "people", ledger.Terms{Budget: plan.Budget()})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			armed = true
			_, err = plan.FitOn(t.Context(), l, data, privgen.Checkpoint(path))
			var stopped *privgen.Interrupted
			if !errors.Is(err, errUnsure) || !errors.As(err, &stopped) {
				t.Errorf("%s: got %v, want the journal's error and that the call continues", name, err)
			}
			if _, err := plan.FitOn(t.Context(), l, data, privgen.Checkpoint(path)); err != nil {
				t.Errorf("%s, written %v: the same call: %v", name, writes, err)
			}
			if reads, err := s.Audit(t.Context(), "people"); err != nil {
				t.Error(err)
			} else if got := reads.Epsilon(); !(got.Upper <= plan.Total().Upper) {
				t.Errorf("%s, written %v: ε = %v, want that of one fit, %v", name, writes, got, plan.Total())
			}
		}
	}
}

// TestRefusalsLeaveNoCheckpoint: a fit that its ledger refuses leaves no file that a later plan
// would have to be given another name for.
func TestRefusalsLeaveNoCheckpoint(t *testing.T) {
	schema, data := earners(t)
	plan, veto := clustered(t, schema), errors.New("no")
	s := ledger.Dir(t.TempDir())
	small := ledger.Terms{Budget: plan.Budget()}
	small.Budget.Epsilon = 0.1
	l := must(s.Create(t.Context(), "small", small))(t)
	defer l.Close()
	reads := must(s.Audit(t.Context(), "small"))(t)
	defer reads.Close()
	for _, c := range []struct {
		ledger *ledger.Ledger
		want   error
	}{
		{l, accountant.ErrBudgetExceeded},
		{reads, ledger.ErrReadOnly},
		{ledger.New(plan.Budget(), ledger.WithPolicy(func(ledger.Request) error {
			return veto
		})), veto},
	} {
		path := filepath.Join(t.TempDir(), "run")
		if _, err := plan.FitOn(t.Context(), c.ledger, data, privgen.Checkpoint(path)); !errors.Is(err,
			c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: a checkpoint is left: %v", c.want, err)
		}
	}
}
