package dpgm

import "math"

const (
	keptRounds  = 6    // rounds of restore
	keptSteps   = 30   // largest number of Newton steps for a bin of sizes
	keptClose   = 1e-6 // relative error of a size at which these steps end
	keptSmaller = 0.02 // smallest factor by which scaling may have made a frequency smaller
)

// restore corrects frequencies for the scaling of large records, which made every frequency
// smaller. A coordinate in most records is also in most small ones, which are not scaled, so its
// frequency is reduced less than that of a rare coordinate. The corrections are computed from the
// released frequencies and sizes by a model. In it, the coordinates of a record have the corrected
// frequencies and are independent of each other, except that the record's size is given. The
// average correction follows from the released sizes.
func (m *marginalSums) restore(frequencies, sizes []float64) {
	whole, scaled := 0.0, 0.0
	for bin, share := range sizes {
		ones := m.bins.middle(bin)
		whole += share * ones
		scaled += share * ones * m.scale(int(ones))
	}
	if !(scaled > 0) || scaled == whole {
		return
	}
	average := scaled / whole
	kept := make([]float64, len(frequencies)) // the fraction of each frequency that scaling leaves
	for j := range kept {
		kept[j] = average
	}
	odds, of := make([]float64, len(frequencies)), make([]float64, len(frequencies))
	for range keptRounds {
		for j, f := range frequencies {
			p := min(f/kept[j], surest)
			odds[j] = p / (1 - p)
			kept[j], of[j] = 0, 0
		}
		factor := 1.0
		for bin, share := range sizes {
			ones := m.bins.middle(bin)
			if !(share > 0) || ones == 0 {
				continue
			}
			factor = factorFor(odds, ones, factor)
			part := share * m.scale(int(ones))
			for j, w := range odds {
				p := w * factor / (1 + w*factor)
				of[j] += share * p
				kept[j] += part * p
			}
		}
		for j := range kept {
			if of[j] > 0 {
				kept[j] = max(kept[j]/of[j], keptSmaller)
			} else {
				kept[j] = average
			}
		}
	}
	for j := range frequencies {
		frequencies[j] = min(frequencies[j]/kept[j], 1)
	}
}

// factorFor returns the factor for all odds with which the probabilities add up to the given number
// of ones. It uses Newton's method on the logarithm of the factor, and starts at the given factor.
func factorFor(odds []float64, ones, factor float64) float64 {
	for range keptSteps {
		sum, slope := 0.0, 0.0
		for _, w := range odds {
			p := w * factor / (1 + w*factor)
			sum += p
			slope += p * (1 - p)
		}
		gap := ones - sum
		if !(math.Abs(gap) > keptClose*ones) || !(slope > 0) {
			break
		}
		factor *= math.Exp(min(max(gap/slope, -1), 1))
		factor = min(max(factor, 1e-12), 1e12)
	}
	return factor
}
