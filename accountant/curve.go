package accountant

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/param"
)

// Tabulate returns an event for a mechanism with a known hockey-stick curve δ(ε). The curve is
// evaluated at epsilons, which must increase. remove is the curve for removing a record, and add is
// the curve for adding a record. A nil add means that both directions have the same curve. Between
// the points the event uses chords. Chords never lie below a hockey-stick curve, because such a
// curve is convex. Choose points close together where the curve bends.
//
// Errors: *param.Error for a missing curve, or for points that do not lie on a hockey-stick curve.
func Tabulate(name string, epsilons []float64, remove,
	add func(epsilon float64) float64) (Curve, error) {
	if remove == nil {
		return Curve{}, param.New("accountant.Tabulate.remove", nil, "a curve")
	}
	c := Curve{Name: name, Epsilons: append([]float64(nil), epsilons...)}
	for _, e := range epsilons {
		c.Deltas = append(c.Deltas, remove(e))
		if add != nil {
			c.AddDeltas = append(c.AddDeltas, add(e))
		}
	}
	if err := c.Validate(); err != nil {
		return Curve{}, err
	}
	_, err := curveAtomOf(c)
	return c, err
}

type curveAtom struct {
	id          string
	remove, add *pld.Discrete
}

func curveAtomOf(v Curve) (atom, error) {
	for _, deltas := range [][]float64{v.Deltas, v.AddDeltas} {
		for i, d := range deltas {
			if d < -math.Expm1(v.Epsilons[i])-1e-12 {
				return nil, param.New("accountant.Curve.Deltas", d,
					"at least 1−e^ε, which holds for every mechanism")
			}
		}
	}
	// The name is quoted, because an unquoted name could imitate the keys of other atoms.
	id := fmt.Sprintf("%q %v %v %v", v.Name, v.Epsilons, v.Deltas, v.AddDeltas)
	a := curveAtom{id: id, remove: pld.NewTable(v.Epsilons, v.Deltas)}
	if len(v.AddDeltas) > 0 {
		a.add = pld.NewTable(v.Epsilons, v.AddDeltas)
	}
	return a, nil
}

func (a curveAtom) key() string { return "curve " + a.id }

func (a curveAtom) pairs() *pld.Pairs {
	p := &pld.Pairs{Remove: a.remove}
	if a.add != nil {
		p.Add = a.add
	}
	return p
}

func (a curveAtom) rdp(order float64) (float64, bool) {
	v := a.remove.Renyi(order)
	if a.add != nil {
		v = max(v, a.add.Renyi(order))
	}
	return v, true
}
