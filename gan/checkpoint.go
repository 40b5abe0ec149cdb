package gan

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// A Checkpoint is a run between two critic steps: released state, public randomness and the ledger. It holds nothing
// that a release does not, and may be looked at as freely.
//
// Guarantee: a run, however often it is killed and goes on, takes no more critic steps in all than were reserved
// before its first. A checkpoint that holds the state after step s has its ledger already count every step up to the
// next checkpoint as taken, since a run that is killed may have drawn the noise of any of them. What goes on from it
// leaves those steps taken, draws under a fresh key and fresh samples for what is left of the reservation, and gets
// no refund: a kill costs up to the distance of two checkpoints in steps, and an orderly end, such as a cancelled
// context, none.
//
// A checkpoint is a right to spend, and can be used once: going on from it rewrites the file, and of two runs that hold
// the same file the one that finds it rewritten stops with ErrTaken before it draws more. A file that was copied away
// before is beyond what any file can know; going on from the copy too spends the same reservation twice.
type Checkpoint struct {
	// Ledger is the ledger of the run, for its owner to read. Work that other runs put on a shared ledger after the
	// checkpoint is not on it.
	Ledger *accountant.Ledger
	// Step is where in the reservation of Of critic steps the state stands, Spent how many of them are gone.
	Step, Spent, Of int

	path   string
	header checkpointHeader
	file   *artefact.File
}

const checkpointKind = "gan checkpoint"

type checkpointHeader struct {
	Plan    string          `json:"plan"`  // hash of the plan
	Token   string          `json:"token"` // of the run that wrote the file
	Step    int             `json:"step"`
	Event   json.RawMessage `json:"event"` // of a critic step
	Ledger  json.RawMessage `json:"ledger"`
	Pace    pace            `json:"pace"`
	Learned int             `json:"learned"` // generator steps
	Bound   float64         `json:"bound,omitempty"`
	Groups  []sgd.Group     `json:"groups,omitempty"` // of the last step
}

// OpenCheckpoint reads a checkpoint.
//
// Errors: those of the file system; artefact errors for files that are damaged or something else.
func OpenCheckpoint(path string) (*Checkpoint, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := artefact.Read(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("gan: checkpoint: %w", err)
	}
	c := &Checkpoint{path: path, file: file}
	if file.Kind != checkpointKind {
		return nil, malformed(fmt.Errorf("%.40q is no checkpoint", file.Kind))
	}
	if err := json.Unmarshal(file.Header, &c.header); err != nil {
		return nil, malformed(err)
	}
	if c.Ledger, err = accountant.UnmarshalLedger(c.header.Ledger); err != nil {
		return nil, malformed(err)
	}
	event, err := accountant.UnmarshalEvent(c.header.Event)
	if err != nil {
		return nil, malformed(err)
	}
	c.Spent, c.Of = criticSteps(c.Ledger, event)
	c.Step = c.header.Step
	if c.Step < 0 || c.Step > c.Spent || c.header.Pace.Critic < 1 || c.header.Learned < 0 {
		return nil, malformed(errors.New("steps that cannot be"))
	}
	return c, nil
}

// Resume goes on with a run under its own plan, on Checkpoint.Ledger, and keeps the checkpoint's file up to date. A
// run that was complete gives its model again.
//
// Guarantee: as for Checkpoint; the model's is the whole reservation's.
// Errors: those of Fit; ErrPlan; ErrTaken.
func (c *Checkpoint) Resume(ctx context.Context, p *Plan, data records.Data, opts ...Option) (*Model, error) {
	if got, want := c.Ledger.Relation(), p.Config.Budget.Relation; got != want {
		return nil, &accountant.ParamError{Path: "gan.Checkpoint.Ledger", Value: got, Want: "the plan's relation, " + want.String()}
	}
	r, err := newRun(p, data, c.Ledger, opts, sgd.WithResumed())
	if err != nil {
		return nil, err
	}
	if r.keeper.hash != c.header.Plan || c.Of != p.Config.Train.Steps {
		return nil, ErrPlan
	}
	if err := r.restore(c); err != nil {
		return nil, err
	}
	return r.train(ctx)
}

// keeper writes a run's checkpoints.
type keeper struct {
	r       *run
	path    string
	every   int
	hash    string
	token   string // of this run
	before  string // of the file that this run goes on from, "" for a file of its own
	written bool
	step    int // critic steps behind the state
	claimed int // steps that the last checkpoint counts as taken
}

func newKeeper(r *run) *keeper {
	k := &keeper{r: r, path: r.checkpoint, every: r.keepEvery}
	if text, err := r.plan.text(); err == nil {
		sum := sha256.Sum256(text)
		k.hash = hex.EncodeToString(sum[:])
	}
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	k.token = hex.EncodeToString(token[:])
	return k
}

// vacant refuses a file that is there already.
func (k *keeper) vacant() error {
	if k.path == "" {
		return nil
	}
	if _, reserved := criticSteps(k.r.ledger, k.r.trainer.Event()); reserved > 0 && !k.r.reserved {
		return &accountant.ParamError{Path: "gan.Fit.ledger", Value: "holds the same critic steps already", Want: "a ledger without them, so that a checkpoint knows its own"}
	}
	if _, err := os.Lstat(k.path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("gan: checkpoint %s: %w", k.path, err)
	}
	return nil
}

// spent is how many steps of the reservation are gone.
func (k *keeper) spent() int {
	spent, _ := criticSteps(k.r.ledger, k.r.trainer.Event())
	return spent
}

// criticSteps looks a critic up on a ledger.
func criticSteps(l *accountant.Ledger, event accountant.Event) (spent, reserved int) {
	for _, e := range l.Entries() {
		if e.Purpose == PurposeCritic && accountant.EqualEvents(e.Event, event) {
			return e.Spent, e.Reserved
		}
	}
	return 0, 0
}

// claim writes the state with the steps until the next checkpoint counted as taken, before any of them is.
func (k *keeper) claim() error {
	if k.path == "" {
		return nil
	}
	k.claimed = min(k.spent()+k.every, k.r.config.Train.Steps)
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

const (
	sectionCritic    = "critic"
	sectionTrainer   = "critic training"
	sectionLearner   = "generator training"
	sectionAverage   = "generator average"
	sectionRandom    = "public randomness"
	sectionGenerator = "generator"
	sectionNorms     = "generator state"
)

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

// mark makes the marker of somebody who is writing a checkpoint. Writing takes no time to speak of, so one that stays
// was left by a run that was killed just then, or belongs to one that hangs.
func mark(path string) (string, error) {
	marker := path + ".taking"
	for range 100 {
		f, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return marker, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("gan: checkpoint: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", fmt.Errorf("%w: %s is in the way; if no run is at work on it a killed one left it, and it may be removed", ErrTaken, marker)
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

func (k *keeper) encode(spent int) (*artefact.File, error) {
	r := k.r
	ledger, err := k.ledger(spent)
	if err != nil {
		return nil, err
	}
	event, err := accountant.MarshalEvent(r.trainer.Event())
	if err != nil {
		return nil, err
	}
	h := checkpointHeader{Plan: k.hash, Token: k.token, Step: k.step, Event: event, Ledger: ledger, Pace: r.pace, Learned: r.learner.steps}
	if r.loss != nil {
		h.Bound = r.loss.bound
	}
	if r.grouped != nil {
		h.Groups = r.grouped.last
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	random, err := r.source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return &artefact.File{Kind: checkpointKind, Header: head, Sections: []artefact.Section{
		{Name: sectionCritic, Data: system.Floats(r.backend, r.critic.Params())},
		{Name: sectionTrainer, Data: r.trainer.AppendState(nil)},
		{Name: sectionGenerator, Data: artefact.Floats32(r.learner.params)},
		{Name: sectionNorms, Data: r.learner.net.AppendState(nil)},
		{Name: sectionLearner, Data: r.learner.descent.AppendState(nil)},
		{Name: sectionAverage, Data: artefact.Floats32(r.learner.average)},
		{Name: sectionRandom, Data: random},
	}}, nil
}

// replaceFile writes a file that appears whole or not at all.
func replaceFile(path string, file *artefact.File) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".privgen-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	w := bufio.NewWriter(tmp)
	if err := artefact.Write(w, file); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// restore puts a checkpoint's state into a run of the same plan.
func (r *run) restore(c *Checkpoint) error {
	rule := r.pace.rule
	r.pace = c.header.Pace
	r.pace.rule = rule
	r.learner.steps = c.header.Learned
	if r.loss != nil && c.header.Bound >= 0 && !math.IsInf(c.header.Bound, 0) {
		r.loss.bound = c.header.Bound
	}
	if r.grouped != nil {
		r.grouped.last = c.header.Groups // sgd judges them as it does any
	}
	r.keeper.step, r.keeper.before, r.keeper.path = c.Step, c.header.Token, c.path
	if r.keeper.every == 0 {
		r.keeper.every = defaultEvery
	}
	var errs []error
	section := func(name string, use func([]byte) error) {
		data, err := c.file.Section(name)
		if err == nil {
			err = use(data)
		}
		errs = append(errs, err)
	}
	section(sectionCritic, func(b []byte) error {
		flat, err := artefact.ReadFloats32(b, r.critic.Params().Len())
		if err == nil {
			r.backend.Upload(r.critic.Params().Flat, flat)
		}
		return err
	})
	section(sectionTrainer, r.trainer.SetState)
	section(sectionLearner, r.learner.descent.SetState)
	section(sectionNorms, r.learner.net.SetState)
	section(sectionRandom, r.source.UnmarshalBinary)
	section(sectionAverage, func(b []byte) error { return readInto(r.learner.average, b) })
	section(sectionGenerator, func(b []byte) error {
		err := readInto(r.learner.params, b)
		r.backend.Upload(r.learner.net.Params().Flat, r.learner.params)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return malformed(err)
	}
	return nil
}

// defaultEvery is the distance of checkpoints of a resumed run that is not told one.
const defaultEvery = 100

func readInto(dst []float32, data []byte) error {
	values, err := artefact.ReadFloats32(data, len(dst))
	copy(dst, values)
	return err
}

// FitFrom goes on with the run whose checkpoint is in a file, or where there is no file begins one, on a ledger of
// its own, and keeps the checkpoint there. WithCheckpoint says how often.
//
// Errors: those of Fit and Checkpoint.Resume.
func FitFrom(ctx context.Context, p *Plan, path string, data records.Data, opts ...Option) (*Model, error) {
	c, err := OpenCheckpoint(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Fit(ctx, p, data, accountant.NewLedger(p.Config.Budget, accountant.WithUnit(records.UnitOf(data))), append([]Option{WithCheckpoint(path, defaultEvery)}, opts...)...)
	case err != nil:
		return nil, err
	}
	return c.Resume(ctx, p, data, opts...)
}
