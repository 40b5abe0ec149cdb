package accountant

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/param"
)

// disjoint reduces disjoint parts to terms. In a single use of fixed parts a record is in one part,
// so there is one alternative list of terms for each part. Otherwise the part may depend on what
// the rest of the composition released, so every use pays for the worst part; see choose.
//
// Under ReplaceOne the record may also move from part i to part j: part i loses the record and part
// j gains it.
func (c *collector) disjoint(v Disjoint, n int) error {
	for _, p := range append(append([]Event(nil), v.Parts...), v.Moving...) {
		if usesPopulation(p) {
			return unsupported("sampling that depends on the private size of a disjoint part", c.relation)
		}
	}
	var choice [][]term
	for _, p := range v.Parts {
		alts, err := reduce(p, c.relation)
		if err != nil {
			return err
		}
		choice = append(choice, alts...)
	}
	if c.relation == ReplaceOne && len(v.Parts) > 1 {
		moves, err := movingTerms(v)
		if err != nil {
			return err
		}
		choice = append(choice, moves...)
	}
	return c.choose(choice, n, v.Fixed)
}

// choose adds n uses of one of several lists of terms. If fixed is set, a single use is of a list
// that nothing released decides, so the price is that of the dearest list.
//
// Otherwise the list may depend on the release y of another event, with loss ℓ(y). Together they
// have the hockey-stick curve E[δ_list(y)(ε − ℓ(y))]. The largest price of a fixed list does not
// bound it, because different lists can be the worst at different y. The pointwise maximum of the
// lists' curves bounds δ_list(y) for every y, so its composition with the other event does.
func (c *collector) choose(choice [][]term, n int, fixed bool) error {
	choice = undominated(choice)
	switch {
	case len(choice) == 1:
		return c.pushAll(choice[0], n)
	case len(choice) > maxAlternatives:
		return unsupported(fmt.Sprintf("more than %d different parts", maxAlternatives), c.relation)
	case n == 1 && fixed:
		c.choices = append(c.choices, choice)
		return nil
	}
	return c.push(worstAtom{choice}, n)
}

// oneOf reduces a choice to terms. Each use may choose another event, and the choice may depend on
// earlier releases. So every use pays for the worst event.
func (c *collector) oneOf(v OneOf, n int) error {
	var list [][]term
	for _, p := range v.Events {
		alts, err := reduce(p, c.relation)
		if err != nil {
			return err
		}
		list = append(list, alts...)
	}
	return c.choose(list, n, false)
}

// pushAll adds n uses of a list of terms.
func (c *collector) pushAll(terms []term, n int) error {
	for _, t := range terms {
		if n > maxCount/t.n {
			return param.New("accountant.Repeated.Count", n, "at most math.MaxInt/4 uses in total")
		}
		if err := c.pushTerm(term{t.atom, t.n * n}); err != nil {
			return err
		}
	}
	return nil
}

// usesPopulation reports whether the parameters of an event include a number of records.
func usesPopulation(e Event) bool {
	switch v := e.(type) {
	case SampledWithoutReplacement, TruncatedPoisson:
		return true
	case PoissonSampled:
		return usesPopulation(v.Event)
	case Repeated:
		return usesPopulation(v.Event)
	case RepeatAndSelect:
		return usesPopulation(v.Event)
	case Composed:
		return slices.ContainsFunc(v.Events, usesPopulation)
	case OneOf:
		return slices.ContainsFunc(v.Events, usesPopulation)
	case Disjoint:
		for _, p := range append(append([]Event(nil), v.Parts...), v.Moving...) {
			if usesPopulation(p) {
				return true
			}
		}
	}
	return false
}

// movingTerms returns part i's remove direction composed with part j's add direction, for every
// ordered pair of different parts.
func movingTerms(v Disjoint) ([][]term, error) {
	moving := v.Moving
	if len(moving) == 0 {
		moving = v.Parts
	}
	var one [][][]term
	for _, p := range moving {
		alts, err := reduce(joining(p), AddOrRemoveOne)
		if err != nil {
			return nil, err
		}
		one = append(one, alts)
	}
	var out [][]term
	seen := map[string]bool{}
	for i := range one {
		for j := range one {
			if i == j {
				continue
			}
			for _, a := range one[i] {
				for _, b := range one[j] {
					key := termsKey(a) + " → " + termsKey(b)
					if seen[key] {
						continue
					}
					seen[key] = true
					both := newCollector(ReplaceOne) // it merges Gaussians
					for _, t := range append(oneWayTerms(a, false), oneWayTerms(b, true)...) {
						if err := both.pushTerm(t); err != nil {
							return nil, err
						}
					}
					out = append(out, both.finish())
				}
			}
		}
	}
	return out, nil
}

// joining returns the event of a record that joins or leaves a part. If the part has parts of its
// own, the record joins or leaves one of those too, and Moving states the effect of this.
func joining(e Event) Event {
	all := func(events []Event) []Event {
		out := make([]Event, len(events))
		for i, p := range events {
			out[i] = joining(p)
		}
		return out
	}
	switch v := e.(type) {
	case PoissonSampled:
		return PoissonSampled{v.Probability, joining(v.Event)}
	case Repeated:
		return Repeated{joining(v.Event), v.Count}
	case RepeatAndSelect:
		v.Event = joining(v.Event)
		return v
	case Composed:
		return Composed{all(v.Events)}
	case OneOf:
		return OneOf{all(v.Events)}
	case Disjoint:
		if len(v.Moving) > 0 {
			v.Parts = v.Moving
		}
		return Disjoint{Parts: all(v.Parts), Fixed: v.Fixed}
	}
	return e
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

func termsKey(terms []term) string {
	var b strings.Builder
	for _, t := range terms {
		fmt.Fprintf(&b, "%d×%s;", t.n, t.atom.key())
	}
	return b.String()
}

// undominated returns the lists that no other list covers. A list covers another one if it makes
// all the releases of the other one.
func undominated(choice [][]term) [][]term {
	var out [][]term
	seen := map[string]bool{}
	for _, c := range choice {
		k := termsKey(c)
		if seen[k] || slices.ContainsFunc(out, func(o []term) bool { return covered(c, o) }) {
			continue
		}
		seen[k] = true
		out = append(slices.DeleteFunc(out, func(o []term) bool { return covered(o, c) }), c)
	}
	return out
}

// covered reports whether list b makes all the releases of list a.
func covered(a, b []term) bool {
	for _, t := range a {
		key := t.atom.key()
		if !slices.ContainsFunc(b, func(u term) bool {
			g, ok := t.atom.(gaussianAtom)
			h, also := u.atom.(gaussianAtom)
			if ok && also {
				return t.n == 1 && g.mu <= h.mu // the lists' Gaussians are merged
			}
			return t.n <= u.n && u.atom.key() == key
		}) {
			return false
		}
	}
	return true
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

// worstAtom is one use of the worst of several lists of terms. Each use may choose another list.
type worstAtom struct{ choice [][]term }

func (a worstAtom) key() string {
	var b strings.Builder
	for _, c := range a.choice {
		b.WriteString(termsKey(c) + "|")
	}
	return "worst " + b.String()
}

func (a worstAtom) rdp(order float64) (float64, bool) {
	worst := 0.0
	for _, c := range a.choice {
		v, ok := rdpTerms(c, order)
		if !ok {
			return 0, false
		}
		worst = math.Max(worst, v)
	}
	return worst, true
}

// pairs returns the pointwise maximum of the curves if each list is a single use of a single
// atom, and nil otherwise.
func (a worstAtom) pairs() *pld.Pairs {
	out := &pld.Pairs{Loose: true}
	var remove, add []pld.Pair
	symmetric := true
	for _, c := range a.choice {
		if len(c) == 0 {
			continue // a list that releases nothing is never the worst
		}
		if len(c) != 1 || c[0].n != 1 {
			return nil
		}
		p := c[0].atom.pairs()
		if p == nil {
			return nil
		}
		remove = append(remove, p.Remove)
		if p.Add != nil {
			symmetric = false
			add = append(add, p.Add)
		} else {
			add = append(add, p.Remove)
		}
	}
	if len(remove) == 0 {
		return nil
	}
	out.Remove = pld.NewMaximum(remove)
	if !symmetric {
		out.Add = pld.NewMaximum(add)
	}
	return out
}

// listsOf returns the lists that the single uses of worst lists among terms can turn into, composed
// with the other terms. It returns nil if there are none, or too many.
func listsOf(terms []term, r Relation) [][]term {
	c := newCollector(r)
	for _, t := range terms {
		w, ok := t.atom.(worstAtom)
		if ok && t.n == 1 {
			c.choices = append(c.choices, w.choice)
		} else if err := c.pushTerm(t); err != nil {
			return nil
		}
	}
	if len(c.choices) == 0 {
		return nil
	}
	lists, err := c.alternatives()
	if err != nil {
		return nil
	}
	return lists
}

// byLists improves p with the prices of the lists that terms can turn into. A maximum of curves is
// at most their sum, and composition is linear in a curve. So if the lists' δ at ε have a sum of at
// most delta, terms have ε at delta. This needs no loss distribution of the maximum. Each list is
// one instance of terms, so its lower end holds.
func (p *priced) byLists(lists [][]term, delta float64, r Relation, lower bool) error {
	prices := make([]priced, len(lists))
	dearest := 0
	for i, list := range lists {
		var err error
		if prices[i], err = priceWith(list, delta, r, lower); err != nil {
			return err
		}
		if prices[i].Upper > prices[dearest].Upper {
			dearest = i
		}
	}
	delta *= 1 - 1e-12 // the shares are rounded
	for _, rest := range []float64{1 - 1/float64(len(lists)), 0.01} {
		worst := priced{}
		for i, list := range lists {
			share := 1 - rest
			if i != dearest {
				share = rest / float64(len(lists)-1)
			}
			q, err := priceWith(list, delta*share, r, false)
			if err != nil {
				return err
			}
			if q.Upper >= worst.Upper {
				worst = q
			}
		}
		p.improve(Bound{Upper: worst.Upper}, worst.engine)
	}
	for _, q := range prices {
		p.Lower = max(p.Lower, q.Lower)
	}
	return nil
}

// deltaByLists is like byLists, for δ at a given ε.
func deltaByLists(lists [][]term, eps float64, r Relation) (Bound, error) {
	var all Bound
	for _, list := range lists {
		b, err := deltaTerms(list, eps, r)
		if err != nil {
			return b, err
		}
		all.Lower, all.Upper = max(all.Lower, b.Lower), min(1, all.Upper+b.Upper)
	}
	return all, nil
}
