package risk

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/evaluate/internal/parallel"
	"github.com/seed7ba64551/privgen/evaluate/internal/recordset"
	"github.com/seed7ba64551/privgen/records"
)

// points are records between which there is a distance: dense ones by the mean over columns of
// |a − b| on the scale of the schema, where another level counts 1; sets by Jaccard's distance.
type points struct {
	n, dim int
	flat   []float32 // weighted so that the sum of |a − b| is the distance
	sets   [][]uint32
	labels []int32 // of the class, which counts as a column
	label  float32 // what another class counts
}

// read reads some of the records, drawn at random.
func read(d records.Data, most int, seed uint64) points {
	d = recordset.InSchema(recordset.AtMost(d, most, seed))
	s := d.Schema()
	weights, label := columnWeights(s)
	p := points{dim: s.Dim(), label: label}
	const chunk = 1024
	var b device.Batch
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
		recordset.ToUnit(s, &b)
		for i := range b.Rows {
			if b.Sparse != nil {
				p.sets = append(p.sets, append([]uint32(nil), b.Sparse.Row(i)...))
				continue
			}
			for j, v := range b.Dense.Row(i) {
				p.flat = append(p.flat, v*weights[j])
			}
		}
		p.labels = append(p.labels, b.Labels...)
		p.n += b.Rows
	}
	return p
}

// columnWeights are what one unit of each coordinate counts.
func columnWeights(s records.Schema) (weights []float32, label float32) {
	columns := s.Dim()
	if blocks := s.Blocks(); blocks != nil {
		columns = len(blocks)
	}
	if s.Classes() > 0 {
		columns++
		label = 1 / float32(columns)
	}
	weights = make([]float32, s.Dim())
	for j := range weights {
		weights[j] = 1 / float32(columns)
	}
	for _, b := range s.Blocks() {
		if b.OneHot { // two coordinates differ where two levels do
			for j := range b.Width {
				weights[b.Offset+j] /= 2
			}
		}
	}
	return weights, label
}

// distance is that of one of p from one of q.
func (p points) distance(i int, q points, j int) float64 {
	if p.sets != nil || q.sets != nil {
		return jaccard(p.sets[i], q.sets[j])
	}
	sum := float32(0)
	a, b := p.flat[i*p.dim:(i+1)*p.dim], q.flat[j*p.dim:(j+1)*p.dim]
	for k, v := range a {
		d := v - b[k]
		sum += max(d, -d)
	}
	if p.labels != nil && q.labels != nil && p.labels[i] != q.labels[j] {
		sum += p.label
	}
	return float64(sum)
}

// jaccard is 1 less the part of the items of either that both have; two empty sets are the same.
func jaccard(a, b []uint32) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			both, i, j = both+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return 1 - float64(both)/float64(all)
	}
	return 0
}

// closest are the distances of each of p to the closest of q.
func (p points) closest(q points) []float64 {
	out := make([]float64, p.n)
	parallel.Each(p.n, func(i int) {
		out[i] = math.Inf(1)
		for j := range q.n {
			out[i] = min(out[i], p.distance(i, q, j))
		}
	})
	return out
}

// density is the logarithm of the mean over q of exp(−distance ÷ width), for each of p.
func (p points) density(q points, width float64) []float64 {
	out := make([]float64, p.n)
	parallel.Each(p.n, func(i int) {
		sum := 0.0
		for j := range q.n {
			sum += math.Exp(-p.distance(i, q, j) / width)
		}
		out[i] = math.Log(sum/float64(max(q.n, 1)) + math.SmallestNonzeroFloat64)
	})
	return out
}

// halves are two disjoint halves of the rows, drawn at random.
func halves(n int, seed uint64) (a, b []int32) {
	rng := rand.New(rand.NewPCG(seed, 0x68616c66))
	for i, r := range rng.Perm(n) {
		if i < (n+1)/2 {
			a = append(a, int32(r))
		} else {
			b = append(b, int32(r))
		}
	}
	return a, b
}
