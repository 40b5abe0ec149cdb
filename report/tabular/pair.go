package tabular

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
)

// prepared is a column prepared for the comparison of pairs.
type prepared struct {
	column
	coded  []int32 // levels: numbers in bins, and one level for missing values
	levels int
	varies bool // has more than one value
}

// sdBins is the number of bins of SDMetrics' discretised numbers.
const sdBins = 10

// prepare makes every column ready for all its pairs.
func prepare(t *Table) []prepared {
	out := make([]prepared, len(t.columns))
	for j, c := range t.columns {
		p := prepared{column: c}
		if c.number {
			p.coded, p.levels = digitize(c.values), sdBins+2
			p.varies = varies(c.values)
		} else {
			p.coded, p.levels = c.coded(0)
		}
		out[j] = p
	}
	return out
}

// varies reports whether the numbers that are not missing differ. It is false without numbers.
func varies(values []float64) bool {
	distinct := false
	first := math.NaN()
	for _, v := range values {
		switch {
		case math.IsNaN(v):
		case math.IsNaN(first):
			first = v
		case v != first:
			distinct = true
		}
	}
	return distinct
}

// digitize puts numbers in ten bins of equal width between the smallest and the largest of them, as
// numpy.histogram_bin_edges and numpy.digitize do. The largest number and missing values lie beyond
// the last bin.
func digitize(values []float64) []int32 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	switch {
	case lo > hi:
		lo, hi = 0, 1
	case lo == hi:
		lo, hi = lo-0.5, hi+0.5
	}
	edges := make([]float64, sdBins+1)
	step := (hi - lo) / sdBins
	for i := range edges {
		edges[i] = float64(float64(i)*step) + lo // not fused, so that edges equal numpy's
	}
	edges[sdBins] = hi
	codes := make([]int32, len(values))
	for i, v := range values {
		codes[i] = sdBins + 1
		if !math.IsNaN(v) {
			codes[i] = int32(sort.Search(len(edges), func(k int) bool { return edges[k] > v }))
		}
	}
	return codes
}

// pair scores two columns.
func pair(realA, realB, synA, synB prepared) Pair {
	p := Pair{Columns: [2]string{realA.name, realB.name}, Association: math.NaN(),
		Real: math.NaN(), Synthetic: math.NaN(), Score: math.NaN()}
	if realA.number && realB.number {
		p.Metric = CorrelationSimilarity
		if realA.varies && realB.varies && synA.varies && synB.varies {
			p.Real = correlation(realA.values, realB.values)
			p.Synthetic = correlation(synA.values, synB.values)
			p.Score = 1 - math.Abs(p.Real-p.Synthetic)/2
		}
		p.Related = math.Abs(p.Real) > RelatedCorrelation
		return p
	}
	p.Metric = ContingencySimilarity
	real, synthetic := tabulate(realA, realB), tabulate(synA, synB)
	p.Score = 1 - real.variation(synthetic)
	p.Association = real.cramer()
	p.Related = p.Association > RelatedAssociation
	return p
}

// correlation returns Pearson's correlation over the records that have both numbers, or NaN if one
// is constant.
func correlation(a, b []float64) float64 {
	var n, ma, mb float64
	for i, x := range a {
		if y := b[i]; !math.IsNaN(x) && !math.IsNaN(y) {
			n, ma, mb = n+1, ma+x, mb+y
		}
	}
	if n < 2 {
		return math.NaN()
	}
	ma, mb = ma/n, mb/n
	var saa, sbb, sab float64
	for i, x := range a {
		if y := b[i]; !math.IsNaN(x) && !math.IsNaN(y) {
			saa, sbb, sab = saa+(x-ma)*(x-ma), sbb+(y-mb)*(y-mb), sab+(x-ma)*(y-mb)
		}
	}
	if saa == 0 || sbb == 0 {
		return math.NaN()
	}
	return min(max(sab/math.Sqrt(saa)/math.Sqrt(sbb), -1), 1)
}

// contingency counts the joint levels of columns.
type contingency struct {
	counts map[uint64]float64
	rows   uint64 // levels of the second column
	n      float64
}

// tabulate counts the joint levels of two or more columns.
func tabulate(columns ...prepared) contingency {
	t := contingency{counts: map[uint64]float64{}, n: float64(columns[0].len())}
	cells := uint64(1)
	for _, c := range columns {
		t.rows = uint64(c.levels)
		cells *= uint64(c.levels)
	}
	const dense = 1 << 20
	var list []uint32
	if cells <= dense {
		list = make([]uint32, cells)
	}
	var some [512]uint64 // the levels of all columns but the last, of a part that stays in the cache
	last := columns[len(columns)-1]
	for lo := 0; lo < len(last.coded); lo += len(some) {
		keys := some[:min(len(last.coded)-lo, len(some))]
		clear(keys)
		for _, c := range columns[:len(columns)-1] {
			levels := uint64(c.levels)
			for i, code := range c.coded[lo : lo+len(keys)] {
				keys[i] = keys[i]*levels + uint64(code)
			}
		}
		for i, code := range last.coded[lo : lo+len(keys)] {
			if key := keys[i]*t.rows + uint64(code); list != nil {
				list[key]++
			} else {
				t.counts[key]++
			}
		}
	}
	for key, count := range list {
		if count > 0 {
			t.counts[uint64(key)] = float64(count)
		}
	}
	return t
}

// variation returns the total variation distance of two tables. It adds up the cells in order.
func (t contingency) variation(o contingency) float64 {
	keys := slices.AppendSeq(make([]uint64, 0, len(t.counts)+len(o.counts)), maps.Keys(t.counts))
	for k := range o.counts {
		if _, both := t.counts[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	sum := 0.0
	for _, k := range keys {
		sum += math.Abs(t.counts[k]/t.n - o.counts[k]/o.n)
	}
	return sum / 2
}

// cramer returns Cramér's V without correction; NaN for a table with a single row or column.
func (t contingency) cramer() float64 {
	rows, columns := map[uint64]float64{}, map[uint64]float64{}
	keys := slices.SortedFunc(maps.Keys(t.counts), cmp.Compare[uint64])
	for _, k := range keys {
		rows[k/t.rows] += t.counts[k]
		columns[k%t.rows] += t.counts[k]
	}
	least := min(len(rows), len(columns))
	if least < 2 {
		return math.NaN()
	}
	phi := -1.0 // χ²/n is the sum of count²/(row·column), minus 1
	for _, k := range keys {
		phi += t.counts[k] / rows[k/t.rows] * t.counts[k] / columns[k%t.rows]
	}
	return math.Sqrt(max(phi, 0) / float64(least-1))
}
