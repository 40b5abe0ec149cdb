package mix

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/counts"
)

// A survey holds estimates from released rows: class means and a covariance of sums.
type survey struct {
	*estimator
	shares []float64     // fractions of the classes
	means  [][]float64   // of every class, in the records' coordinates
	within *mat.SymDense // covariance of sums without the part due to class means
	spread float64       // covariance of sums ÷ covariance of one record
}

func newSurvey(m *Model) *survey {
	s := &survey{estimator: newEstimator(m, device.CPU())}
	c := m.work.config
	if c.ByClass || c.Schema.Classes() == 0 {
		s.byPart()
	} else {
		s.byLabel()
	}
	there := 0.0
	for class, mean := range s.means {
		there += s.shares[class] * tidy(c, mean)
	}
	s.spread *= there
	return s
}

// left returns one minus the probability that a record is drawn. The variance of the number of
// records in a Poisson sample is this fraction of its mean. Likewise, each record of a random
// subset contributes this fraction of a record's variance.
func (s *survey) left() float64 { return math.Max(1-s.work.config.rate(), 1e-3) }

// byPart estimates the mean of every part from the part's own mixtures, and averages the
// covariances of the parts. Records without labels are one part.
func (s *survey) byPart() {
	_, subsets := s.work.config.Sampling.(WithoutReplacement) // all subsets have the same size
	total, there, parts := 0.0, 0, s.work.config.parts()
	s.within = mat.NewSymDense(s.rows.dim, nil)
	for i := range parts {
		p := s.part(i)
		if p.rows > 0 { // interruptions may have lost all mixtures of a class
			own := s.covariance(p.x)
			if !subsets {
				takeMean(own, mat.NewVecDense(len(p.sum), p.sum), s.left(), p.held)
			}
			s.within.AddSym(s.within, own)
			there++
		}
		std := math.Sqrt(s.noise/float64(p.rows)) / p.held
		s.means = append(s.means, s.shrunk(p.mean, std))
		s.shares = append(s.shares, p.held)
		total += p.held
	}
	counts.Normalise(s.shares)
	s.within.ScaleSym(1/float64(max(there, 1)), s.within)
	s.spread = total / float64(parts) * s.left()
}

// byLabel estimates means and covariance from mixtures of all classes.
func (s *survey) byLabel() {
	f := s.regress()
	for class, mean := range f.records {
		variance := s.noise * math.Max(f.inverse.At(class, class), 0) / float64(s.rows.Len())
		s.means = append(s.means, s.shrunk(mean, math.Sqrt(variance)))
	}
	s.shares, s.spread = f.shares, math.Max(f.together, 1)*s.left()
	s.within = s.covariance(f.x)
	takeBetween(s.within, f.means, f.counts)
}

// shrunk removes noise from the frequencies of items. Most items are rare. About half of the
// estimates for very rare items are negative. If these were only clamped to zero, drawn sets would
// have too many items.
func (s *survey) shrunk(mean []float64, std float64) []float64 {
	for j, v := range mean {
		mean[j] = finite(v)
	}
	if !s.work.config.Schema.Sparse() || math.IsNaN(std) || math.IsInf(std, 0) {
		return mean
	}
	return counts.Shrink(mean, std)
}

// tidy changes noisy means in place. It puts them into [0, 1] and makes the levels of each column
// add up to one. It first divides the means by the average, over the columns, of the sum of a
// column's levels, and returns this average. The average differs from one if the estimated number
// of records is wrong or if records were clipped.
func tidy(c Config, mean []float64) (whole float64) {
	var levels [][]float64
	for _, b := range blocksOf(c.Schema) {
		if b.OneHot {
			levels = append(levels, b.of(mean))
			whole += floats.Sum(b.of(mean))
		}
	}
	if whole /= math.Max(float64(len(levels)), 1); !(whole > 0.1 && whole < 10) {
		whole = 1
	}
	for j := range mean {
		mean[j] = within(mean[j]/whole, 0, 1)
	}
	for _, p := range levels {
		toShares(p)
		counts.Normalise(p)
	}
	return whole
}

// variances returns the variance of every coordinate of a record within its class. For a choice the
// mean determines the variance. For a number the variance is estimated. Where noise dominates, the
// estimate is close to a third of the largest variance that the mean permits; uniformly distributed
// numbers have this variance.
func (s *survey) variances(blocks []block) []float64 {
	out := make([]float64, s.within.SymmetricDim())
	for _, b := range blocks {
		for j := b.Offset; j < b.Offset+b.Width; j++ {
			for class, mean := range s.means {
				out[j] += s.shares[class] * mean[j] * (1 - mean[j])
			}
			if !b.number(j) {
				continue
			}
			seen := s.within.At(j, j)
			guess, most := out[j]/3, out[j]
			miss := 2 / float64(s.rows.Len()) * seen * seen / s.spread / s.spread
			doubt := guess * guess
			out[j] = guess
			if miss+doubt > 0 && !math.IsInf(miss, 0) {
				out[j] = ((seen-s.noise)/s.spread*doubt + guess*miss) / (miss + doubt)
			}
			out[j] = within(out[j], 1e-4*most, 0.95*most)
		}
	}
	return out
}
