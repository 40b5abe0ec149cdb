package sgd

import "github.com/seed7ba64551/privgen/internal/optim"

// Descent moves parameters along gradients that need no protection: a generator's, which learns
// from released values, or those of public records.
type Descent struct{ state *optim.State }

// Descent starts the optimiser for n parameters. The optimiser must be a valid one.
func (o Optimizer) Descent(n int) *Descent { return &Descent{o.config.New(n)} }

// Step moves the parameters along −scale·grad.
func (d *Descent) Step(params, grad []float32, scale float32) {
	d.state.BeginStep()
	d.state.UpdateRange32(params, 0, grad, scale)
}

// AppendState appends what is needed to go on from here.
func (d *Descent) AppendState(dst []byte) []byte { return d.state.AppendState(dst) }

// SetState restores what AppendState wrote for as many parameters. Errors: state of another length
// or form.
func (d *Descent) SetState(state []byte) error { return d.state.SetState(state) }

// Validate reports what is wrong with the optimiser, nil if nothing is.
//
// Errors: *param.Error values, joined.
func (o Optimizer) Validate() error {
	k := &checker{}
	o.check(k)
	return k.Err()
}
