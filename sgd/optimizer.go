package sgd

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/optim"
)

// Optimizer moves parameters along noised gradients. It sees released values
// only, so its choice does not touch the guarantee. The zero value is an error.
type Optimizer struct{ config optim.Config }

// SGD is plain gradient descent.
func SGD(lr float64) Optimizer { return Optimizer{optim.Config{Rule: optim.SGD, LR: lr}} }

// Momentum is heavy-ball gradient descent.
func Momentum(lr, beta float64) Optimizer {
	return Optimizer{optim.Config{Rule: optim.Momentum, LR: lr, Beta1: beta}}
}

// Adam is Adam with its authors' decay rates 0.9 and 0.999.
//
// Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015.
func Adam(lr float64) Optimizer { return AdamWith(lr, 0.9, 0.999, 1e-8) }

// AdamWith is Adam with every setting given.
func AdamWith(lr, beta1, beta2, eps float64) Optimizer {
	return Optimizer{optim.Config{Rule: optim.Adam, LR: lr, Beta1: beta1, Beta2: beta2, Eps: eps}}
}

// String names the rule and its learning rate.
func (o Optimizer) String() string { return fmt.Sprintf("%v(%v)", o.config.Rule, o.config.LR) }

// ScaleFree says whether multiplying every gradient by a constant changes nothing, so
// that no NominalBatch is needed.
func (o Optimizer) ScaleFree() bool { return o.config.Rule == optim.Adam }

func (o Optimizer) check(k *checker) {
	if o.config.Rule == optim.Unset {
		k.ok(false, "Optimizer", "none", "an optimiser, such as sgd.Adam(1e-3)")
		return
	}
	for _, p := range o.config.Problems() {
		k.ok(false, "Optimizer."+p.Path, p.Value, p.Want)
	}
}

type optimizerJSON struct {
	Rule  optim.Rule `json:"rule"`
	LR    float64    `json:"lr"`
	Beta1 float64    `json:"beta1,omitempty"`
	Beta2 float64    `json:"beta2,omitempty"`
	Eps   float64    `json:"eps,omitempty"`
}

// MarshalJSON writes the rule and its settings.
func (o Optimizer) MarshalJSON() ([]byte, error) { return json.Marshal(optimizerJSON(o.config)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (o *Optimizer) UnmarshalJSON(text []byte) error {
	var j optimizerJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	o.config = optim.Config(j)
	return nil
}
