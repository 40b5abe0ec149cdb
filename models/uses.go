package models

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// A use states the gradients of a matrix of parameters and of its bias. The gradient of a record is
// AᵀD for the matrix, where the rows of A and D are the record's inputs and deltas at all positions
// that have the parameters. It is the sum of the rows of D for the bias, as if each row of A had
// one more number, 1. Everything about per-example gradients follows from uses: their norms, and
// their weighted sums in floating point and in fixed point. The matrix with one row of parameters
// for each record is never formed.
//
// With one row a and one row δ, the squared norm is (‖a‖²+1)·‖δ‖², and a weighted sum is one matrix
// product after scaling rows (Goodfellow 2015, "Efficient Per-Example Gradient Computations").
// With more rows, the norm comes from the product or, where that is cheaper, from the Gram matrices
// of A and D (Rochette, Manoel and Tramel 2019). It is rounded up, so it is an upper bound even
// where terms cancel.
//
// A critic's gradient penalty is itself a function of a gradient. Where activations are piecewise
// linear, the gradient of one record's penalty is still one outer product in each layer: a tangent,
// propagated forward, times the ordinary delta. Record, fake and penalty are then three rows.
// Smooth activations have second derivatives, so a critic with them has a fourth row.
type use struct {
	weight, bias int // blocks of parameters; -1 for none
	rows         int // rows of each record
	a, d         device.Matrix
	sparse       *device.Sparse // instead of a
	lower        lowering       // which of a and d is given by images
	window       device.Window  // of these images
	apart        bool           // the rows of a record list different items, so they never meet
	na, nd       []float64      // squared norms of rows, if measure has computed them
	mixed        bool           // d is the gradient of all records together
}

// A lowering says which side of a use consists of the patches of images. They are computed when
// they are needed.
type lowering int

const (
	lowerNone lowering = iota
	lowerA
	lowerD
)

// few is the largest number of rows of a record whose products are added one by one. More rows are
// first added up to the record's gradient.
const few = 4

func (u *use) single() bool { return u.rows == 1 && u.lower == lowerNone }
func (u *use) some() bool {
	return u.rows > 1 && u.rows <= few && u.lower == lowerNone && !u.apart
}

// sums is scratch memory for norms and sums.
type sums struct {
	na, nd, nw, nb []float64 // squared norms
	ad, dd         []float64 // inner products of two rows
	weights, fewer []float32
	list           [][]float32
	one            device.Matrix
	squared        []float64 // of measure
	together       interface {
		RowSquaredNorms(dst []float64, m device.Matrix)
		Wait()
	}
}

// collect lists the uses of all parameters.
func (t *pass) collect() {
	t.list = t.list[:0]
	for _, n := range t.g.nodes {
		if u, ok := n.unit.(weighted); ok && !n.frozen {
			t.list = u.uses(t, n, t.list)
		}
	}
	if t.g.shared {
		t.join()
	}
	if t.g.whole {
		t.wholes()
	}
}

// records returns the number of records of the batch.
func (t *pass) records() int { return t.rows / t.parts }

// biasedRows returns the number of rows of each record that have a gradient for the bias.
func (t *pass) biasedRows(u *use) int { return u.rows / t.parts * t.biased }

// largeSquare is the squared norm from which a factor of a gradient counts as not finite. Below
// this value, the float32 products wᵢ·δᵢ·aᵢ of a clipped row cannot overflow, and their error from
// underflow stays below 2⁻⁸⁰.
const largeSquare = 0x1p120

// bounded returns NaN for a square that is too large or NaN, and the square itself otherwise. Sums
// that contain the NaN are NaN too.
func bounded(squared float64) float64 {
	if squared < largeSquare {
		return squared
	}
	return math.NaN()
}

// squares returns the squared norms of the rows of a use, or NaN for norms that are too large.
func (t *pass) squares(u *use) (a, d []float64) {
	s := &t.summing
	s.nd, s.na = grow(s.nd, u.d.Rows), grow(s.na, u.d.Rows)
	if u.nd != nil {
		copy(s.nd, u.nd)
	} else {
		t.be.RowSquaredNorms(s.nd, u.d)
	}
	switch {
	case u.sparse != nil:
		sparseSquaredNorms(s.na, u.sparse)
	case u.weight < 0:
		clear(s.na)
	case u.na != nil:
		copy(s.na, u.na)
	default:
		t.be.RowSquaredNorms(s.na, u.a)
	}
	for i := range s.na {
		s.na[i], s.nd[i] = bounded(s.na[i]), bounded(s.nd[i])
	}
	return s.na, s.nd
}

// SquaredNorms sets dst to ‖gᵢ‖² or a slightly larger number. All parameters together are clipped
// as one gradient.
func (t *pass) SquaredNorms(dst []float64) {
	dst = dst[:t.records()]
	clear(dst)
	if t.rows == 0 {
		return
	}
	t.measure()
	for i := range t.list {
		t.addNorms(&t.list[i], dst)
	}
}

// measure computes the squared norms of all uses' rows with one wait for the device, if the backend
// can. Each wait costs as much as many small operations.
func (t *pass) measure() {
	g, ok := t.be.(interface {
		Norms() interface {
			RowSquaredNorms(dst []float64, m device.Matrix)
			Wait()
		}
	})
	if !ok {
		return
	}
	s, all := &t.summing, 0
	if s.together == nil {
		s.together = g.Norms()
	}
	for i := range t.list {
		all += t.list[i].d.Rows
	}
	s.squared = grow(s.squared, 2*all)
	left := s.squared
	for i := range t.list {
		u := &t.list[i]
		if u.mixed || u.lower != lowerNone || u.rows > few && !u.apart {
			continue
		}
		n := u.d.Rows
		u.nd, left = left[:n], left[n:]
		s.together.RowSquaredNorms(u.nd, u.d)
		if u.sparse == nil && u.weight >= 0 {
			u.na, left = left[:n], left[n:]
			s.together.RowSquaredNorms(u.na, u.a)
		}
	}
	s.together.Wait()
}

func (t *pass) addNorms(u *use, dst []float64) {
	switch {
	case u.single() && u.weight >= 0 && u.bias >= 0 && t.g.joint:
		a, d := t.squares(u)
		for i := range dst {
			dst[i] += (a[i] + 1) * d[i]
		}
	default:
		s := &t.summing
		s.nw, s.nb = grow(s.nw, len(dst)), grow(s.nb, len(dst))
		t.norms(u, s.nw, s.nb)
		if u.weight >= 0 {
			addTo(dst, s.nw)
		}
		if u.bias >= 0 {
			addTo(dst, s.nb)
		}
	}
}

func addTo(dst, x []float64) {
	for i, v := range x {
		dst[i] += v
	}
}

// BlockSquaredNorms sets dst[b][i] to the squared norm of block b's part of gᵢ, or a slightly
// larger number.
func (t *pass) BlockSquaredNorms(dst [][]float64) {
	if t.rows == 0 {
		return
	}
	t.measure()
	s := &t.summing
	for i := range t.list {
		u, n := &t.list[i], t.records()
		s.nw, s.nb = grow(s.nw, n), grow(s.nb, n)
		t.norms(u, s.nw, s.nb)
		if u.weight >= 0 {
			copy(dst[u.weight], s.nw)
		}
		if u.bias >= 0 {
			copy(dst[u.bias], s.nb)
		}
	}
}

// norms sets weight and bias to the squared norms of the records' gradients with respect to the
// matrix and to the bias, rounded up.
func (t *pass) norms(u *use, weight, bias []float64) {
	switch {
	case u.mixed:
		for i := range bias {
			weight[i], bias[i] = math.NaN(), math.NaN()
		}
	case u.single():
		a, d := t.squares(u)
		for i := range weight {
			weight[i], bias[i] = a[i]*d[i], d[i]
		}
	case u.apart:
		_, d := t.squares(u)
		for i := range weight {
			weight[i] = 0
			for _, v := range d[i*u.rows : (i+1)*u.rows] {
				weight[i] += v
			}
		}
	case u.some():
		t.gramNorms(u, weight, bias)
	default:
		t.productNorms(u, weight, bias)
	}
}

// cancelled is the fraction of Σ‖a‖‖δ‖ that is added to the norm of Σ a⊗δ. It exceeds the relative
// float32 error of the products of a few rows. Without it, the weights of rows that nearly cancel
// would be unbounded.
const cancelled = 0x1p-12

// gramNorms computes ‖Σⱼ aⱼ⊗δⱼ‖² as Σⱼₖ (aⱼ·aₖ)(δⱼ·δₖ) from the Gram matrices of a record's few
// rows, in float64.
func (t *pass) gramNorms(u *use, weight, bias []float64) {
	s, share := &t.summing, t.biasedRows(u)
	a, d := t.squares(u)
	s.ad, s.dd = grow(s.ad, len(weight)), grow(s.dd, len(weight))
	for i := range weight {
		weight[i], bias[i] = 0, 0
		for k := i * u.rows; k < (i+1)*u.rows; k++ {
			weight[i] += a[k] * d[k]
			if k%u.rows < share {
				bias[i] += d[k]
			}
		}
	}
	for j := range u.rows {
		for k := j + 1; k < u.rows; k++ {
			if u.weight >= 0 {
				t.be.RowDots(s.ad, part(u.a, j, u.rows), part(u.a, k, u.rows))
			}
			t.be.RowDots(s.dd, part(u.d, j, u.rows), part(u.d, k, u.rows))
			for i := range weight {
				weight[i] += 2 * s.ad[i] * s.dd[i]
				if k < share {
					bias[i] += 2 * s.dd[i]
				}
			}
		}
	}
	t.roundUp(u, weight, bias)
}

// roundUp adds bounds for two rounding errors: the error of float64 inner products, and the error
// of the summed float32 rows.
func (t *pass) roundUp(u *use, weight, bias []float64) {
	s := &t.summing
	slack := float64(u.a.Cols+u.d.Cols+32) * 0x1p-51
	for i := range weight {
		sw := 0.0
		for k := i * u.rows; k < (i+1)*u.rows; k++ {
			sw += math.Sqrt(s.na[k] * s.nd[k])
		}
		weight[i] = above(weight[i], slack, sw)
		bias[i] = above(bias[i], slack, sizeOf(s.nd, i, u.rows, t.biasedRows(u)))
	}
}

// sizeOf returns the sum of the norms of the first rows of record i.
func sizeOf(squares []float64, i, rows, share int) float64 {
	sum := 0.0
	for _, s := range squares[i*rows : i*rows+share] {
		sum += math.Sqrt(s)
	}
	return sum
}

// above returns an upper bound of a squared norm whose float64 sums may be off by slack·size².
func above(square, slack, size float64) float64 {
	norm := math.Sqrt(max(square, 0)+slack*size*size) + cancelled*size
	return norm * norm
}

// productNorms treats a record's rows as one block: the gradient is AᵀD over all of them.
func (t *pass) productNorms(u *use, weight, bias []float64) {
	t.chunks(u, func(lo, hi int, a, d device.Matrix) {
		if u.weight >= 0 {
			t.be.BlockProductNorms(weight[lo:hi], u.rows, a, d)
		}
		if u.bias >= 0 {
			t.be.BlockProductNorms(bias[lo:hi], u.rows, t.ones(u, hi-lo), d)
		}
	})
	t.reject(u, weight, bias)
}

// chunks calls visit with both sides for some records at a time, until all records are done.
func (t *pass) chunks(u *use, visit func(lo, hi int, a, d device.Matrix)) {
	n, chunk := t.records(), t.records()
	if u.lower != lowerNone {
		chunk = max(chunkRows(u.window)/t.parts, 1)
	}
	for lo, hi := 0, 0; lo < n; lo = hi {
		hi = min(lo+chunk, n)
		a := t.side(u, u.lower == lowerA, u.a, lo, hi)
		visit(lo, hi, a, t.side(u, u.lower == lowerD, u.d, lo, hi))
	}
}

// side returns the rows of one side for records lo to hi−1. Rows that are patches are in scratch
// memory.
func (t *pass) side(u *use, lowered bool, m device.Matrix, lo, hi int) device.Matrix {
	if m.Rows == 0 || u.sparse != nil {
		return device.Matrix{}
	}
	each := m.Rows / t.records()
	m = m.RowRange(lo*each, hi*each)
	if !lowered {
		return m
	}
	patches := t.patches(u.window, m.Rows)
	t.be.Im2Col(u.window, patches, m)
	return patches
}

// ones returns the column that replaces A in the gradient of a bias: 1 in the rows that have one,
// and 0 in the others.
func (t *pass) ones(u *use, records int) device.Matrix {
	s, n := &t.summing, t.records()*u.rows
	if s.one.Cols < n {
		s.one = t.be.New(1, max(n, t.capacity/t.parts*u.rows))
	}
	m := s.one.Slice(0, 1, 0, records*u.rows)
	t.be.Fill(m, 0)
	byRecord := m.Reshape(records, u.rows)
	t.be.Fill(byRecord.Slice(0, records, 0, t.biasedRows(u)), 1)
	return m.Reshape(records*u.rows, 1)
}

// reject sets norms to NaN where a factor is too large, by adding 0·NaN.
func (t *pass) reject(u *use, weight, bias []float64) {
	s := &t.summing
	for _, m := range []device.Matrix{u.a, u.d} {
		if m.Rows == 0 {
			continue
		}
		if m.Rows != t.rows {
			m = m.Reshape(t.rows, m.Rows*m.Cols/t.rows)
		}
		s.na = grow(s.na, m.Rows)
		t.be.RowSquaredNorms(s.na, m)
		for i := range weight {
			total := 0.0
			for _, v := range s.na[i*t.parts : (i+1)*t.parts] {
				total += v
			}
			weight[i] += 0 * bounded(total)
			bias[i] += 0 * bounded(total)
		}
	}
}

// part returns rows k, k+parts, k+2·parts, … of m.
func part(m device.Matrix, k, parts int) device.Matrix {
	rows := m.Rows / parts
	if rows == 0 {
		return device.Matrix{Cols: m.Cols, Stride: m.Cols}
	}
	out := device.Matrix{Rows: rows, Cols: m.Cols, Stride: parts * m.Stride}
	if m.Mem != nil {
		out.Mem = m.Mem.Offset(k * m.Stride)
		return out
	}
	out.Data = m.Data[k*m.Stride:]
	return out
}

// sparseSquaredNorms sets dst to the squared norms of rows of ones. An item that is listed twice is
// added twice to its coordinate, so it counts as 2² = 4.
func sparseSquaredNorms(dst []float64, s *device.Sparse) {
	for i := range dst {
		items := s.Items[s.Offsets[i]:s.Offsets[i+1]]
		dst[i] = float64(len(items))
		if !strictlyIncreasing(items) {
			dst[i] = squaredCounts(items)
		}
	}
}

func strictlyIncreasing(items []uint32) bool {
	for i := 1; i < len(items); i++ {
		if items[i] <= items[i-1] {
			return false
		}
	}
	return true
}

func squaredCounts(items []uint32) float64 {
	sorted := slices.Sorted(slices.Values(items))
	total, run := 0.0, 0.0
	for i, item := range sorted {
		if i > 0 && item != sorted[i-1] {
			total, run = total+run*run, 0
		}
		run++
	}
	return total + run*run
}
