package accountant

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/param"
)

// disjoint reduces disjoint parts to terms. In a single use a record is in one part, so there is
// one alternative list of terms for each part. In repeated uses the part may change from use to
// use, so every use pays for the worst part.
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
	choice = distinct(choice)
	switch {
	case len(choice) == 1:
		return c.pushAll(choice[0], n)
	case n == 1:
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
	if list = distinct(list); len(list) == 1 {
		return c.pushAll(list[0], n)
	}
	return c.push(worstAtom{list}, n)
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
		alts, err := reduce(p, AddOrRemoveOne)
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
					out = append(out, append(oneWayTerms(a, false), oneWayTerms(b, true)...))
				}
			}
		}
	}
	return out, nil
}

func oneWayTerms(terms []term, add bool) []term {
	out := make([]term, len(terms))
	for i, t := range terms {
		if _, ok := t.atom.(gaussianAtom); ok {
			out[i] = t // both directions are the same
			continue
		}
		out[i] = term{oneWayAtom{t.atom, add}, t.n}
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

func distinct(choice [][]term) [][]term {
	var out [][]term
	seen := map[string]bool{}
	for _, c := range choice {
		if k := termsKey(c); !seen[k] {
			seen[k] = true
			out = append(out, c)
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
		if !ok || !(slackOf(c) <= 0) {
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
