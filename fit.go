package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/records"
)

// fit makes a plan and carries it out.
func fit[P Plan](ctx context.Context, plan func() (P, error), data records.Data,
	opts []Option) (*Generator, error) {
	p, err := plan()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, data, opts...)
}

// seeds hold the seed of a chain apart from the configurations of its steps, so that the order of
// steps does not matter.
type seeds struct{ seed *uint64 }

// set puts the chain's seed, if it has one, in the place of others.
func (s seeds) set(all ...*uint64) {
	for _, at := range all {
		if s.seed != nil {
			*at = *s.seed
		}
	}
}
