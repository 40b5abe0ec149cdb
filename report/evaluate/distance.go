package evaluate

import (
	"maps"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// histogram returns the frequency of each combination of levels of some columns, as a fraction of n
// records.
func histogram(n int, columns ...column) map[uint64]float64 {
	out, each := map[uint64]float64{}, 1/float64(max(n, 1))
	for i := range n {
		key := uint64(0)
		for _, c := range columns {
			key = key*uint64(c.levels) + uint64(c.codes[i])
		}
		out[key] += each
	}
	return out
}

// totalVariation returns half the sum of absolute differences. It adds them up in the order of the
// keys, so rounding does not depend on the order of the map.
func totalVariation(p, q map[uint64]float64) float64 {
	keys := slices.AppendSeq(make([]uint64, 0, len(p)+len(q)), maps.Keys(p))
	for k := range q {
		if _, both := p[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	sum := 0.0
	for _, k := range keys {
		sum += math.Abs(p[k] - q[k])
	}
	return min(sum/2, 1)
}

// kolmogorovSmirnov returns the largest difference of two empirical distribution functions: 0 if
// both sides are empty, 1 if one is.
func kolmogorovSmirnov(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.Abs(float64(min(len(a), 1) - min(len(b), 1)))
	}
	slices.Sort(a)
	slices.Sort(b)
	return compare.KolmogorovSmirnov(a, b)
}

// present returns the numbers that are not missing.
func (c column) present() []float64 {
	out := make([]float64, 0, len(c.values))
	for _, v := range c.values {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// correlation returns Pearson's correlation over the records that have both numbers, or 0 if a
// column is constant.
func correlation(a, b column) float64 {
	var n, sa, sb, saa, sbb, sab float64
	for i, x := range a.values {
		y := b.values[i]
		if math.IsNaN(x) || math.IsNaN(y) {
			continue
		}
		n, sa, sb = n+1, sa+x, sb+y
		saa, sbb, sab = saa+x*x, sbb+y*y, sab+x*y
	}
	va, vb := saa-sa*sa/max(n, 1), sbb-sb*sb/max(n, 1)
	if va <= 1e-12*n || vb <= 1e-12*n {
		return 0
	}
	return min(max((sab-sa*sb/n)/math.Sqrt(va*vb), -1), 1)
}
