package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// ExponentialMechanism chooses with probability proportional to exp(Epsilon·u/(2Δu)); it is
// Epsilon-differentially private and has bounded range Epsilon. Source: McSherry and Talwar 2007;
// Dong, Durfee and Rogers 2020.
type ExponentialMechanism struct {
	Epsilon float64 `json:"epsilon"`
}

func (e ExponentialMechanism) check() error {
	return positive("accountant.ExponentialMechanism.Epsilon", e.Epsilon)
}

func (ExponentialMechanism) kind() string { return "exponential_mechanism" }

func (e ExponentialMechanism) describe() string {
	return fmt.Sprintf("exponential mechanism, ε %s", FormatUpper(e.Epsilon, 6))
}

func (ExponentialMechanism) sampling() sampling { return everyRecord() }

func (e ExponentialMechanism) charge(c *collector, n int) error {
	return c.push(exponentialAtom{e.Epsilon}, n)
}

func (e ExponentialMechanism) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

type exponentialAtom struct{ eps float64 }

func (a exponentialAtom) key() string { return fmt.Sprintf("exponential %b", a.eps) }

func (a exponentialAtom) rdp(order float64) (float64, bool) {
	return renyi.BoundedRange(a.eps, order), true
}

func (a exponentialAtom) pairs() *pld.Pairs {
	return &pld.Pairs{Remove: pld.BoundedRange(a.eps), Envelope: true}
}

func (a exponentialAtom) own() (float64, float64) { return a.eps, 0 }

func (exponentialAtom) attained() {}
