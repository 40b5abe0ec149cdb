package sgd

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Optimizer moves parameters along noised gradients. It sees only released values, so it does not
// affect the guarantee. The zero value is invalid.
type Optimizer struct {
	config   settings
	schedule Schedule
	own      Rule    // a user-defined optimiser; nil if config describes the optimiser
	rate     float64 // learning rate of own
}

// A Rule is a user-defined optimiser.
type Rule interface {
	// Name returns a short name.
	Name() string
	// Start begins a training run of the given number of parameters. Every run has its own Mover. A
	// Rule that keeps state from one run to the next cannot be used by several runs.
	Start(parameters int) Mover
}

// A Mover applies a user-defined optimiser to one vector of parameters. A Mover with state must
// be a models.Stateful if training is to be resumed from a saved state.
type Mover interface {
	// Move changes params by the gradient of a step, noised and divided by the nominal batch. Steps
	// are counted from 1; rate is the scheduled learning rate. Both vectors have the length of the
	// network's parameters. Move may also write to grad.
	Move(step int, rate float64, params, grad []float32)
}

// Own returns a user-defined optimiser. Configurations and plans that contain a user-defined
// optimiser cannot be written or kept in checkpoints.
func Own(lr float64, r Rule) Optimizer { return Optimizer{own: r, rate: lr} }

// SGD returns plain gradient descent.
func SGD(lr float64) Optimizer {
	return Optimizer{config: settings{Rule: plain, LR: lr}}
}

// Momentum returns heavy-ball gradient descent.
func Momentum(lr, beta float64) Optimizer {
	return Optimizer{config: settings{Rule: heavyBall, LR: lr, Beta1: beta}}
}

// Adam returns Adam with its authors' decay rates 0.9 and 0.999.
//
// Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015.
func Adam(lr float64) Optimizer { return AdamWith(lr, 0.9, 0.999, 1e-8) }

// AdamWith returns Adam with the given settings.
func AdamWith(lr, beta1, beta2, eps float64) Optimizer {
	return Optimizer{config: settings{Rule: adam, LR: lr, Beta1: beta1, Beta2: beta2, Eps: eps}}
}

// Scheduled returns the optimiser with a learning rate that changes from step to step.
func (o Optimizer) Scheduled(s Schedule) Optimizer {
	o.schedule = s
	return o
}

// String returns the rule and its learning rate.
func (o Optimizer) String() string {
	text := fmt.Sprintf("%v(%v)", o.config.Rule, o.config.LR)
	if o.own != nil {
		text = fmt.Sprintf("%s(%v)", o.own.Name(), o.rate)
	}
	if s := o.schedule; s != (Schedule{}) {
		text += fmt.Sprintf(", %v after %d steps of warm-up", s.Decay, s.Warmup)
	}
	return text
}

// ScaleFree reports whether multiplying every gradient by a constant changes nothing,
// so that no NominalBatch is needed.
func (o Optimizer) ScaleFree() bool { return o.own == nil && o.config.Rule == adam }

func (o Optimizer) check(k *checker) {
	o.schedule.check(k)
	if o.own != nil {
		k.positive("Optimizer.LR", o.rate)
		return
	}
	if o.config.Rule == noRule {
		k.ok(false, "Optimizer", "none", "an optimiser, such as sgd.Adam(1e-3)")
		return
	}
	o.config.check(k)
}

type optimizerJSON struct {
	settings
	Schedule *Schedule `json:"schedule,omitempty"`
}

// MarshalJSON writes the rule and its settings.
//
// Errors: *param.Error for a user-defined rule.
func (o Optimizer) MarshalJSON() ([]byte, error) {
	if o.own != nil {
		return nil, param.New("sgd.Optimizer", o.own.Name(),
			"an optimiser of package sgd: a user-defined one cannot be written")
	}
	j := optimizerJSON{settings: o.config}
	if o.schedule != (Schedule{}) {
		j.Schedule = &o.schedule
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads an optimiser that MarshalJSON wrote.
func (o *Optimizer) UnmarshalJSON(text []byte) error {
	var j optimizerJSON
	if err := param.Decode(text, &j); err != nil {
		return err
	}
	*o = Optimizer{config: j.settings}
	if j.Schedule != nil {
		o.schedule = *j.Schedule
	}
	return nil
}
