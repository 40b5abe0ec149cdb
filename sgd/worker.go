package sgd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
)

// A Worker sums clipped gradients for a [Trainer] of another process: see [WithCarrier]. It has
// no ledger and draws no noise. Its results are private and sealed.
type Worker struct{ *hiddenWorker }

// hiddenWorker keeps records behind two pointers, which package fmt does not follow.
type hiddenWorker struct{ *worker }

type worker struct {
	t    *Trainer
	data records.Data
	key  mechanism.Key
	set  setting
	mark []byte // fingerprint of the records, under the key
}

// Format writes "[private]" for every verb.
func (w *Worker) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// NewWorker returns a worker for trainers with the same configuration and an equal network. All
// workers must hold the same records in the same order. The parameters of net do not matter, since
// every task contains the network's parameters.
//
// The worker refuses tasks of trainers with another configuration, schema or number of records,
// with another network, or on a machine that computes differently. Networks are compared by their
// type, the shapes of their parameters, and the norms of their gradients on a few public records.
// These norms depend on activations and losses. Records are compared between workers only, since
// the trainer need not read any record. Each worker returns a fingerprint, under the key, of 64
// rows spread over its data. The trainer refuses workers whose fingerprints differ.
//
// Three mistakes are not noticed, and the caller must rule them out:
//
//   - rows outside the fingerprint differ between workers;
//   - workers group the same rows into different persons;
//   - all workers hold the same wrong records.
//
// Errors: the errors of New and of WithCarrier.
func NewWorker(cfg Config, net models.Network, data records.Data, k mechanism.Key,
	opts ...Option) (*Worker, error) {
	var c param.Checker
	c.OK(data != nil, "sgd.NewWorker.data", nil, "records")
	c.OK(k.ID() != "", "sgd.NewWorker.k", "none", "the trainer's key")
	if err := c.Err(); err != nil {
		return nil, err
	}
	data = records.Guarded(data)
	// The ledger serves only this call: a worker reserves nothing and releases nothing.
	t, err := New(cfg, net, accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5},
		accountant.WithUnit(records.UnitOf(data))), opts...)
	if err != nil {
		return nil, err
	}
	if p, ok := records.AsPersons(data); ok {
		t.of.persons = p
		if err := t.takePersons("sgd.NewWorker.data"); err != nil {
			return nil, err
		}
		t.prepare()
	}
	if err := t.divisible("sgd.NewWorker"); err != nil {
		return nil, err
	}
	w := &worker{t: t, data: data, key: k, mark: fingerprint(k, data)}
	if records.Failed(data) {
		return nil, records.ErrData
	}
	if w.set, err = t.setting(data); err != nil {
		return nil, err
	}
	return &Worker{&hiddenWorker{w}}, nil
}

// ErrOther means that a worker differs from the trainer in configuration, network or kind of
// machine, or from the other workers in its records.
var ErrOther = errors.New("sgd: trainer and workers differ in configuration, network, records or " +
	"kind of machine")

// Do carries out a task and returns its sum, sealed for the trainer. It is not safe for
// concurrent use.
//
// Guarantee: none by itself; see WithCarrier. Errors: mechanism.ErrSealed for a task of another
// key; ErrOther; records.ErrData if reading the data fails; the context's error.
func (w *Worker) Do(ctx context.Context, sealed []byte) ([]byte, error) {
	job, err := openTask(w.key, sealed)
	if err != nil {
		return nil, err
	}
	if job.Setting != w.set.digest || len(job.Params) != w.t.params.Len() {
		return nil, ErrOther
	}
	for _, row := range job.Rows {
		if row < 0 || int(row) >= w.data.Len() {
			return nil, ErrOther
		}
	}
	w.t.exact.begin(w.t.clip.bound())
	counter := &pieceCounter{w: w.worker, job: job, sum: w.t.emptySum()}
	sums, err := w.set.newPartial(job.Run, job.Step, w.t, w.data, counter)
	if err != nil {
		return nil, err
	}
	// A record or a person is sampled at most once, and all its rows are in one piece.
	if err := sums.Add(ctx, records.WithPart(w.data, job.Piece, job.Of)); err != nil {
		return nil, err
	}
	if records.Failed(w.data) {
		return nil, records.ErrData
	}
	out, err := sums.Seal(w.key, partial.Shard{Name: job.name()})
	if err != nil {
		return nil, err
	}
	return joinResult(w.key, w.mark, out)
}

// pieceCounter sums the clipped gradients of a task's rows, once.
type pieceCounter struct {
	w   *worker
	job task
	sum *mechanism.FixedSum
}

// Add adds the task's rows of the worker's data.
func (c *pieceCounter) Add(ctx context.Context, _ records.Data) error {
	t := c.w.t
	copy(t.master, c.job.Params)
	t.index, t.keys = c.job.Rows, c.job.Keys
	if _, err := t.clippedSum(ctx, nil, c.w.data); err != nil {
		return err
	}
	c.sum.AddUnits(t.exact.sum.Units, t.exact.sum.Carry)
	return nil
}

// Sums returns the only sum.
func (c *pieceCounter) Sums() []*mechanism.FixedSum { return []*mechanism.FixedSum{c.sum} }

// setting identifies everything that the trainer and the workers must have in common.
type setting struct {
	digest [sha256.Size]byte
	schema records.Schema
}

// setting returns the setting of a trainer on some data. It is private, since the number of records
// is private.
func (t *Trainer) setting(data records.Data) (s setting, err error) {
	s.schema = data.Schema()
	if t.probed == "" {
		behaviour, err := t.probeNetwork(s.schema)
		if err != nil {
			return s, err
		}
		t.probed = probe(t.be) + behaviour
	}
	what := []any{t.cfg, s.schema, data.Len(), fmt.Sprintf("%T", t.net), t.params.Shapes,
		t.exact.form, runtime.GOARCH, t.be.Name(), t.probed}
	text, err := json.Marshal(what)
	if err != nil {
		return s, err
	}
	s.digest = sha256.Sum256(text)
	return s, nil
}

// newPartial returns an empty sum of one step.
func (s setting) newPartial(run string, step int, t *Trainer, data records.Data,
	c partial.Counter) (*partial.Partial, error) {
	// The pass must not be private, so it does not contain the setting's digest, which depends on the
	// number of records.
	pass, err := partial.NewPass("sgd", t.cfg, s.schema, t.params.Shapes, run, step)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, data.Schema(), c, false), nil
}
