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

// ErrPieces means that not every piece of a step came back exactly once.
var ErrPieces = errors.New("sgd: pieces of a step are missing")

// A Carrier has tasks carried out by workers, each of which holds a [Worker] of the same
// configuration and records. It sees only sealed bytes. Package sgd/workers has a Carrier for
// processes.
type Carrier interface {
	// Carry has every task carried out at least once by Worker.Do and passes each result to take,
	// which may be called concurrently. If take returns an error, the task must be carried out
	// again. A result that is passed twice counts once.
	Carry(ctx context.Context, tasks [][]byte, take func(result []byte) error) error
}

// WithCarrier makes workers sum the clipped gradients of every step, in the given number of
// pieces. This process draws the sample, adds the noise and moves the parameters. It reads no
// record: it uses only the number of records and the schema of its data.
//
// Messages are sealed under the key, which workers have too. The length of a result follows from
// the network. A task is padded to a public length, with room for 1,024 rows or, if the
// configuration has a NominalBatch, for a piece of a sample that is larger than this mean by
// eight standard deviations and sixteen rows. A piece with more rows takes twice the room, or
// four times, and so on; the length then reveals that much about the sample's size.
//
// Guarantee: the same as without WithCarrier. Each record of the sample is in one piece, every
// piece counts once however often it is carried out, and noise is drawn after all pieces have
// come back; parameters are the same bits. The guarantee requires that workers hold the same
// records in the same order and compute in the same way: the worker that sums a record depends on
// other records, and a record that has another number in another worker's data may be in two
// pieces. [NewWorker] says what is compared and what is not.
// Errors: New returns *param.Error for a clipping policy other than a fixed norm or Normalize,
// for networks with state of a step (models.Stepper, models.FixedFinisher), for WithPrivateLoss,
// and for networks on a device.
func WithCarrier(k mechanism.Key, pieces int, c Carrier) Option {
	return func(t *Trainer) { t.remote = &remote{key: k, pieces: pieces, carrier: c} }
}

// remote is the sum of a step that workers compute.
type remote struct {
	key     mechanism.Key
	pieces  int
	carrier Carrier

	run  string // random, so that results of another run are refused
	step int
	seen []byte           // fingerprint of the workers' records, from the first result
	all  *partial.Partial // the sums of the current step
}

func (r *remote) check(t *Trainer) error {
	var k param.Checker
	k.OK(r.key.ID() != "", "sgd.WithCarrier.k", "none", "a key made by mechanism.NewKey")
	k.OK(r.pieces > 0 && r.pieces <= 1<<16, "sgd.WithCarrier.pieces", r.pieces,
		"a number of pieces from 1 to 65536")
	k.OK(r.carrier != nil, "sgd.WithCarrier.c", nil, "a carrier")
	k.OK(!t.lossy, "sgd.WithCarrier", "WithPrivateLoss", "no loss, which workers do not return")
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
		return param.New(path, "a network on a device with separate memory", "one on device.CPU")
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

// sum has the pieces of the sample summed by workers.
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

// collect merges the results of tasks. Results that come after the carrier has returned are
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

// open takes the fingerprint off a result and compares it with those of other workers.
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
