package sgd

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
)

// ErrPieces means that the returned pieces of a step are not exactly the pieces that were sent.
var ErrPieces = errors.New("sgd: pieces of a step are missing")

// A Carrier sends tasks to worker processes and collects the results. Each process holds a [Worker]
// with the same configuration and records. The Carrier sees only sealed bytes. Package sgd/workers
// has a Carrier for processes.
type Carrier interface {
	// Carry passes every task to some worker's Worker.Do at least once, and each result to take, which
	// may be called concurrently. If take returns an error, the task must be computed again. A result
	// that is passed twice counts once.
	Carry(ctx context.Context, tasks [][]byte, take func(result []byte) error) error
}

// WithCarrier makes workers sum the clipped gradients of every step, in the given number of
// pieces. This process draws the sample, adds the noise and moves the parameters. It reads no
// record: it uses only the number of records and the schema of its data.
//
// Messages are sealed under the key, which the workers also hold. The length of a result follows
// from the network. A task is padded to a public length, with room for 1,024 rows. If the
// configuration has a NominalBatch, the room fits a piece of a larger sample. This sample exceeds
// NominalBatch by eight standard deviations and sixteen rows. The room is doubled until a larger
// piece fits; the length then reveals this much about the sample's size.
//
// Guarantee: the same as without WithCarrier. Each record of the sample is in one piece. Every
// piece counts once, even if it is computed more than once. Noise is drawn after all pieces have
// come back. The parameters are bit for bit the parameters of a run in one process. The guarantee
// requires that all workers hold the same records in the same order and compute in the same way.
// One reason is that other records determine which worker sums a given record. The other reason is
// that a record with different row numbers at different workers could be in two pieces. [NewWorker]
// lists the differences that are noticed, and the differences that are not. Errors: New returns
// *param.Error for a clipping policy other than a fixed norm or Normalize, for networks with state
// of a step (models.Stepper, models.FixedFinisher), for WithPrivateLoss, and for networks on a
// device.
func WithCarrier(k mechanism.Key, pieces int, c Carrier) Option {
	return func(t *Trainer) { t.remote = &remote{key: k, pieces: pieces, carrier: c} }
}

// summer computes the sum of a step elsewhere. Only WithCarrier names its implementation, remote,
// so that programs without workers are linked without the code for them.
type summer interface {
	check(t *Trainer) error
	sum(ctx context.Context, t *Trainer, data records.Data) error
	whole() *mechanism.FixedSum // of the last step
}

// remote computes the sum of a step with workers.
type remote struct {
	key     mechanism.Key
	pieces  int
	carrier Carrier

	run  string // random name, so that results of another run are refused
	step int
	seen []byte           // fingerprint of the workers' records, from the first result
	all  *partial.Partial // the sums of the current step
}

func (r *remote) whole() *mechanism.FixedSum { return r.all.Sums()[0] }

func (r *remote) check(t *Trainer) error {
	var k param.Checker
	k.OK(r.key.ID() != "", "sgd.WithCarrier.k", "none", "a key made by mechanism.NewKey")
	k.OK(r.pieces > 0 && r.pieces <= 1<<16, "sgd.WithCarrier.pieces", r.pieces,
		"a number of pieces from 1 to 65536")
	k.OK(r.carrier != nil, "sgd.WithCarrier.c", nil, "a carrier")
	k.OK(!t.lossy, "sgd.WithCarrier", "WithPrivateLoss", "a run without it: workers return no loss")
	k.Add(t.divisible("sgd.WithCarrier"))
	r.run = rand.Text()
	return k.Err()
}

// divisible returns an error for networks and clipping policies for which the sum of a step is
// not the sum over its pieces.
func (t *Trainer) divisible(path string) error {
	switch t.clip.(type) {
	case fixed, normalizer:
	default:
		return param.New(path, fmt.Sprintf("%T", t.cfg.Clip), "a fixed ClipNorm or Normalize")
	}
	if t.exact == nil { // sums in floating point depend on their order
		return param.New(path, "a network on a device with separate memory", "a network on device.CPU")
	}
	if _, ok := t.net.(models.Stepper); ok {
		return param.New(path, fmt.Sprintf("%T", t.net), "a network that is not a models.Stepper")
	}
	if t.exact.alone() {
		return nil
	}
	if _, ok := t.net.Gradients(noRows).(models.FixedFinisher); ok {
		return param.New(path, fmt.Sprintf("%T", t.net),
			"a network whose gradients are not models.FixedFinisher")
	}
	return nil
}

// sum sends the pieces of the sample to workers and adds up their results.
func (r *remote) sum(ctx context.Context, t *Trainer, data records.Data) error {
	r.step++
	set, err := t.setting(data)
	if err != nil {
		return err
	}
	r.all = nil // the sum of the previous step is no longer needed
	bound := t.clip.bound()
	t.exact.begin(bound)
	all, err := set.newPartial(r.run, r.step, t, data, &pieceCounter{sum: t.emptySum()})
	if err != nil {
		return err
	}
	tasks, names := make([][]byte, r.pieces), make([]string, r.pieces)
	for i := range tasks {
		lo, hi := i*len(t.index)/r.pieces, (i+1)*len(t.index)/r.pieces
		piece := task{Run: r.run, Step: r.step, Piece: i, Of: r.pieces, Setting: set.digest,
			Params: t.master, Rows: t.index[lo:hi], Keys: t.keys[lo:hi],
			room: t.cfg.roomOf(r.pieces)}
		names[i] = piece.name()
		if tasks[i], err = piece.seal(r.key); err != nil {
			return err
		}
	}
	if err := r.collect(ctx, tasks, all); err != nil {
		return err
	}
	slices.Sort(names)
	if !slices.Equal(all.Shards(), names) {
		return ErrPieces
	}
	if err := partial.Check("sgd.Steps.data", all.Pass(), t.ledger.Unit(), all); err != nil {
		return err
	}
	r.all = all
	return nil
}

// collect merges the results of tasks. Results that arrive after the carrier has returned are
// refused.
func (r *remote) collect(ctx context.Context, tasks [][]byte, all *partial.Partial) error {
	var one sync.Mutex
	over := false
	err := r.carrier.Carry(ctx, tasks, func(result []byte) error {
		one.Lock()
		defer one.Unlock()
		if over {
			return ErrPieces
		}
		sums, err := r.open(result)
		if err != nil {
			return err
		}
		return all.OpenAll(r.key, sums)
	})
	one.Lock()
	defer one.Unlock()
	over = true
	return errors.Join(err, ctx.Err())
}

// open separates the fingerprint from the sums of a result and compares it with the fingerprint of
// the first result.
func (r *remote) open(result []byte) (sums []byte, err error) {
	mark, sums, err := splitResult(r.key, result)
	if err != nil {
		return nil, err
	}
	if r.seen == nil {
		r.seen = mark
	}
	if !bytes.Equal(r.seen, mark) {
		return nil, ErrOther
	}
	return sums, nil
}

func (t *Trainer) emptySum() *mechanism.FixedSum {
	return mechanism.NewFixedSum(t.params.Len(), float64(t.exact.sum.Unit))
}
