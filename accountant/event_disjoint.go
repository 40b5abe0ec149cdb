package accountant

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Disjoint applies Parts[i] to part i of the records. The part of a record is a function of the
// record and of public values, and may also depend on what other events of the composition
// released before. For example, clusters follow from released centres. The price is that of the
// pointwise maximum of the parts' curves, composed with the other events, as for [OneOf].
//
// Fixed says that nothing released decides the part of a record: it is a function of the record
// and of public values alone, such as its class. The price is then that of the most expensive part,
// each composed with the other events. It is lower, and false for any other parts.
//
// If a record's part may change between steps, write Repeated{Disjoint{…}}, so that each step pays
// for its most expensive part; Disjoint{Repeated…} is for parts that do not change once chosen.
//
// Under ReplaceOne a record may also move from one part to another. Moving[i] is the event of part
// i, with multipliers relative to the change that one record causes by joining or leaving the part.
// If Moving is empty, Parts is used instead. This is sound if joining or leaving changes no release
// by more than replacing does.
type Disjoint struct {
	Parts  []Event `json:"parts"`
	Moving []Event `json:"moving,omitempty"`
	Fixed  bool    `json:"fixed,omitempty"`
}

func (e Disjoint) check() error {
	var errs []error
	if len(e.Parts) == 0 {
		errs = append(errs, param.New("accountant.Disjoint.Parts", 0, "at least one part"))
	}
	for i, p := range e.Parts {
		errs = append(errs, inner(fmt.Sprintf("accountant.Disjoint.Parts[%d]", i), p))
	}
	if len(e.Moving) != 0 && len(e.Moving) != len(e.Parts) {
		errs = append(errs,
			param.New("accountant.Disjoint.Moving", len(e.Moving), "none, or one for each part"))
	}
	for i, p := range e.Moving {
		errs = append(errs, inner(fmt.Sprintf("accountant.Disjoint.Moving[%d]", i), p))
	}
	return errors.Join(errs...)
}

func (Disjoint) kind() string { return "disjoint" }

func (e Disjoint) describe() string {
	if e.Fixed {
		return "on disjoint parts that are fixed beforehand: " + describeAll(e.Parts, " | ")
	}
	return "on disjoint parts: " + describeAll(e.Parts, " | ")
}

// sampling names the samplers of the parts; Moving has the same releases, priced another way.
func (e Disjoint) sampling() sampling {
	s := samplingOf(e.Parts...)
	s.publicSize = s.publicSize || samplingOf(e.Moving...).publicSize
	return s
}

func (e Disjoint) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

// charge reduces disjoint parts to terms. In a single use of fixed parts a record is in one part,
// so there is one alternative list of terms for each part. Otherwise the part may depend on what
// the rest of the composition released, so every use pays for the worst part; see choose.
//
// Under ReplaceOne the record may also move from part i to part j: part i loses the record and part
// j gains it.
func (e Disjoint) charge(c *collector, n int) error {
	if e.sampling().publicSize {
		return unsupported("sampling that depends on the private size of a disjoint part", c.relation)
	}
	var choice [][]term
	for _, p := range e.Parts {
		alts, err := c.reduce(p, c.relation)
		if err != nil {
			return err
		}
		choice = append(choice, alts...)
	}
	if c.relation == ReplaceOne && len(e.Parts) > 1 {
		moves, err := c.movingTerms(e)
		if err != nil {
			return err
		}
		choice = append(choice, moves...)
	}
	return c.choose(choice, n, e.Fixed)
}

// maxMoving bounds the alternatives of the parts between which records move, as every two of them
// make a list.
const maxMoving = 256

// movingTerms returns part i's remove direction composed with part j's add direction, for every
// ordered pair of different parts.
func (c *collector) movingTerms(v Disjoint) ([][]term, error) {
	moving := v.Moving
	if len(moving) == 0 {
		moving = v.Parts
	}
	var one [][]oneWay
	all, equal := 0, map[string]int{}
	for _, p := range moving {
		alts, err := c.reduce(joining(p), AddOrRemoveOne)
		if err != nil {
			return nil, err
		}
		key := worstAtom{alts}.key()
		if equal[key]++; equal[key] <= 2 { // two equal parts move as any number of them do
			var of []oneWay
			for _, a := range alts {
				of = append(of, oneWay{termsKey(a), oneWayTerms(a, false), oneWayTerms(a, true)})
			}
			one = append(one, of)
			all += len(of)
		}
	}
	if all > maxMoving {
		return nil, unsupported(fmt.Sprintf("more than %d disjoint parts, no three of them equal",
			maxMoving), ReplaceOne)
	}
	out := uncovered{work: c.work}
	seen := map[string]bool{}
	for i := range one {
		for j := range one {
			if i == j {
				continue
			}
			for _, a := range one[i] {
				for _, b := range one[j] {
					key := a.key + " → " + b.key
					if seen[key] {
						continue
					}
					seen[key] = true
					both := newCollector(ReplaceOne, c.work) // it merges Gaussians
					for _, t := range slices.Concat(a.remove, b.add) {
						if err := both.pushTerm(t); err != nil {
							return nil, err
						}
					}
					if !out.add(both.finish()) {
						return nil, tooManyParts(ReplaceOne)
					}
				}
			}
		}
	}
	return out.lists(), nil
}

// oneWay is an alternative of a part, for a record that leaves it and for one that joins it.
type oneWay struct {
	key         string
	remove, add []term
}

// joining returns the event of a record that joins or leaves a part. If the part has parts of its
// own, the record joins or leaves one of those too, and Moving states the effect of this.
func joining(e Event) Event {
	if !known(e) {
		return e
	}
	if v, ok := e.(Disjoint); ok {
		if len(v.Moving) > 0 {
			v.Parts = v.Moving
		}
		e = Disjoint{Parts: v.Parts, Fixed: v.Fixed}
	}
	out, _ := clone(e, func(p Event) (Event, error) { return joining(p), nil })
	return out
}

func oneWayTerms(terms []term, add bool) []term {
	out := make([]term, len(terms))
	for i, t := range terms {
		switch a := t.atom.(type) {
		case gaussianAtom:
			out[i] = t // both directions are the same
		case worstAtom:
			w := worstAtom{make([][]term, len(a.choice))}
			for j, list := range a.choice {
				w.choice[j] = oneWayTerms(list, add)
			}
			out[i] = term{w, t.n}
		default:
			out[i] = term{oneWayAtom{t.atom, add}, t.n}
		}
	}
	return out
}

// oneWayAtom is one direction of an add-or-remove atom.
type oneWayAtom struct {
	within atom
	add    bool
}

func (a oneWayAtom) key() string {
	return fmt.Sprintf("oneway %t %s", a.add, a.within.key())
}

func (a oneWayAtom) rdp(order float64) (float64, bool) { return a.within.rdp(order) }

func (a oneWayAtom) pairs() *pld.Pairs {
	p := a.within.pairs()
	if p == nil {
		return nil
	}
	if a.add && p.Add != nil {
		return &pld.Pairs{Remove: p.Add, Loose: p.Loose, Envelope: p.Envelope}
	}
	return &pld.Pairs{Remove: p.Remove, Loose: p.Loose, Envelope: p.Envelope}
}

func (a oneWayAtom) own() (eps, delta float64) {
	switch w := a.within.(type) {
	case curveAtom:
		if a.add && w.add != nil {
			w.remove = w.add
		}
		return curveAtom{remove: w.remove}.own()
	case sampledAtom:
		eps, delta = composedOwn(oneWayTerms([]term{{w.within, 1}}, a.add))
		if !a.add {
			return sampledOwn(w.q, eps, delta)
		}
		if !(delta <= 0) { // a sample may leave the record out, so it rules no outcome out
			eps = math.Inf(1)
		}
		x := w.q * math.Expm1(-eps)
		eps = -math.Log1p(x)
		return eps*(1+4*ulp) - 4*ulp*x*math.Exp(eps), 0
	}
	return ownOf(a.within)
}
