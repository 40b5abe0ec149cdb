package dpgm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A target describes what the synthetic records of one network have in common with the private
// records: the released frequencies and sizes. Draws are steered towards it.
type target struct {
	frequencies []float64 // of each coordinate
	sizes       []float64 // the fraction of records in each bin of sizes
	// keep has a number in [0, keepMost] for each bin of sizes. A record that the network draws is
	// kept with a probability proportional to this number.
	keep []float64
	bins sizeBins
	mean float64 // of the sizes, computed from the frequencies
	most float64 // largest element of keep
}

const (
	keepMost   = 8.0 // largest ratio of a released size's frequency to that in the network's records
	keepBlocks = 8   // blocks of draws from which these ratios are computed

	steerGain  = 0.2  // change of a logit for each record that lacks the coordinate
	steerSizes = 0.05 // change of the logarithm of a bin's probability for each record that it lacks
	steerMost  = 3.0  // largest change of either
	steerEvery = 64   // number of records after which changes are computed from the counts
	steerTries = 256  // largest number of draws for a record
	surest     = 1 - 1e-6
)

// target returns the target of a network. sizes has the distribution of the sizes of its records
// for each of the equally likely shifts.
func (f marginal) target(sizes [][]float64) *target {
	keep := make([]float64, len(f.sizes))
	for bin, share := range f.sizes {
		own := 0.0
		for _, s := range sizes {
			own += s[bin] / float64(len(sizes))
		}
		if own > 0 {
			keep[bin] = min(share/own, keepMost)
		}
	}
	return newTarget(f.frequencies, f.sizes, keep, f.bins)
}

func newTarget(frequencies, sizes, keep []float64, bins sizeBins) *target {
	t := &target{frequencies: frequencies, sizes: sizes, keep: keep, bins: bins}
	for _, f := range frequencies {
		t.mean += f
	}
	t.most = max(slices.Max(keep), math.SmallestNonzeroFloat64)
	return t
}

// A steering holds the state of a draw from one network.
//
// If records were independent, the number of records that have a coordinate would have a standard
// deviation, which would add to the noise of the release. The network's own frequencies and sizes
// also differ from the released ones. A steering counts the ones of each coordinate and the sizes
// of the records that were drawn. It raises the odds of coordinates and sizes that were drawn too
// rarely, and lowers the odds of those that were drawn too often. So after any number of records,
// the counts differ from the released frequencies by a few records, unless a change reaches its
// limit. Frequencies are relative to the number of all ones, which the sizes determine.
type steering struct {
	*target
	change []float64 // factor of the odds of each coordinate
	counts []float64 // records that have each coordinate
	bySize []float64 // records in each bin of sizes
	rows   float64
	ones   float64   // in all records
	recent float64   // ones of the last record; 0 if change includes them
	hazard []float64 // Σ −log(1−p) up to and including each coordinate, for the present record
	row    []int     // the coordinates of the present record that are 1
}

func (t *target) start() *steering {
	dim := len(t.frequencies)
	return &steering{target: t, change: make([]float64, dim), counts: make([]float64, dim),
		bySize: make([]float64, len(t.sizes)), hazard: make([]float64, dim)}
}

// draw replaces the network's probabilities of a record by bits, after adding the shift to their
// logits.
func (s *steering) draw(rng *rand.Rand, p []float32, shift float64) {
	if int(s.rows)%steerEvery == 0 {
		s.refresh()
	}
	s.prepare(p, math.Exp(shift))
	for range steerTries {
		s.try(rng)
		if rng.Float64() < s.chance(len(s.row)) {
			break
		}
	}
	s.count()
	clear(p)
	for _, j := range s.row {
		p[j] = 1
	}
}

// refresh computes the changes from the counts.
func (s *steering) refresh() {
	for j, f := range s.frequencies {
		missing := 0.0
		if s.mean > 0 {
			missing = s.ones*f/s.mean - s.counts[j]
		}
		s.change[j] = math.Exp(limited(steerGain * missing))
	}
	s.recent = 0
}

func limited(change float64) float64 { return min(max(change, -steerMost), steerMost) }

// prepare computes the hazards of a record and adds the ones of the last record to the changes. A
// coordinate of odds w is 1 with the probability that a Poisson process of rate 1 has an event
// within a time of log(1 + w).
func (s *steering) prepare(p []float32, odds float64) {
	growth := 0.0
	if s.mean > 0 {
		growth = min(steerGain*s.recent/s.mean, math.MaxFloat64) // ∞·0 would be NaN
	}
	most := math.Exp(steerMost)
	sum := 0.0
	for j, v := range p {
		c := min(s.change[j]*(1+growth*s.frequencies[j]), most)
		s.change[j] = c
		q := min(float64(v), surest)
		if w := q * odds * c; w < 0.01 && q < 0.01 {
			w *= 1 + q // the odds, except for a relative error below 1e-4
			sum += w * (1 - w*(0.5-w/3))
		} else {
			sum += math.Log1p(w / (1 - q))
		}
		s.hazard[j] = sum
	}
}

// try draws the coordinates that are 1.
func (s *steering) try(rng *rand.Rand) {
	s.row = s.row[:0]
	from, at := 0, rng.ExpFloat64()
	for from < len(s.hazard) && at < s.hazard[len(s.hazard)-1] {
		j := from + sort.SearchFloat64s(s.hazard[from:], at)
		s.row = append(s.row, j)
		from, at = j+1, s.hazard[j]+rng.ExpFloat64()
	}
}

// chance returns the probability with which a record of the given size is kept.
func (s *steering) chance(size int) float64 {
	if size > s.bins[len(s.bins)-1] {
		return 0
	}
	bin := s.bins.of(size)
	missing := limited(steerSizes * (s.rows*s.sizes[bin] - s.bySize[bin]))
	return s.keep[bin] / s.most * math.Exp(min(missing, math.Ln2)-math.Ln2)
}

// count counts the record.
func (s *steering) count() {
	fewer := math.Exp(-steerGain)
	for _, j := range s.row {
		s.counts[j]++
		s.change[j] *= fewer
	}
	s.bySize[s.bins.of(len(s.row))]++
	s.recent = float64(len(s.row))
	s.ones += s.recent
	s.rows++
}

func targetOf(i int) string { return fmt.Sprintf("network %d target", i) }

// part returns the file's part for the target.
func (t *target) part(i int) synth.Part {
	list := append(append(append([]float64(nil), t.frequencies...), t.sizes...), t.keep...)
	return synth.FloatsPart(targetOf(i), &list, len(list))
}

// readTarget reads the target of a network from a file.
func readTarget(f *synth.File, s records.Schema, i int) (*target, error) {
	data, err := f.Section(targetOf(i))
	if err != nil {
		return nil, err
	}
	bins := newSizeBins(s)
	dim, n := s.Dim(), len(bins)
	list, err := synth.ReadFloats[float64](data, dim+2*n)
	if err != nil {
		return nil, err
	}
	for j, v := range list {
		most := 1.0
		if j >= dim+n {
			most = keepMost
		}
		if !(v >= 0 && v <= most) {
			return nil, synth.Malformed(fmt.Errorf("number %d of a target is %v; want 0 to %v", j, v, most))
		}
	}
	return newTarget(list[:dim:dim], list[dim:dim+n:dim+n], list[dim+n:], bins), nil
}
