package sgd_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// batches records the rows of every batch.
type batches struct {
	*recorder
	rows [][]int32
}

func (b *batches) Sample(s entropy.Sample) { b.rows = append(b.rows, slices.Clone(s.Rows)) }

// epochs returns the configuration of two epochs of four steps.
func epochs(clip sgd.Clip) sgd.Config {
	cfg := with(clip, 0.25, 8)
	cfg.RandomAllocation = true
	return cfg
}

// TestEpochsUseEveryRecordOnce: every record is in one batch of each epoch, also if the loop ends
// within an epoch and begins again. Every epoch is one use on the ledger, and the effects of every
// step match its event.
func TestEpochsUseEveryRecordOnce(t *testing.T) {
	const n = 40
	for name, clip := range policies() {
		cfg := epochs(clip)
		trainer, l := newTrainer(t, cfg, newCentre(2), 1e4)
		seen := &batches{recorder: &recorder{seed: 3}}
		ctx, data := entropy.WithTap(t.Context(), seen), table(t, n, 2, 0)
		number := 0
		for _, most := range []int{3, 2, 8} {
			for step, err := range trainer.Steps(ctx, data) {
				if number++; err != nil || step.Number != number || step.Of != 8 {
					t.Fatalf("%s: step %d is %+v, %v", name, number, step, err)
				}
				if spent := l.Entries()[0].Spent; spent != (number+3)/4 {
					t.Errorf("%s: %d epochs are spent after step %d", name, spent, number)
				}
				if most--; most == 0 {
					break
				}
			}
		}
		for _, err := range trainer.Steps(ctx, data) {
			if !errors.Is(err, ledger.ErrReservationExhausted) {
				t.Errorf("%s: after all steps: %v", name, err)
			}
		}
		if e := l.Entries(); len(e) != 1 || e[0].Reserved != 2 ||
			!accountant.EqualEvents(e[0].Event, cfg.Event(accountant.AddOrRemoveOne)) {
			t.Errorf("%s: the ledger holds %+v", name, e)
		}
		if len(seen.rows) != 8 {
			t.Fatalf("%s: %d batches in 8 steps", name, len(seen.rows))
		}
		for i := range 2 {
			rows := slices.Concat(seen.rows[4*i : 4*i+4]...)
			slices.Sort(rows)
			if unique := slices.Compact(slices.Clone(rows)); len(rows) != n || len(unique) != n {
				t.Errorf("%s: epoch %d uses the records %d", name, i, rows)
			}
		}
		if slices.Equal(seen.rows[0], seen.rows[4]) && slices.Equal(seen.rows[1], seen.rows[5]) {
			t.Errorf("%s: both epochs have the same batches", name)
		}
		square := 0.0
		for _, e := range seen.effects[:len(seen.effects)/8] {
			square += e * e
		}
		sigma := l.Entries()[0].Event.(accountant.RandomAllocation).NoiseMultiplier
		if math.Abs(square*sigma*sigma-1) > 1e-9 {
			t.Errorf("%s: the effects %v do not match the multiplier %v", name, seen.effects, sigma)
		}
	}
}

// TestShuffledEpochs: under replace-one every record is in one batch of each epoch, batches have
// equal sizes, and the ledger holds shuffled epochs. Under add-or-remove-one they are refused.
func TestShuffledEpochs(t *testing.T) {
	const n = 40
	for name, clip := range policies() {
		cfg := epochs(clip)
		cfg.RandomAllocation, cfg.Shuffled = false, true
		refused, _ := newTrainer(t, cfg, newCentre(2), 1e4)
		for _, err := range refused.Steps(t.Context(), table(t, n, 2, 0)) {
			if !errors.Is(err, accountant.ErrUnsupported) {
				t.Errorf("%s: under add-or-remove-one: %v", name, err)
			}
		}
		b := budget(1e4)
		b.Relation = accountant.ReplaceOne
		l := ledger.New(b)
		trainer := must(sgd.New(cfg, newCentre(2), l))(t)
		seen := &batches{recorder: &recorder{seed: 3}}
		for _, err := range trainer.Steps(entropy.WithTap(t.Context(), seen), table(t, n, 2, 0)) {
			if err != nil {
				t.Fatal(name, err)
			}
		}
		for i, rows := range seen.rows {
			if len(rows) != n/4 {
				t.Errorf("%s: batch %d has %d rows", name, i, len(rows))
			}
		}
		for i := range 2 {
			rows := slices.Concat(seen.rows[4*i : 4*i+4]...)
			slices.Sort(rows)
			if len(slices.Compact(rows)) != n {
				t.Errorf("%s: epoch %d uses the records %d", name, i, rows)
			}
		}
		square := 0.0
		for _, e := range seen.effects[:len(seen.effects)/8] {
			square += e * e
		}
		e := l.Entries()[0].Event.(accountant.RandomAllocation)
		if sigma := e.NoiseMultiplier; !e.Shuffled || math.Abs(square*sigma*sigma-1) > 1e-9 {
			t.Errorf("%s: the effects %v do not match %+v", name, seen.effects, e)
		}
	}
}

// loose is data of a type that cannot be compared.
type loose struct {
	records.Data
	_ []int
}

type own struct{ records.Data }

// TestEpochsKeepTheirData: if batches of several steps are drawn together, a later loop cannot have
// other data, where a record may be in another row and so twice in an epoch. Other runs can.
func TestEpochsKeepTheirData(t *testing.T) {
	first, other := table(t, 40, 2, 0), table(t, 40, 2, 0)
	for name, c := range map[string]struct {
		cfg           sgd.Config
		first, second records.Data
		fits          bool
	}{
		"epochs":                {epochs(nil), first, other, false},
		"the same":              {epochs(nil), first, first, true},
		"bands":                 {inBands(4, 10), first, other, false},
		"the same in bands":     {inBands(4, 10), first, first, true},
		"cannot be compared":    {epochs(nil), loose{Data: first}, loose{Data: first}, false},
		"own types":             {epochs(nil), own{first}, own{first}, true},
		"independent batches":   {with(nil, 0.25, 8), first, other, true},
		"independent and loose": {with(nil, 0.25, 8), first, loose{Data: first}, true},
	} {
		trainer, _ := newTrainer(t, c.cfg, newCentre(2), 1e4)
		for _, err := range trainer.Steps(t.Context(), c.first) {
			if err != nil {
				t.Fatal(name, err)
			}
			break
		}
		before := trainer.Spent()
		for _, err := range trainer.Steps(t.Context(), c.second) {
			if (err == nil) != c.fits || !c.fits && trainer.Spent() != before {
				t.Errorf("%s: %v after %d steps", name, err, trainer.Spent())
			}
			break
		}
	}
}

// TestEpochsKeepTheirRows: a variable that holds another table, in a later loop or in the body of a
// loop, is other data, too.
func TestEpochsKeepTheirRows(t *testing.T) {
	first, other := *table(t, 40, 2, 0), *table(t, 40, 2, 0)
	for i, inBody := range []bool{false, true, false, true} { // the last two in a wrapper
		for _, cfg := range []sgd.Config{epochs(nil), inBands(4, 10), with(nil, 0.25, 8)} {
			trainer, _ := newTrainer(t, cfg, newCentre(2), 1e4)
			data, steps := first, 0
			given := []records.Data{&data, records.WithPart(&data, 0, 2)}[i/2]
			take := func() (last error) {
				for _, last = range trainer.Steps(t.Context(), given) {
					if steps++; last != nil || steps == 3 || !inBody {
						break
					}
					data = other
				}
				return last
			}
			last := take()
			if !inBody {
				if data = other; last == nil {
					last = take()
				}
			}
			if apart := !cfg.RandomAllocation && cfg.Bands == 0; (last == nil) != apart ||
				trainer.Spent() != map[bool]int{true: steps, false: 1}[apart] {
				t.Errorf("%d: in the body %v, epochs %v, %d bands: %v after %d steps", i, inBody,
					cfg.RandomAllocation, cfg.Bands, last, trainer.Spent())
			}
		}
	}
}

// TestEpochsResume: a run that resumes in another process takes the epochs that are left.
func TestEpochsResume(t *testing.T) {
	cfg := epochs(nil)
	trainer, l := newTrainer(t, cfg, newCentre(2), 1e4)
	for range trainer.Steps(t.Context(), table(t, 40, 2, 0)) {
		break
	}
	left := must(mechanism.Begin(t.Context(), l).Resume("DP-SGD step", cfg.Event(l.Relation())))(t)
	again := must(sgd.New(cfg, newCentre(2), l, sgd.WithAllowance(left)))(t)
	var numbers []int
	for step, err := range again.Steps(t.Context(), table(t, 40, 2, 0)) {
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, step.Number)
	}
	if !slices.Equal(numbers, []int{5, 6, 7, 8}) {
		t.Errorf("the steps after resuming are %d", numbers)
	}
	more := must(mechanism.Begin(t.Context(), ledger.New(budget(1e4))).Reserve("more",
		cfg.Event(accountant.AddOrRemoveOne), 3))(t)
	if _, err := sgd.New(cfg, newCentre(2), l, sgd.WithAllowance(more)); err == nil {
		t.Error("an allowance of three epochs is accepted for two")
	}
}

// TestEpochsOfOneTrainer: a trainer does not go on with an epoch that another trainer began. Its
// records may have other row numbers, so that a record could be in several steps of one epoch.
func TestEpochsOfOneTrainer(t *testing.T) {
	cfg, l := epochs(nil), ledger.New(budget(1e4))
	a := must(mechanism.Begin(t.Context(), l).Reserve("steps", cfg.Event(l.Relation()), 2))(t)
	trainer := func() *sgd.Trainer {
		return must(sgd.New(cfg, newCentre(2), l, sgd.WithAllowance(a)))(t)
	}
	first, second, data := trainer(), trainer(), table(t, 40, 2, 0)
	take := func(s *sgd.Trainer, steps int) (last error) {
		for _, last = range s.Steps(t.Context(), data) {
			if steps--; steps == 0 {
				break
			}
		}
		return last
	}
	if err := take(first, 3); err != nil {
		t.Fatal(err)
	}
	if err := take(second, 1); len(paths(err)) != 1 || paths(err)[0] != "sgd.WithAllowance" {
		t.Errorf("a step in the epoch of another trainer: %v", err)
	}
	if err := take(first, 1); err != nil || a.Remaining() != 4 {
		t.Errorf("the last step of an epoch: %v, %d steps left", err, a.Remaining())
	}
	if err := take(second, 1); err != nil {
		t.Errorf("the first step of an epoch: %v", err)
	}
	if err := take(first, 1); len(paths(err)) != 1 {
		t.Errorf("the first trainer goes on in the epoch of the second: %v", err)
	}
}

// TestEpochsCostLessThanPoisson: calibration meets the target, with less noise than Poisson
// sampling. Replace-one is refused.
func TestEpochsCostLessThanPoisson(t *testing.T) {
	b := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	cfg := with(nil, 0.02, 200)
	cfg.NoiseMultiplier = 0
	poisson := must(cfg.Calibrate(b))(t)
	cfg.RandomAllocation = true
	epochs := must(cfg.Calibrate(b))(t)
	got, err := accountant.Epsilon(accountant.Repeated{Event: epochs.Event(0), Count: 4}, b.Delta, 0)
	if err != nil || got.Upper > b.Epsilon || got.Upper < 0.98*b.Epsilon ||
		!(epochs.NoiseMultiplier < poisson.NoiseMultiplier) {
		t.Errorf("multiplier %v costs %v, %v; Poisson sampling needs %v", epochs.NoiseMultiplier, got, err,
			poisson.NoiseMultiplier)
	}
	b.Relation = accountant.ReplaceOne
	if _, err := cfg.Calibrate(b); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("replace-one: %v", err)
	}
}

// TestEpochsThatTwoTrainersBegin: if two trainers begin an epoch at the same moment, the one that
// comes second takes no step of it, since a record may have another number in its data.
func TestEpochsThatTwoTrainersBegin(t *testing.T) {
	cfg, l := epochs(nil), ledger.New(budget(1e4))
	a := must(mechanism.Begin(t.Context(), l).Reserve("steps", cfg.Event(l.Relation()), 2))(t)
	second, other := must(sgd.New(cfg, newCentre(2), l, sgd.WithAllowance(a)))(t), make(chan error)
	data := table(t, 40, 2, 0)
	take := func(trainer *sgd.Trainer) (err error) {
		for _, err = range trainer.Steps(t.Context(), data) {
			break
		}
		return err
	}
	a.Guard(func(spend func() error) error { // the first has seen that the epoch is new
		go func() { other <- take(second) }()
		time.Sleep(20 * time.Millisecond) // the second sees the same, and waits for the first
		return spend()
	})
	_ = take(must(sgd.New(cfg, newCentre(2), l, sgd.WithAllowance(a)))(t))
	for _, err := range []error{<-other, take(second)} {
		if len(paths(err)) != 1 || paths(err)[0] != "sgd.WithAllowance" {
			t.Errorf("a step in the epoch of another trainer: %v", err)
		}
	}
}
