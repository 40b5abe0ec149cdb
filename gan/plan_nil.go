package gan

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// program returns the embedded program, which implements the common methods of plans. For a nil
// plan it returns a nil Program, which behaves like the zero Program.
func (p *Plan) program() *synth.Program {
	if p == nil {
		return nil
	}
	return &p.Program
}

// System implements [synth.Plan].
func (p *Plan) System() string { return p.program().System() }

// Schema implements [synth.Plan].
func (p *Plan) Schema() records.Schema { return p.program().Schema() }

// Budget implements [synth.Plan].
func (p *Plan) Budget() accountant.Budget { return p.program().Budget() }

// Stages implements [synth.Plan].
func (p *Plan) Stages() []synth.Stage { return p.program().Stages() }

// Total implements [synth.Plan].
func (p *Plan) Total() accountant.Bound { return p.program().Total() }

// String returns the plan's text: the price of every stage.
func (p *Plan) String() string { return p.program().String() }

// Fit implements [synth.Plan].
func (p *Plan) Fit(ctx context.Context, data records.Data,
	opts ...synth.Option) (*synth.Generator, error) {
	return p.program().Fit(ctx, data, opts...)
}

// FitOn implements [synth.Plan].
func (p *Plan) FitOn(ctx context.Context, ledger *accountant.Ledger, data records.Data,
	opts ...synth.Option) (*synth.Generator, error) {
	return p.program().FitOn(ctx, ledger, data, opts...)
}
