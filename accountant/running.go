package accountant

import (
	"context"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// running is a composition to which events are added one by one. It never changes: a program may
// add different events to one.
type running struct {
	once   sync.Once
	before *running
	lists  [][]term
	sum    *pld.Sum // nil if some event has none

	// costly has one term of every kind that takes time to price, where merged stands for all that
	// rounding can merge. It is nil if that is not known.
	costly []term
}

// merged holds one term of each kind that Gaussian releases and their Poisson samples become at
// most, by the coarsest rounding that [Reduced.Price] describes.
var merged = []term{{gaussianAtom{1}, 1}, {sampledGaussian{0.5, 1}, 1},
	{sampledGaussian{0.5, 2}, 1}}

func newRunning(before *running, lists [][]term) *running {
	u := &running{before: before, lists: lists}
	if u.costly = merged; before != nil {
		u.costly = before.costly
	}
	if len(lists) != 1 || len(u.costly) > mostPlaces {
		u.costly = nil
	}
	for _, t := range slices.Concat(lists...) {
		switch a := t.atom.(type) {
		case gaussianAtom:
			continue
		case selectAtom: // its own curve takes longer, if there is nothing else
			u.costly = nil
		case worstAtom: // every combination of parts is priced, with all samples
			u.costly = nil
		case sampledGaussian:
			if a.q <= mostRounded && a.mu <= 1<<64 {
				continue
			}
		}
		key := t.atom.key()
		if u.costly != nil && !slices.ContainsFunc(u.costly, func(o term) bool {
			return o.atom.key() == key
		}) {
			u.costly = append(slices.Clip(u.costly), t)
		}
	}
	return u
}

// at returns the sum for a budget, or nil.
func (u *running) at(b Budget) *pld.Sum {
	if u == nil {
		if a := pld.NewAim(b.Epsilon, b.Delta); a != nil {
			return a.NewSum()
		}
		return nil
	}
	u.once.Do(func() {
		if s := u.before.at(b); s != nil && len(u.lists) == 1 {
			if s = s.Clone(); addAll(s, u.lists[0]) {
				u.sum = s
			}
		}
		u.before, u.lists = nil, nil
	})
	if u.sum != nil && u.sum.Aim().Epsilon == b.Epsilon && u.sum.Aim().Delta == b.Delta {
		return u.sum
	}
	return nil
}

// addAll adds terms to s, and returns false if one has no form for sums.
func addAll(s *pld.Sum, terms []term) bool {
	for _, t := range terms {
		if g, ok := t.atom.(gaussianAtom); ok && t.n == 1 {
			s.AddGaussian(g.mu)
			continue
		}
		u := useOf(s.Aim(), t.atom)
		if u == nil {
			return false
		}
		s.Add(u, t.n)
	}
	return true
}

func (e Reduced) priceRunning(ctx context.Context, b Budget, order float64,
	precise bool) (Price, error) {
	if err := ctx.Err(); err != nil {
		return Price{}, err
	}
	if s := e.running.at(b); s != nil && order == 0 {
		if eps := s.Epsilon(precise); eps <= b.Epsilon {
			return Price{Bound: Bound{0, eps, eps}, Engine: enginePLD}, nil
		}
	}
	return Price{}, unsupported("so much in a running sum", e.relation)
}
