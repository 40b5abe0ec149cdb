package privgen

import (
	"context"

	"github.com/seed7ba64551/privgen/records"
)

// fit makes a plan and runs it.
func fit[P Plan](ctx context.Context, plan func() (P, error), data records.Data,
	opts []Option) (*Generator, error) {
	p, err := plan()
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, data, opts...)
}

// seeds holds the chain's seed separately from the configurations, so the order of calls does not
// matter.
type seeds struct{ seed *uint64 }

// set replaces the given seeds with the chain's, if it has one.
func (s seeds) set(all ...*uint64) {
	for _, at := range all {
		if s.seed != nil {
			*at = *s.seed
		}
	}
}
