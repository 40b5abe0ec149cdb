package gan

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/param"
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
// Errors: those of Fit; ErrPlan; ErrTaken; *param.Error where another run took the same critic steps on the
// same ledger, so that nothing tells whose are left.
func (c *Checkpoint) Resume(ctx context.Context, p *Plan, data records.Data, opts ...Option) (*Model, error) {
	if c == nil || c.file == nil {
		return nil, &param.Error{Path: "gan.Checkpoint", Value: nil, Want: "a checkpoint read by OpenCheckpoint"}
	}
	if err := p.judge("gan.Checkpoint.Ledger", data, c.Ledger); err != nil {
		return nil, err
	}
	r, err := newRun(p, data, c.Ledger, opts, sgd.WithResumed())
	if err != nil {
		return nil, err
	}
	if r.keeper.hash != c.header.Plan {
		return nil, ErrPlan
	}
	if steps := p.Config.Train.Steps; c.Of != steps {
		return nil, &param.Error{Path: "gan.Checkpoint.Of", Value: c.Of, Want: fmt.Sprintf("the plan's %d critic steps, and no other run's", steps)}
	}
	if err := r.restore(c); err != nil {
		return nil, err
	}
	return r.train(ctx)
}

// FitFrom goes on with the run whose checkpoint is in a file, or where there is no file begins one, on a ledger of
// its own, and keeps the checkpoint there. WithCheckpoint says how often.
//
// Errors: those of Fit and Checkpoint.Resume.
func FitFrom(ctx context.Context, p *Plan, path string, data records.Data, opts ...Option) (*Model, error) {
	if err := p.made(); err != nil {
		return nil, err
	}
	c, err := OpenCheckpoint(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Fit(ctx, p, data, accountant.NewLedger(p.Config.Budget, accountant.WithUnit(records.UnitOf(data))), append([]Option{WithCheckpoint(path, defaultEvery)}, opts...)...)
	case err != nil:
		return nil, err
	}
	return c.Resume(ctx, p, data, opts...)
}
