package accountant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// choose adds n uses of one of several lists of terms. If fixed is set, a single use is of a list
// that nothing released decides, so the price is that of the dearest list.
//
// Otherwise the list may depend on the release y of another event, with loss ℓ(y). Together they
// have the hockey-stick curve E[δ_list(y)(ε − ℓ(y))]. The largest price of a fixed list does not
// bound it, because different lists can be the worst at different y. The pointwise maximum of the
// lists' curves bounds δ_list(y) for every y, so its composition with the other event does.
func (c *collector) choose(choice [][]term, n int, fixed bool) error {
	choice, err := c.undominated(choice)
	switch {
	case err != nil:
		return err
	case len(choice) == 1:
		return c.pushAll(choice[0], n)
	case len(choice) > maxAlternatives:
		return tooManyParts(c.relation)
	case n == 1 && fixed:
		c.choices = append(c.choices, choice)
		return nil
	}
	return c.push(worstAtom{choice}, n)
}

func tooManyParts(r Relation) error {
	return unsupported(fmt.Sprintf("more than %d different parts", maxAlternatives), r)
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

func termsKey(terms []term) string {
	var b strings.Builder
	for _, t := range terms {
		fmt.Fprintf(&b, "%d×%s;", t.n, t.atom.key())
	}
	return b.String()
}

// undominated returns the lists that no other list covers. A list covers another one if it makes
// all the releases of the other one.
func (c *collector) undominated(choice [][]term) ([][]term, error) {
	u := uncovered{work: c.work}
	for _, terms := range choice {
		if !u.add(terms) {
			return nil, tooManyParts(c.relation)
		}
	}
	return u.lists(), nil
}

// uncovered collects lists that no other list covers.
type uncovered struct {
	kept []keyed
	seen map[string]bool
	*work
}

// add returns false once there are more lists than any choice may have, even if a later list
// covered them, because every list is compared with these, and once that takes too many steps.
func (u *uncovered) add(c []term) bool {
	a := keyed{terms: c, uses: map[string]int{}}
	var all strings.Builder
	for _, t := range c {
		key := t.atom.key()
		a.keys, a.uses[key] = append(a.keys, key), t.n
		if g, ok := t.atom.(gaussianAtom); ok {
			a.mu = max(a.mu, g.mu)
		}
		fmt.Fprintf(&all, "%d×%s;", t.n, key)
	}
	u.steps += all.Len()/4 + len(c)*len(u.kept)/4 // every list is compared with these
	if u.seen[all.String()] {
		return true
	}
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	u.seen[all.String()] = true
	if !slices.ContainsFunc(u.kept, func(o keyed) bool { return covered(a, o) }) {
		u.kept = append(slices.DeleteFunc(u.kept, func(o keyed) bool { return covered(o, a) }), a)
	}
	return len(u.kept) <= 2*maxAlternatives && u.steps <= mostSteps
}

func (u *uncovered) lists() [][]term {
	out := make([][]term, len(u.kept))
	for i, o := range u.kept {
		out[i] = o.terms
	}
	return out
}

// keyed is a list of terms with the keys of their atoms.
type keyed struct {
	terms []term
	keys  []string
	uses  map[string]int // by key
	mu    float64        // of the Gaussian; 0 for none
}

// covered reports whether list b makes all the releases of list a.
func covered(a, b keyed) bool {
	for i, t := range a.terms {
		if g, ok := t.atom.(gaussianAtom); ok { // the lists' Gaussians are merged
			if t.n != 1 || !(g.mu <= b.mu) {
				return false
			}
		} else if t.n > b.uses[a.keys[i]] {
			return false
		}
	}
	return true
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
		symmetric = symmetric && p.Add == nil
		add = append(add, p.Adding())
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

// own returns the largest ε and the largest δ of the lists. Every list satisfies this pair.
func (a worstAtom) own() (eps, delta float64) {
	for _, c := range a.choice {
		e, d := composedOwn(c)
		eps, delta = max(eps, e), max(delta, d)
	}
	return eps, delta
}

// listsOf returns the lists that the single uses of worst lists among terms can turn into, composed
// with the other terms. It returns nil if there are none, or too many.
func listsOf(terms []term, r Relation) [][]term {
	c := newCollector(r, newWork())
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
func (p *Price) byLists(ctx context.Context, lists [][]term, delta float64, r Relation,
	lower bool) error {
	prices := make([]Price, len(lists))
	dearest := 0
	for i, list := range lists {
		var err error
		if prices[i], err = priceWith(ctx, list, delta, r, lower); err != nil {
			return err
		}
		if prices[i].Upper > prices[dearest].Upper {
			dearest = i
		}
	}
	delta *= 1 - 1e-12 // the shares are rounded
	for _, rest := range []float64{1 - 1/float64(len(lists)), 0.01} {
		worst := Price{}
		for i, list := range lists {
			share := 1 - rest
			if i != dearest {
				share = rest / float64(len(lists)-1)
			}
			q, err := priceWith(ctx, list, delta*share, r, false)
			if err != nil {
				return err
			}
			if q.Upper >= worst.Upper {
				worst = q
			}
		}
		p.improve(Bound{Upper: worst.Upper}, worst.Engine)
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
