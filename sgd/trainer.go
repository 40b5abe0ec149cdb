package sgd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// ErrBusy means that a Trainer is already inside a loop over Steps.
var ErrBusy = errors.New("sgd: the trainer is already running")

var errData = fmt.Errorf("sgd: %w", records.ErrData)

var errOther = param.New("sgd.Steps.data", "other data than before",
	"the same data in all steps, since records are assigned to steps")

var errShared = param.New("sgd.WithAllowance", "an allowance in use",
	"no epoch, and no Bands, that another trainer began, since records are assigned to steps")

// Trainer trains one network privately. Its steps compute in the memory of the network, so trainers
// that share a network may take turns, but must not run at the same time.
type Trainer struct {
	cfg      Config
	net      models.Network
	ledger   *ledger.Ledger
	relation accountant.Relation
	be       device.Backend
	share    func(pieces int, do func(piece int)) // the backend's; nil if it has none
	purpose  string
	decay    float64
	meanFrom int // the first step of a plain mean; 0 for none
	byPerson bool

	allowance *mechanism.Allowance
	rest      int // of the allowance, after the trainer's last step
	clip      clipper
	groups    *grouping // clip itself if the policy is Groups; nil for other policies
	opt       *Descent
	spans     []span

	params  device.Params
	master  []float32 // the parameters on the host: of a device, those of an earlier step
	average []float32
	mix     float32 // weight of the current step's parameters in the average
	finish  models.FixedFinisher
	sink    func(offset int, noisy []float64)

	*hiddenStep
}

// hiddenStep keeps the records of a step behind two pointers: see Format.
type hiddenStep struct {
	*stepRecords
}

// stepRecords holds the records of a step and values computed from them before noise.
type stepRecords struct {
	running  sync.Mutex    // here, so that copies of a trainer by value exclude each other
	exact    *fixedSum     // the sum in fixed point; nil if sum holds it
	resident *resident     // nil if all noise is made on the host
	stayed   bool          // whether the current sum is still on the device
	sum      device.Params // the sum in floating point
	hostSum  []float32

	data    records.Data // of earlier loops
	of      examples
	rows    []int32 // row numbers of the current micro-batch
	stored  stored
	part    func(piece int)
	batch   device.Batch
	crew    *crew // nil if one network computes all gradients
	index   []int32
	keys    []uint64
	norms   []float64
	weights []float32
	scratch []float64 // one number for each example of a micro-batch
}

// New prepares a private training run. It spends nothing.
//
// Guarantee: New draws nothing; the package documentation states the guarantee of the steps.
// Errors: every mistake in the configuration, as joined *param.Error values.
func New(cfg Config, net models.Network, ledger *ledger.Ledger,
	opts ...Option) (*Trainer, error) {
	t := &Trainer{cfg: cfg, net: net, ledger: ledger, purpose: "DP-SGD step",
		hiddenStep: &hiddenStep{new(stepRecords)}}
	for _, apply := range opts {
		if apply != nil {
			apply(t)
		}
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	if t.be == nil {
		t.be = device.CPU()
	}
	var err error
	if t.spans, err = spans(cfg, net, net.Params().Len()); err != nil {
		return nil, err
	}
	t.relation = ledger.Relation()
	t.clip = cfg.clip().start(t.relation, cfg.NominalBatch)
	if g, ok := t.clip.(*grouping); ok {
		if err := g.attach(net, t.spans); err != nil {
			return nil, err
		}
		t.groups = g
	}
	if t.exact = newFixedSum(t.be, net, t.groups != nil); t.exact != nil {
		if t.exact.plan(1); !(t.exact.shrink < 0.25) {
			return nil, param.New("sgd.New.net", net.Params().Len(),
				"fewer parameters: rounding so many of them to units would use up the clip norm")
		}
	}
	if t.byPerson {
		if err := t.takePersons("sgd.WithPersons"); err != nil {
			return nil, err
		}
	}
	t.prepare()
	return t, nil
}

func (t *Trainer) validate() error {
	var k param.Checker
	k.Add(t.cfg.Validate())
	k.OK(t.net != nil, "sgd.New.net", nil, "a network")
	k.OK(t.net == nil || t.net.Params().Len() > 0, "sgd.New.net", "no parameters",
		"a network with parameters")
	k.OK(t.ledger != nil, "sgd.New.ledger", nil, "a ledger")
	if a := t.allowance; a != nil && t.ledger != nil {
		k.OK(accountant.EqualEvents(a.Event(), t.cfg.Event(t.ledger.Relation())),
			"sgd.WithAllowance", "another event", "an allowance of the configuration's event")
		k.OK(a.On(t.ledger), "sgd.WithAllowance", "of another ledger, or with Bands that have begun",
			"an allowance on New's ledger, of which no other trainer took a step if it has Bands")
		k.OK(t.left() <= t.cfg.Steps, "sgd.WithAllowance", a.Remaining(),
			fmt.Sprintf("at most the configuration's %d steps", t.cfg.Steps))
	}
	k.OK(t.decay >= 0 && t.decay < 1, "sgd.WithAverage", t.decay, "a decay in [0, 1)")
	k.OK(t.meanFrom >= 0 && t.meanFrom <= t.cfg.Steps, "sgd.WithMean", t.meanFrom,
		"a step of the run, from 1")
	k.OK(t.meanFrom == 0 || t.decay == 0, "sgd.WithMean", t.meanFrom,
		"either WithAverage or WithMean, not both")
	return k.Err()
}

// prepare allocates everything whose size does not depend on the records.
func (t *Trainer) prepare() {
	t.params = t.net.Params()
	t.opt = t.cfg.Optimizer.lasting(t.cfg.Steps).Descent(t.params.Len())
	t.sink, t.part = t.absorb, t.gatherPart
	if s, ok := t.be.(device.Sharing); ok {
		t.share = s.Share
	}
	t.master = t.params.Flat.Data
	if t.params.Flat.Mem != nil {
		t.master = make([]float32, t.params.Len())
		t.be.Download(t.master, t.params.Flat)
	}
	if t.exact == nil {
		t.sum = device.NewParams(t.be, t.params.Shapes...)
		if t.hostSum = t.sum.Flat.Data; t.sum.Flat.Mem != nil {
			t.hostSum = make([]float32, t.params.Len())
		}
	}
	if t.decay > 0 || t.meanFrom > 0 {
		t.average = append([]float32(nil), t.master...)
	}
	t.resident = newResident(t)
	t.crew = newCrew(t)
	m := t.microBatch()
	t.weights, t.scratch = make([]float32, m), make([]float64, m)
}

// microBatch returns the number of examples that are processed at a time. The number is smaller for
// persons, since each person has several rows.
func (t *Trainer) microBatch() int {
	n := t.mostExamples()
	if p := t.of.persons; p != nil {
		return max(n/p.Schema().RowsPerPerson(), 1)
	}
	return n
}

func (t *Trainer) mostExamples() int {
	switch {
	case t.cfg.MicroBatch == 0:
		return defaultMicroBatch
	case t.exact != nil:
		return min(t.cfg.MicroBatch, largestExact)
	}
	return t.cfg.MicroBatch
}

// Steps returns the training loop: each iteration is one private step, after which the
// network holds released parameters.
//
// The first iteration reserves all Config.Steps steps on the ledger, and the published ε counts all
// of them. Breaking out of the loop, cancellation and errors refund nothing: a later loop over
// Steps continues with the rest of the reservation. When no step is left, a new loop yields
// ledger.ErrReservationExhausted.
//
// Errors: the context's error; accountant.ErrBudgetExceeded, before anything is read or spent;
// ErrBusy; *param.Error for other data than in an earlier step, if the batches of several steps are
// drawn together, by Config.Bands, RandomAllocation or Shuffled: a record must then keep its row;
// records.ErrData after a step in which reading the data failed. After any error the network holds
// the last released parameters. No error depends on a record, except ErrData, which a user-defined
// data type can return.
func (t *Trainer) Steps(ctx context.Context, data records.Data) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		if !t.running.TryLock() {
			yield(Step{}, ErrBusy)
			return
		}
		defer t.running.Unlock()
		// Clipping bounds the gradient of any value, but an item outside the universe has no input in the
		// network.
		guarded := records.Guarded(data)
		if err := t.open(ctx, data, guarded); err != nil {
			yield(Step{}, err)
			return
		}
		t.data = data
		t.store(data)
		for t.left() > 0 {
			step, err := t.step(ctx, guarded)
			if err == nil && records.Failed(guarded) {
				step, err = Step{}, errData
			}
			if !yield(step, err) || err != nil {
				return
			}
		}
	}
}

// checkSame returns an error for other data than in an earlier loop, if the number of a row gives a
// record its steps: a record with another number could be in two steps that its price counts as
// one.
func (t *Trainer) checkSame(data records.Data) error {
	if t.cfg.perUse() == 1 || t.data == nil ||
		reflect.ValueOf(data).Comparable() && t.data == data && t.stored.was == held(data) {
		return nil
	}
	return errOther
}

// open checks the public properties of the data and makes the reservation.
func (t *Trainer) open(ctx context.Context, given, data records.Data) error {
	if err := cmp.Or(ctx.Err(), t.checkSame(given)); err != nil {
		return err
	}
	if data == nil {
		return &param.Error{Path: "sgd.Steps.data", Value: nil, Want: "records"}
	}
	if records.Failed(data) {
		return errData
	}
	if net, ok := t.net.(interface{ Dim() int }); ok && net.Dim() != data.Schema().Dim() {
		return param.New("sgd.Steps.data", fmt.Sprintf("%d coordinates", data.Schema().Dim()),
			fmt.Sprintf("records of the network's %d coordinates", net.Dim()))
	}
	if err := records.CheckUnitOf("sgd.Steps.data", data, t.ledger.Unit()); err != nil {
		return err
	}
	if t.of.persons, _ = records.AsPersons(data); t.of.persons != nil {
		if err := t.takePersons("sgd.Steps.data"); err != nil {
			return err
		}
	}
	if t.allowance != nil {
		if t.left() == 0 {
			return ledger.ErrReservationExhausted
		}
		return nil
	}
	return t.reserve(ctx)
}

func (t *Trainer) reserve(ctx context.Context) (err error) {
	t.allowance, err = mechanism.Begin(ctx, t.ledger).Reserve(t.purpose, t.cfg.Event(t.relation),
		t.cfg.uses())
	return err
}

// Spent returns the number of this run's steps that have been taken, completed or not. It is 0
// before there is a reservation, and does not count other runs on the same ledger.
func (t *Trainer) Spent() int {
	if t.allowance == nil {
		return 0
	}
	return t.cfg.Steps - t.left()
}

// left returns the number of steps that are left. The last use may cover more steps than the
// configuration has.
func (t *Trainer) left() int {
	surplus := t.cfg.uses()*t.cfg.perUse() - t.cfg.Steps
	return max(t.allowance.Remaining()-surplus, 0)
}

// step takes one step of training: it spends a use of the allowance, draws the sample and the
// noise, and moves the parameters.
func (t *Trainer) step(ctx context.Context, data records.Data) (Step, error) {
	if err := ctx.Err(); err != nil {
		return Step{}, err
	}
	if t.cfg.perUse() > 1 && t.stored.was != held(t.data) {
		return Step{}, errOther
	}
	rest := t.allowance.Remaining()
	if rest%t.cfg.perUse() != 0 && rest != t.rest || t.rest == 0 && !t.allowance.On(t.ledger) {
		return Step{}, errShared
	}
	grant, err := t.allowance.Next()
	if err != nil {
		return Step{}, err
	}
	if t.rest = t.allowance.Remaining(); t.rest != rest-1 && t.cfg.perUse() > 1 {
		t.rest = 0 // another trainer began the same epoch at this moment
		return Step{}, errShared
	}
	t.index, t.keys = grant.PoissonSample(data.Len(), t.index[:0], t.keys[:0])
	if s, ok := t.net.(models.Stepper); ok {
		s.BeginStep()
	}
	if t.groups != nil {
		if err := t.groups.begin(); err != nil {
			return Step{}, err
		}
	}
	if err := t.clippedSum(ctx, grant, data); err != nil {
		return Step{}, err
	}
	bound := t.clip.bound()
	if err := t.release(grant, bound); err != nil {
		return Step{}, err
	}
	if t.groups != nil {
		bound = t.groups.clipNorm()
	}
	return Step{Number: t.Spent(), Of: t.cfg.Steps, Epsilon: t.ledger.EpsilonSoFar(),
		ClipNorm: bound}, nil
}

// release noises the sum and moves the parameters, chunk by chunk on all workers.
//
// Guarantee: the clipped sum changes by at most SumSensitivity(relation, bound) between neighbours.
// The reason is that every example's row has norm at most bound and depends on no other example.
func (t *Trainer) release(grant *mechanism.Grant, bound float64) error {
	sum := mechanism.Gradient{Sensitivity: mechanism.SumSensitivity(t.relation, bound),
		NoiseMultiplier: t.cfg.NoiseMultiplier, Workers: t.be.Workers(),
		Share: t.share}
	if t.stayed {
		return t.releaseThere(grant, sum)
	}
	t.toHost()
	if t.params.Flat.Mem != nil {
		t.be.Download(t.master, t.params.Flat) // others may have moved them since the last step
	}
	if t.exact != nil {
		host := t.exact.host
		sum.Units, sum.Carry, sum.Unit = host.Units, host.Carry, float64(host.Unit)
	} else {
		if t.sum.Flat.Mem != nil {
			t.be.Download(t.hostSum, t.sum.Flat)
		}
		sum.Sum = t.hostSum
	}
	t.opt.begin()
	t.mix = t.averageWeight()
	if err := grant.ReleaseGradient(sum, t.sink); err != nil {
		return err
	}
	if t.exact != nil {
		t.exact.released()
	}
	if t.opt.own != nil {
		t.opt.finish(t.master)
		t.averageRange(0, len(t.master))
	}
	if t.params.Flat.Mem != nil {
		t.be.Upload(t.params.Flat, t.master)
	}
	t.changed()
	return t.clip.finish(grant)
}

// divisors returns the spans of parameters, and what their sums are divided by.
func (t *Trainer) divisors() []span {
	if t.groups != nil {
		return t.groups.spans
	}
	return t.spans
}

func (t *Trainer) averageWeight() float32 {
	step := float64(t.opt.state.t)
	if t.meanFrom > 0 {
		return float32(1 / max(1, step-float64(t.meanFrom)+1))
	}
	return float32(1 - min(t.decay, (1+step)/(10+step)))
}

// absorb divides one chunk of the noised sum and updates its parameters; chunks
// are disjoint and come from several goroutines.
func (t *Trainer) absorb(offset int, noisy []float64) {
	lo, hi := offset, offset+len(noisy)
	for _, s := range t.divisors() {
		if n := min(s.end-lo, len(noisy)); n > 0 {
			t.opt.update(t.master, lo, noisy[:n], s.scale)
			lo, noisy = lo+n, noisy[n:]
		}
	}
	if t.exact != nil {
		t.exact.clear(offset, hi)
	}
	if t.opt.own == nil { // user-defined optimisers move all parameters later
		t.averageRange(offset, lo)
	}
}

// averageRange updates the average of the parameters lo to hi−1.
func (t *Trainer) averageRange(lo, hi int) {
	if t.average == nil {
		return
	}
	p := t.master[lo:hi]
	for i, a := range t.average[lo:hi] {
		t.average[lo+i] = a + t.mix*(p[i]-a)
	}
}

// UseAverage copies the average that WithAverage or WithMean keeps into the network, as released
// parameters to sample from or save. Call it after the loop over Steps, or in the body of the loop;
// training may continue afterwards, from the average. Without WithAverage or WithMean it does
// nothing.
func (t *Trainer) UseAverage() {
	if t.average == nil {
		return
	}
	t.toHost()
	copy(t.master, t.average)
	if t.params.Flat.Mem != nil {
		t.be.Upload(t.params.Flat, t.master)
	}
}
