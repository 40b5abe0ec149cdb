package sets

import (
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// cutCounter counts records that are truncated to limit items.
type cutCounter struct {
	limit int
	each  func(items []uint32, share float64)
	sums  []*mechanism.FixedSum
}

// Add counts the records of data.
func (c *cutCounter) Add(ctx context.Context, data records.Data) error {
	return eachCut(ctx, data, c.limit, c.each)
}

// Sums returns the counts.
func (c *cutCounter) Sums() []*mechanism.FixedSum { return c.sums }

// Passes returns the names of the method's passes over all records.
func (w work) Passes() []string { return w.passes() }

// Partial returns the counts of a pass over no records.
//
// Errors: *param.Error for a pass that does not belong to the plan.
func (w work) Partial(p synth.Pass, _ device.Backend) (*mechanism.Partial, error) {
	c, err := w.counter(p, w.noise)
	if err != nil {
		return nil, err
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	common := w.common()
	pass, err := mechanism.NewPassID(w.name(), common.Schema, common.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return mechanism.NewPartial(pass, common.Schema, c, false), nil
}

// noPass returns the error for a pass that does not belong to the plan.
func noPass(m method, p synth.Pass) error {
	return param.New("sets.Pass ("+m.name()+")", p.Purpose,
		"a pass of this plan, with its state unchanged")
}
