package risk

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// points holds records for computing distances. The distance of dense records is the mean over
// columns of |a − b| on the scale of the schema. Different levels or classes count as 1. The
// distance of sets is Jaccard's.
type points struct {
	n      int
	width  int       // numbers of a record
	flat   []float32 // record by record
	names  int       // words of a record's levels, the class among them
	codes  []uint64  // word by word, with several levels in a word
	lane   int       // bits of a level
	low    uint64    // all bits of a word but the highest of each level
	sets   [][]uint32
	column float32 // the weight of one column
}

// read reads some of the records, drawn at random.
func read(d records.Data, most int, seed uint64) points {
	s := d.Schema()
	blocks := s.Blocks()
	if blocks == nil {
		blocks = []records.Block{{Width: s.Dim()}}
	}
	p := points{column: 1 / float32(columns(s)), lane: 8, low: 0x7f7f7f7f7f7f7f7f}
	if slices.ContainsFunc(blocks, func(b records.Block) bool { return b.OneHot && b.Width > 256 }) ||
		s.Classes() > 256 {
		p.lane, p.low = 16, 0x7fff7fff7fff7fff
	}
	var levels []uint16
	for _, b := range judge.Batches(judge.InSchema(compare.AtMost(d, most, seed))) {
		judge.ToUnit(s, b)
		for i := range b.Rows {
			levels = levels[:0]
			if b.Sparse != nil {
				p.sets = append(p.sets, append([]uint32(nil), b.Sparse.Row(i)...))
			} else {
				levels = p.add(b.Dense.Row(i), blocks, levels)
			}
			if b.Labels != nil {
				levels = append(levels, uint16(b.Labels[i]))
			}
			p.pack(levels)
		}
		p.n += b.Rows
	}
	if p.n > 0 {
		p.width, p.names = len(p.flat)/p.n, len(p.codes)/p.n
		p.codes = turned(p.codes, p.names)
	}
	return p
}

// pack adds the levels of a record.
func (p *points) pack(levels []uint16) {
	for i, l := range levels {
		if i*p.lane%64 == 0 {
			p.codes = append(p.codes, 0)
		}
		p.codes[len(p.codes)-1] |= uint64(l) << (i * p.lane % 64)
	}
}

// columns returns the number of columns of a record, including the class.
func columns(s records.Schema) int {
	n := s.Dim()
	if blocks := s.Blocks(); blocks != nil {
		n = len(blocks)
	}
	if s.Classes() > 0 {
		n++
	}
	return n
}

// add adds the numbers of a dense record, and appends its levels to the list.
func (p *points) add(row []float32, blocks []records.Block, levels []uint16) []uint16 {
	for _, b := range blocks {
		cell := row[b.Offset : b.Offset+b.Width]
		if !b.OneHot {
			p.flat = append(p.flat, cell...)
			continue
		}
		best := 0
		for j, v := range cell {
			if v > cell[best] {
				best = j
			}
		}
		levels = append(levels, uint16(best))
	}
	return levels
}

// distance returns the distance of a record of p from a record of q. If it exceeds limit, the
// result is any number above limit.
func (p *points) distance(i int, q *points, j int, limit float64) float64 {
	if p.sets != nil || q.sets != nil {
		return jaccard(p.sets[i], q.sets[j])
	}
	sum := float32(0)
	for k := range p.names {
		sum += unlike(p.codes[k*p.n+i], q.codes[k*q.n+j], p.low)
	}
	most := float32(limit) / p.column
	x, y := p.flat[i*p.width:(i+1)*p.width], q.flat[j*p.width:(j+1)*p.width]
	for len(x) >= stride && sum <= most {
		a, b := (*[stride]float32)(x), (*[stride]float32)(y)
		var even, odd float32
		for k := 0; k < stride; k += 2 {
			even += abs(a[k] - b[k])
			odd += abs(a[k+1] - b[k+1])
		}
		sum += even + odd
		x, y = x[stride:], y[stride:]
	}
	if len(x) < stride && sum <= most {
		for k, v := range x {
			sum += abs(v - y[k])
		}
	}
	return float64(sum * p.column)
}

// differ sets n to the number of levels in which a record of p differs from each record of q.
func (p *points) differ(i int, q *points, n []float32) {
	clear(n)
	for k := range p.names {
		own, low := p.codes[k*p.n+i], p.low
		for j, code := range q.codes[k*q.n : k*q.n+len(n)] {
			n[j] += unlike(own, code, low)
		}
	}
}

// unlike returns the number of different levels of two words. It sets the highest bit of a level
// that is not 0.
func unlike(a, b, low uint64) float32 {
	x := a ^ b
	return float32(bits.OnesCount64((x&low + low | x) &^ low))
}

// stride is the number of coordinates compared between two checks of the limit.
const stride = 16

// abs returns the absolute value of v.
func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// jaccard returns 1 − |a ∩ b| ÷ |a ∪ b|, and 0 for two empty sets.
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

// closest returns the distance of each record of p to the closest of q.
func (p points) closest(q points) []float64 {
	out := make([]float64, p.n)
	compare.Workers(p.n, func() func(int) {
		differ := make([]float32, q.n)
		return func(i int) {
			p.differ(i, &q, differ)
			best, most := math.Inf(1), float32(math.Inf(1))
			for j, n := range differ {
				if n < most {
					best = min(best, p.distance(i, &q, j, best))
					most = float32(best) / p.column
				}
			}
			out[i] = best
		}
	})
	return out
}

// density returns, for each record of p, the logarithm of the mean over q of exp(−distance ÷
// width). Vectors compute the distances of numbers: |x − y| = x − y + 2 max(y − x, 0).
func (p points) density(q points, width float64) []float64 {
	out, scale := make([]float64, p.n), -p.column/float32(width)
	numbers := device.HostMatrix(q.width, q.n, turned(q.flat, q.width))
	compare.Workers(p.n, func() func(int) {
		one, sum := device.CPUWith(1), make([]float64, 1)
		near, part, sums := one.New(1, q.n), one.New(1, q.n), one.New(1, q.n)
		one.ColSums(nil, numbers, 0, sums)
		return func(i int) {
			p.differ(i, &q, near.Data)
			x, own := p.flat[i*p.width:(i+1)*p.width], float32(0)
			for _, v := range x {
				own += v
			}
			for j, n := range near.Data {
				near.Data[j] = (n + own - sums.Data[j]) * scale
				if p.sets != nil {
					near.Data[j] = float32(jaccard(p.sets[i], q.sets[j]) / -width)
				}
			}
			for k, v := range x {
				one.Fill(part, -v)
				one.BiasApply(device.ReLU, part, numbers.RowRange(k, k+1))
				one.Axpy(2*scale, part, near)
			}
			one.Apply(device.Exp, near, near)
			one.Fill(part, 1)
			one.RowDots(sum, near, part)
			out[i] = math.Log(sum[0]/float64(max(q.n, 1)) + math.SmallestNonzeroFloat64)
		}
	})
	return out
}

// turned returns the transpose of rows of the given width.
func turned[T any](rows []T, width int) []T {
	out := make([]T, 0, len(rows))
	for k := range width {
		for at := k; at < len(rows); at += width {
			out = append(out, rows[at])
		}
	}
	return out
}

// halves returns two disjoint halves of the rows, drawn at random.
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
