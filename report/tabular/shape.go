package tabular

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// shape scores one column. Missing values do not count, as in SDMetrics.
func shape(real, synthetic column) Shape {
	if real.number {
		return Shape{real.name, KSComplement,
			1 - compare.KolmogorovSmirnov(present(real.values), present(synthetic.values))}
	}
	return Shape{real.name, TVComplement, tvComplement(real, synthetic)}
}

// present returns the sorted numbers that are not missing, rounded to fourteen decimals as in
// SDMetrics.
func present(values []float64) []float64 {
	out := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsNaN(v) {
			if r := math.RoundToEven(v*1e14) / 1e14; !math.IsInf(r, 0) {
				v = r
			}
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// tvComplement returns 1 minus the total variation distance of levels. A level that only the
// synthetic records have counts as 1e-6 of a real record, as in SDMetrics.
func tvComplement(real, synthetic column) float64 {
	p, n := levelCounts(real)
	q, m := levelCounts(synthetic)
	if n == 0 || m == 0 {
		return math.NaN()
	}
	for l := range p {
		if p[l] == 0 && q[l] > 0 {
			p[l] = 1e-6
			n += 1e-6
		}
	}
	sum := 0.0
	for l := range p {
		sum += math.Abs(p[l]/n - q[l]/m)
	}
	return 1 - sum/2
}

// levelCounts counts levels that are not missing.
func levelCounts(c column) (counts []float64, n float64) {
	counts = make([]float64, len(c.levels))
	for _, code := range c.codes {
		if code >= 0 {
			counts[code]++
			n++
		}
	}
	return counts, n
}
