package accountant

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Curve is a mechanism whose hockey-stick curve is known at finitely many points: Deltas[i]
// ≥ δ(Epsilons[i]). Between the points the curve follows chords in e^ε. This is sound, because the
// true curve is convex in e^ε. Above the last point δ stays at its last value. Deltas is the curve
// for removing a record, and AddDeltas is the curve for adding a record. AddDeltas is empty if both
// directions have the same curve; replacing a record has no such directions, so two curves have no
// price under [ReplaceOne]. [Tabulate] builds a Curve.
type Curve struct {
	Name      string    `json:"name"`
	Epsilons  []float64 `json:"epsilons"`
	Deltas    []float64 `json:"deltas"`
	AddDeltas []float64 `json:"add_deltas,omitempty"`
}

func (e Curve) check() error {
	n := len(e.Epsilons)
	if n < 2 || len(e.Deltas) != n || (len(e.AddDeltas) != 0 && len(e.AddDeltas) != n) {
		return param.New("accountant.Curve.Epsilons", n, "two points or more and one δ for each")
	}
	for i, x := range e.Epsilons {
		if math.IsNaN(x) || math.Abs(x) > 700 || (i > 0 && !(x > e.Epsilons[i-1])) {
			return param.New(fmt.Sprintf("accountant.Curve.Epsilons[%d]", i), x,
				"increasing numbers within ±700")
		}
	}
	for _, deltas := range [][]float64{e.Deltas, e.AddDeltas} {
		for i, d := range deltas {
			if !(d >= 0 && d <= 1) || (i > 0 && d > deltas[i-1]) {
				return param.New(fmt.Sprintf("accountant.Curve.Deltas[%d]", i), d,
					"probabilities that do not increase")
			}
		}
	}
	return nil
}

func (Curve) kind() string { return "curve" }

func (e Curve) describe() string {
	return fmt.Sprintf("mechanism %q, by its curve", e.Name)
}

func (Curve) sampling() sampling { return everyRecord() }

func (e Curve) charge(c *collector, n int) error {
	if c.relation == ReplaceOne && len(e.AddDeltas) > 0 && !slices.Equal(e.Deltas, e.AddDeltas) {
		return unsupported("a mechanism with two curves", c.relation)
	}
	a, err := curveAtomOf(e)
	if err != nil {
		return err
	}
	return c.push(a, n)
}

func (e Curve) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

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
	if err := c.check(); err != nil {
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

// own returns the last loss of the curve and the δ at which the curve ends. Larger losses are
// infinite.
func (a curveAtom) own() (eps, delta float64) {
	eps, delta = a.remove.Largest()
	if a.add != nil {
		e, d := a.add.Largest()
		eps, delta = max(eps, e), max(delta, d)
	}
	return max(0, eps) * (1 + 8*ulp), delta
}
