package synth_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// counting is a system that reads records in one pass, which counts them.
type counting struct {
	reading
	schema records.Schema
}

func (counting) Passes() []string { return []string{"use"} }

func (w counting) Partial(p synth.Pass, _ device.Backend) (*mechanism.Partial, error) {
	id, err := mechanism.NewPassID("counting", p)
	return mechanism.NewPartial(id, w.schema, counts{mechanism.NewFixedSum(1, 1)}, false), err
}

type counts struct{ sum *mechanism.FixedSum }

func (c counts) Sums() []*mechanism.FixedSum { return []*mechanism.FixedSum{c.sum} }

func (c counts) Add(_ context.Context, data records.Data) error {
	c.sum.AddInt(0, int64(data.Len()))
	return nil
}

// TestSumsOfAnotherUnitAreRefused checks that a run takes sums of records under a ledger that
// protects records, and sums of users under one that protects users, and no others. Sums of no
// records have no unit.
func TestSumsOfAnotherUnitAreRefused(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	p := must(synth.NewPassProgram("counting", table.Schema(), budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		counting{reading{func(r *synth.Run) error {
			_, err := r.Read(t.Context(), synth.Pass{Purpose: "use"})
			return err
		}}, table.Schema()}))(t)
	for _, promised := range []string{records.UnitRecord, records.UnitUser} {
		for _, unit := range []string{"", records.UnitRecord, records.UnitUser, records.UnitPart} {
			l := ledger.New(budget, ledger.WithUnit(promised))
			_, err := p.FitPasses(t.Context(), l, func(ctx context.Context, pass synth.Pass) (
				*mechanism.Partial, error) {
				sums, err := p.Partial(pass)
				if err == nil && unit != "" {
					err = sums.Add(ctx, records.WithUnit(table, unit))
				}
				return sums, err
			})
			var wrong *param.Error
			if ok := unit == "" || unit == promised; ok != (err == nil) || !ok && !errors.As(err, &wrong) {
				t.Errorf("sums of %q on a ledger that protects a %s: %v", unit, promised, err)
			}
		}
	}
}

// TestSumsOfNobodyAreRefused checks that a run makes its passes over its own records, and that
// nothing is reserved without a function that makes them, or without a plan.
func TestSumsOfNobodyAreRefused(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget, read := accountant.Budget{Epsilon: 10, Delta: 1e-5}, 0
	p := must(synth.NewPassProgram("counting", table.Schema(), budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		counting{reading{func(r *synth.Run) error {
			_, err := r.Read(t.Context(), synth.Pass{Purpose: "use"})
			read++
			return err
		}}, table.Schema()}))(t)
	if _, err := p.FitOn(t.Context(), ledger.New(budget), table); err != nil || read != 1 {
		t.Errorf("own records: %d passes, %v", read, err)
	}
	l, none := ledger.New(budget), new(synth.PassProgram)
	_, unread := p.FitPasses(t.Context(), l, nil)
	_, unmade := none.Partial(synth.Pass{})
	_, unfitted := none.FitPasses(t.Context(), l, nil)
	for i, err := range []error{unread, unmade, unfitted} {
		if !errors.As(err, new(*param.Error)) || len(l.Entries()) > 0 {
			t.Errorf("case %d: %v, %+v", i, err, l.Entries())
		}
	}
}

// TestSumsOfAnotherPassAreRefused checks that a run takes no sums of a pass that it did not ask
// for. Their records may have been clipped to another norm.
func TestSumsOfAnotherPassAreRefused(t *testing.T) {
	s, budget := records.Interval(2, 0, 1), accountant.Budget{Epsilon: 10, Delta: 1e-5}
	p := must(synth.NewPassProgram("counting", s, budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}},
		counting{reading{func(r *synth.Run) error {
			_, err := r.Read(t.Context(), synth.Pass{Purpose: "use", State: []byte("now")})
			return err
		}}, s}))(t)
	for _, state := range []string{"now", "before"} {
		_, err := p.FitPasses(t.Context(), ledger.New(budget), func(_ context.Context, pass synth.Pass) (
			*mechanism.Partial, error) {
			pass.State = []byte(state)
			return p.Partial(pass)
		})
		var wrong *param.Error
		if ok := state == "now"; ok != (err == nil) || !ok && !errors.As(err, &wrong) {
			t.Errorf("sums of the pass %q: %v", state, err)
		}
	}
}
