package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

// ExponentialMechanism chooses with probability proportional to exp(Epsilon·u/(2Δu)); it is
// Epsilon-differentially private and has bounded range Epsilon. Source: McSherry and Talwar 2007;
// Dong, Durfee and Rogers 2020.
//
// With Permute it is permute-and-flip, which never chooses a worse candidate on average, and is
// Epsilon-differentially private. Its range is not bounded, so it costs as much as Pure, which may
// be more if it is repeated. Source: McKenna and Sheldon 2020.
type ExponentialMechanism struct {
	Epsilon float64 `json:"epsilon"`
	Permute bool    `json:"permute,omitempty"`
}

func (e ExponentialMechanism) check() error {
	return positive("accountant.ExponentialMechanism.Epsilon", e.Epsilon)
}

func (ExponentialMechanism) kind() string { return "exponential_mechanism" }

func (e ExponentialMechanism) describe() string {
	how := "exponential mechanism"
	if e.Permute {
		how = "permute-and-flip"
	}
	return fmt.Sprintf("%s, ε %s", how, FormatUpper(e.Epsilon, 6))
}

func (ExponentialMechanism) sampling() sampling { return everyRecord() }

func (e ExponentialMechanism) charge(c *collector, n int) error {
	return c.push(exponentialAtom{e.Epsilon, e.Permute}, n)
}

func (e ExponentialMechanism) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

type exponentialAtom struct {
	eps     float64
	permute bool
}

func (a exponentialAtom) key() string { return fmt.Sprintf("exponential %b %t", a.eps, a.permute) }

func (a exponentialAtom) rdp(order float64) (float64, bool) {
	if a.permute {
		return approximateAtom{a.eps, 0}.rdp(order)
	}
	return renyi.BoundedRange(a.eps, order), true
}

func (a exponentialAtom) pairs() *pld.Pairs {
	if a.permute {
		p := *approximateAtom{a.eps, 0}.pairs()
		p.Loose = true
		return &p
	}
	return &pld.Pairs{Remove: pld.BoundedRange(a.eps), Envelope: true}
}

func (a exponentialAtom) own() (float64, float64) { return a.eps, 0 }

func (exponentialAtom) attained() bool { return true }
