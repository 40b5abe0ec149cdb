package accountant

import (
	"math"
	"math/bits"

	"github.com/seed7ba64551/privgen/internal/param"
)

// These bound the events of a guarantee, which is priced when it is read: different ones, which
// take up to 20 ms each on the finest grid, and their places in compositions. Most guarantees
// within the bounds take less than a second. More Poisson samples of Gaussian releases are rounded
// until few are different: see crowd.go.
const (
	mostCostly = 32
	mostPlaces = 128
)

// CheckWork returns an error for an event whose price takes too long for a file that anybody may
// write: one with more than 32 different events that take time to price, or more than 128 places of
// them. Most events within the bounds are priced in less than a second. Poisson samples of Gaussian
// releases are counted after the rounding that [Reduced.Price] describes. If events were reduced
// before, the count may be too large.
//
// Errors: *param.Error with the given path.
func (e Reduced) CheckWork(path string) error {
	if e.running != nil {
		e.lists = [][]term{e.running.costly}
		if e.running.costly == nil {
			return param.New(path, nil, "events whose work is known before they are composed")
		}
	}
	rounded, _ := e.rounded(mostCostly)
	costly, places := rounded.work()
	if e.running != nil { // rounding leaves as many samples as it may, one place each
		places += max(mostCostly-costly, 0)
	}
	if costly > mostCostly || places > mostPlaces {
		return param.New(path, max(costly, places),
			"at most 32 different events that take time to price, in at most 128 places")
	}
	return nil
}

// work returns the number of different events that take time to price, and of their places.
func (e Reduced) work() (different, places int) {
	costly := map[string]bool{}
	var count func(lists [][]term)
	count = func(lists [][]term) {
		for _, terms := range lists {
			if _, cheap := onlyGaussian(terms); cheap {
				continue
			}
			before, groups, product := places, 0, 1 // every combination of parts is priced
			for _, t := range terms {
				if a, ok := t.atom.(worstAtom); ok {
					count(a.choice)
					groups, product = groups+1, min(product*len(a.choice), mostPlaces+1)
					continue
				}
				costly[t.atom.key()] = true
				places += placesOf(t.atom)
			}
			if groups > 1 {
				places = before + (places-before)*product
			}
			if a, curve := onlySelection(terms); curve {
				places += curveTimes * placesOfAll(a.within)
			}
		}
	}
	count(e.lists)
	return len(costly), places
}

// The time for the divergences of a selection, also with a Poisson number of runs, and for its
// curve, in prices of one run.
const selectTimes, poissonTimes, curveTimes = 3, 10, 6

// placesOf returns the number of places that take as long to price as an atom, but at most
// mostPlaces+1.
func placesOf(a atom) int {
	n := 1
	switch a := a.(type) {
	case oneWayAtom:
		return placesOf(a.within)
	case sampledAtom:
		return placesOf(a.within)
	case mixtureAtom:
		n += len(a.Sensitivities) / 8
	case sparseAtom: // a curve for each number of values, and their maximum
		n += a.Cells + a.Cells/4
	case truncAtom: // two samples on one grid, and its tails
		n += 7 + int(math.Sqrt(float64(a.of.Population)*a.q))>>15
	case allocationAtom: // two sums for every bit of the number of steps
		n += bits.Len(uint(a.steps))
	case discreteLaplaceAtom:
		n += min(a.sensitivity, maxAtoms) >> 12
	case selectAtom:
		times := selectTimes
		if a.poisson {
			times = poissonTimes
		}
		n += times * placesOfAll(a.within)
	case worstAtom:
		for _, terms := range a.choice {
			n = min(n+placesOfAll(terms), mostPlaces+1)
		}
	}
	return min(n, mostPlaces+1)
}

func placesOfAll(terms []term) (n int) {
	if _, cheap := onlyGaussian(terms); cheap {
		return 0
	}
	for _, t := range terms {
		n = min(n+placesOf(t.atom), mostPlaces+1)
	}
	return n
}
