package gan

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
)

// keeper writes a run's checkpoints.
type keeper struct {
	r       *run
	path    string
	every   int
	hash    string
	token   string // of this run
	before  string // of the file that this run goes on from, "" for a file of its own
	written bool
	resumed int // steps that were gone when this run took over
	step    int // critic steps behind the state
	claimed int // steps that the last checkpoint counts as taken
}

func newKeeper(r *run) (*keeper, error) {
	k := &keeper{r: r, path: r.checkpoint, every: r.keepEvery}
	text, err := r.plan.text()
	switch {
	case err == nil:
		sum := sha256.Sum256(text)
		k.hash = hex.EncodeToString(sum[:])
	case k.path != "": // nothing would tell this plan's checkpoints from another's
		return nil, fmt.Errorf("gan: checkpoint of a plan that cannot be written: %w", err)
	}
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	k.token = hex.EncodeToString(token[:])
	return k, nil
}

// vacant refuses a file that is there already.
func (k *keeper) vacant() error {
	if k.path == "" {
		return nil
	}
	if _, reserved := criticSteps(k.r.ledger, k.r.trainer.Event()); reserved > 0 && !k.r.reserved {
		return &param.Error{Path: "gan.Fit.ledger", Value: "holds the same critic steps already", Want: "a ledger without them, so that a checkpoint knows its own"}
	}
	if _, err := os.Lstat(k.path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("gan: checkpoint %s: %w", k.path, err)
	}
	return nil
}

// spent is how many steps of this run's reservation are gone: what others have taken on the same ledger is theirs.
func (k *keeper) spent() int { return max(k.resumed, k.r.trainer.Spent()) }

// criticSteps looks a critic up on a ledger.
func criticSteps(l *accountant.Ledger, event accountant.Event) (spent, reserved int) {
	for _, e := range l.Entries() {
		if e.Purpose == PurposeCritic && accountant.EqualEvents(e.Event, event) {
			return e.Spent, e.Reserved
		}
	}
	return 0, 0
}

// goOn takes over a checkpoint's file with what is left of its reservation.
func (k *keeper) goOn(c *Checkpoint) {
	k.resumed, k.step, k.before, k.path = c.Spent, c.Step, c.header.Token, c.path
	if k.every == 0 {
		k.every = defaultEvery
	}
}

// claim writes the state with the steps until the next checkpoint counted as taken, before any of them is.
func (k *keeper) claim() error {
	if k.path == "" {
		return nil
	}
	spent := k.spent()
	k.claimed = spent + min(k.every, k.r.config.Train.Steps-spent)
	return k.write(k.claimed)
}

// after notes that the state has a step more behind it, and claims the next ones if need be.
func (k *keeper) after(step int) error {
	k.step = step
	if k.path == "" || step < k.claimed || step == k.r.config.Train.Steps {
		return nil
	}
	return k.claim()
}

// settle writes the state at an orderly end, when it is known which steps were taken.
func (k *keeper) settle(err error) error {
	if k.path == "" || errors.Is(err, ErrTaken) {
		return nil
	}
	return k.write(k.spent())
}

// ledger is the run's with so many steps counted as taken.
func (k *keeper) ledger(spent int) (json.RawMessage, error) {
	text, err := json.Marshal(k.r.ledger)
	if err != nil {
		return nil, err
	}
	l, err := accountant.UnmarshalLedger(text)
	if err != nil {
		return nil, err
	}
	if missing := spent - k.spent(); missing > 0 {
		res, err := l.Resume(PurposeCritic, k.r.trainer.Event())
		if err != nil {
			return nil, err
		}
		for range missing {
			if err := res.Spend(); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(l)
}

// write puts a checkpoint in the place of the last, whole or not at all, unless somebody else has written there.
// Looking and writing are one step for all who do it, since a marker is in the way of everybody else meanwhile.
func (k *keeper) write(spent int) (err error) {
	marker, err := mark(k.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(marker)) }()
	if err := k.mine(); err != nil {
		return err
	}
	file, err := k.encode(spent)
	if err != nil {
		return fmt.Errorf("gan: checkpoint: %w", err)
	}
	if err := replaceFile(k.path, file); err != nil {
		return fmt.Errorf("gan: checkpoint: %w", err)
	}
	k.written = true
	return nil
}

// mine checks that the file is the one that this run wrote last or goes on from.
func (k *keeper) mine() error {
	want := k.before
	if k.written {
		want = k.token
	}
	if want == "" {
		return k.vacant()
	}
	there, err := OpenCheckpoint(k.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && there.header.Token != want {
		return ErrTaken
	}
	return err
}

// defaultEvery is the distance of checkpoints of a resumed run that is not told one.
const defaultEvery = 100
