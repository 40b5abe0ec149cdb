package accountant

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// DiscreteLaplace is one release of integers with integer noise. The probability of noise x is
// proportional to exp(−A·|x|).
type DiscreteLaplace struct {
	A           float64 `json:"a"`
	Sensitivity int     `json:"sensitivity"` // largest change of the integer query
}

func (e DiscreteLaplace) check() error {
	return errors.Join(positive("accountant.DiscreteLaplace.A", e.A),
		positiveInt("accountant.DiscreteLaplace.Sensitivity", e.Sensitivity))
}

func (DiscreteLaplace) kind() string { return "discrete_laplace" }

func (e DiscreteLaplace) describe() string {
	return fmt.Sprintf("discrete Laplace release, a %.6g, sensitivity %d", e.A, e.Sensitivity)
}

func (DiscreteLaplace) sampling() sampling { return everyRecord() }

func (e DiscreteLaplace) charge(c *collector, n int) error {
	a := discreteLaplaceAtom{a: e.A, sensitivity: e.Sensitivity}
	a.made = sync.OnceValue(a.pair)
	return c.push(a, n)
}

func (e DiscreteLaplace) dpAccounting(Relation) (string, error) {
	return dpCall("DiscreteLaplaceDpEvent", "noise_parameter", pyFloat(e.A), "sensitivity",
		strconv.Itoa(e.Sensitivity)), nil
}

type discreteLaplaceAtom struct {
	a           float64
	sensitivity int
	made        func() *pld.Discrete // takes long, so it is made once, when it is first needed
}

func (a discreteLaplaceAtom) key() string { return fmt.Sprintf("dlap %b %d", a.a, a.sensitivity) }

// maxAtoms bounds the number of losses of a discrete pair.
const maxAtoms = 1 << 17

func (a discreteLaplaceAtom) pairs() *pld.Pairs {
	if a.sensitivity > maxAtoms {
		return exponentialAtom{a.a * float64(a.sensitivity), true}.pairs() // at most pure
	}
	return &pld.Pairs{Remove: a.made()}
}

// pair returns the pair with these losses: aΔ at integers x ≤ 0, −aΔ at integers x ≥ Δ, and
// a(Δ−2x) at integers x between 0 and Δ.
func (a discreteLaplaceAtom) pair() *pld.Discrete {
	var loss, mass []float64
	end, base, d := 1/(1+math.Exp(-a.a)), math.Tanh(a.a/2), float64(a.sensitivity)
	for x := a.sensitivity; x >= 0; x-- {
		loss = append(loss, a.a*(d-2*float64(x)))
		mass = append(mass, base*math.Exp(-a.a*float64(x)))
	}
	mass[0], mass[a.sensitivity] = end*math.Exp(-a.a*d), end
	return pld.NewSymmetric(loss, mass, 0)
}

func (a discreteLaplaceAtom) rdp(order float64) (float64, bool) {
	if a.sensitivity > maxAtoms {
		return approximateAtom{a.a * float64(a.sensitivity), 0}.rdp(order)
	}
	return a.made().Renyi(order), true
}

func (a discreteLaplaceAtom) own() (float64, float64) {
	return a.a * float64(a.sensitivity) * (1 + ulp), 0
}

func (discreteLaplaceAtom) attained() bool { return true }
