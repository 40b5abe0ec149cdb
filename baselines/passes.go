package baselines

import (
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// cutCounter counts something of every record, cut to limit items.
type cutCounter struct {
	limit int
	each  func(items []uint32, share float64)
	sums  []*mechanism.FixedSum
}

// Add counts the records of data.
func (c *cutCounter) Add(ctx context.Context, data records.Data) error {
	return eachCut(ctx, data, c.limit, c.each)
}

// Sums are the counts.
func (c *cutCounter) Sums() []*mechanism.FixedSum { return c.sums }

// Passes are the method's readings of all records.
func (w work) Passes() []string { return w.passes() }

// Partial returns the counts of a pass over no records.
//
// Errors: *param.Error for a pass that the method does not make.
func (w work) Partial(p synth.Pass, _ device.Backend) (*partial.Partial, error) {
	c, err := w.counter(p, w.noise)
	if err != nil {
		return nil, err
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	common := w.common()
	pass, err := partial.NewPass(w.name(), common.Schema, common.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, common.Schema, c, false), nil
}

// noPass is the refusal of a pass that a method does not make.
func noPass(m method, p synth.Pass) error {
	return param.New("baselines.Pass ("+m.name()+")", p.Purpose,
		"a pass of the plan, with the state that the plan gives it")
}
