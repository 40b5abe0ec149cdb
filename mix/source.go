package mix

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// source reads records as they are mixed: shortened to the clip norm and, where means were
// released, moved by them and shortened again. It is safe for concurrent use, one reader a
// goroutine.
type source struct {
	config  Config
	data    records.Data
	project []float32 // Projection's matrix, Dim rows; nil for none
	parts   [][]int32 // rows of every part; nil for one part of all rows
	label   []int32   // class of every row; nil without classes
	centers [][]float32
	cache   []float32 // all rows, ready, where they fit
}

// cacheLimit bounds, in numbers, what is kept of records in ready form: 256 MiB.
const cacheLimit = 1 << 26

func newSource(c Config, data records.Data) *source {
	s := &source{config: c, data: data}
	if p := c.Projection; p.wanted() {
		s.project = projectionMatrix(p, c.Schema.Dim())
	}
	if c.Schema.Classes() > 0 {
		s.sort()
	}
	return s
}

// projectionMatrix draws Dim rows of independent normal numbers of variance 1/Dim, from a public
// seed.
func projectionMatrix(p Projection, dim int) []float32 {
	rng := rand.New(rand.NewPCG(p.Seed, 0x70726f6a656374))
	m := make([]float32, p.Dim*dim)
	for i := range m {
		m[i] = float32(rng.NormFloat64() / math.Sqrt(float64(p.Dim)))
	}
	return m
}

// sort notes the class of every row and, where classes are mixed apart, the rows of every class.
func (s *source) sort() {
	n := s.data.Len()
	s.label = make([]int32, 0, n)
	if s.config.ByClass {
		s.parts = make([][]int32, s.config.parts())
	}
	var b device.Batch
	for lo := 0; lo < n; lo += readChunk {
		s.data.Range(lo, min(lo+readChunk, n), &b)
		s.label = append(s.label, b.Labels...)
	}
	if !s.config.ByClass {
		return
	}
	for row, l := range s.label {
		s.parts[l] = append(s.parts[l], int32(row))
	}
}

const readChunk = 256

// size is the private number of records of a part.
func (s *source) size(part int) int {
	if s.parts == nil {
		return s.data.Len()
	}
	return len(s.parts[part])
}

// row is the number in the data of record i of a part.
func (s *source) row(part int, i int32) int32 {
	if s.parts == nil {
		return i
	}
	return s.parts[part][i]
}

// reader holds one goroutine's buffers.
type reader struct {
	*source
	batch   device.Batch
	ready   []float32
	rows    []int32
	deviate bool // move rows by the centres
}

func (s *source) reader() *reader { return &reader{source: s} }

// part reads some rows of a part. The result is valid until the next call.
//
// Shapes: one row of Config.dim numbers for each of rows, which number the data's rows.
func (r *reader) part(part int, rows []int32) []float32 {
	r.data.Gather(rows, &r.batch)
	return r.prepare(part)
}

func (r *reader) prepare(part int) []float32 {
	dim, b := r.config.dim(), r.batch
	if cap(r.ready) < b.Rows*dim {
		r.ready = make([]float32, b.Rows*dim)
	}
	r.ready = r.ready[:b.Rows*dim]
	in := r.config.Schema.Dim()
	row := make([]float32, in)
	for i := range b.Rows {
		dst := r.ready[i*dim : (i+1)*dim]
		src := row
		if r.project == nil {
			src = dst
		}
		dense(b, i, src)
		if r.project != nil {
			multiply(dst, r.project, src)
		}
		shorten(dst, r.config.ClipNorm)
		if r.deviate {
			move(dst, r.centers[part])
			shorten(dst, r.config.Centers.ClipNorm)
		}
	}
	return r.ready
}

// dense copies record i of a batch.
func dense(b device.Batch, i int, dst []float32) {
	if b.Sparse == nil {
		copy(dst, b.Dense.Row(i))
		return
	}
	clear(dst)
	for _, item := range b.Sparse.Row(i) {
		dst[item] = 1
	}
}

func multiply(dst, m, x []float32) {
	for i := range dst {
		sum := 0.0
		for j, v := range m[i*len(x) : (i+1)*len(x)] {
			sum += float64(v) * float64(x[j])
		}
		dst[i] = float32(sum)
	}
}

func move(row, by []float32) {
	for j, v := range by {
		row[j] -= v
	}
}

// shorten brings a row to norm clip or less, squared norm and factor in float64 as
// mechanism.ClipFactor wants them.
func shorten(row []float32, clip float64) {
	square := 0.0
	for _, v := range row {
		square += float64(v) * float64(v)
	}
	f := mechanism.ClipFactor(square, clip)
	if f == 1 {
		return
	}
	if f == 0 { // also a row that is not finite, of which zero times a coordinate would not be zero
		clear(row)
		return
	}
	for j, v := range row {
		row[j] = float32(float64(v) * f)
	}
}

// keep prepares all rows once, where they fit into memory: every record is read T·ℓ/n times.
func (s *source) keep() {
	dim, n := s.config.dim(), s.data.Len()
	if n > cacheLimit/max(dim, 1) {
		return
	}
	cache := make([]float32, n*dim)
	r := s.reader()
	r.deviate = s.centers != nil
	for part := range s.config.parts() {
		for lo := 0; lo < s.size(part); lo += readChunk {
			r.rows = r.rows[:0]
			for i := lo; i < min(lo+readChunk, s.size(part)); i++ {
				r.rows = append(r.rows, s.row(part, int32(i)))
			}
			ready := r.part(part, r.rows)
			for i, row := range r.rows {
				copy(cache[int(row)*dim:(int(row)+1)*dim], ready[i*dim:])
			}
		}
	}
	s.cache = cache
}

// each calls f with every one of some rows of the data, which are of one part.
func (r *reader) each(part int, rows []int32, f func(row int32, x []float32)) {
	dim := r.config.dim()
	if r.cache != nil {
		for _, row := range rows {
			f(row, r.cache[int(row)*dim:(int(row)+1)*dim])
		}
		return
	}
	for len(rows) > 0 {
		now := rows[:min(len(rows), readChunk)]
		ready := r.part(part, now)
		for i, row := range now {
			f(row, ready[i*dim:(i+1)*dim])
		}
		rows = rows[len(now):]
	}
}
