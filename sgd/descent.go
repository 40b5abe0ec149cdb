package sgd

import "github.com/seed7ba64551/privgen/models"

// Descent moves parameters along gradients that need no further protection. Examples are noised
// sums, gradients of a generator that learns from released values, and gradients of public records.
type Descent struct {
	state    *moments // counts the steps, also for user-defined optimisers
	schedule Schedule
	own      Mover // user-defined, or nil
	rate     float64
	grad     []float32 // gradient of the step, for own
}

// Descent starts the optimiser for n parameters. The optimiser must be valid.
func (o Optimizer) Descent(n int) *Descent {
	d := &Descent{state: o.config.start(n), schedule: o.schedule, rate: o.rate}
	if o.own != nil {
		d.own, d.grad = o.own.Start(n), make([]float32, n)
	}
	return d
}

// lasting returns the optimiser with the number of steps of its schedule set, if it is open.
func (o Optimizer) lasting(steps int) Optimizer {
	if o.schedule.Steps == 0 {
		o.schedule.Steps = steps
	}
	return o
}

// Step moves the parameters along −scale·grad.
func (d *Descent) Step(params, grad []float32, scale float32) {
	d.begin()
	if d.own == nil {
		d.state.updateRange32(params, 0, grad, scale)
		return
	}
	for i, x := range grad {
		d.grad[i] = scale * x
	}
	d.finish(params)
}

// begin begins a step.
func (d *Descent) begin() {
	d.state.begin(d.schedule.factor(d.state.t + 1))
}

// update moves params[lo:lo+len(grad)] along −scale·grad, or stores that part of the gradient
// for finish. Ranges of one step are disjoint and may come from several goroutines.
func (d *Descent) update(params []float32, lo int, grad []float64, scale float64) {
	if d.own == nil {
		d.state.updateRange(params, lo, grad, scale)
		return
	}
	for i, x := range grad {
		d.grad[lo+i] = float32(scale * x)
	}
}

// finish ends a step after all ranges have been updated.
func (d *Descent) finish(params []float32) {
	if d.own != nil {
		step := d.state.t
		d.own.Move(step, d.rate*d.schedule.factor(step), params, d.grad)
	}
}

// AppendState appends the state needed to resume. For a user-defined optimiser, this state is the
// step number and, if its Mover is a models.Stateful, the Mover's state.
func (d *Descent) AppendState(dst []byte) []byte {
	dst = d.state.appendState(dst)
	if s, ok := d.own.(models.Stateful); ok {
		dst = s.AppendState(dst)
	}
	return dst
}

// SetState restores the state that AppendState wrote for the same number of parameters.
//
// Errors: an error for state of another length or form; any error of a user-defined optimiser's
// SetState.
func (d *Descent) SetState(state []byte) error {
	n := min(d.state.stateLen(), len(state))
	s, ok := d.own.(models.Stateful)
	if !ok {
		n = len(state)
	}
	if err := d.state.setState(state[:n]); err != nil || !ok {
		return err
	}
	return s.SetState(state[n:])
}

// Validate reports every mistake in the optimiser. It is stricter than Config.Validate:
// Cosine needs its number of steps.
//
// Errors: *param.Error values, joined.
func (o Optimizer) Validate() error {
	k := &checker{}
	o.check(k)
	k.ok(o.schedule.Decay != Cosine || o.schedule.Steps > 0, "Optimizer.Schedule.Steps", 0,
		"a positive number of steps for Cosine")
	return k.Err()
}
