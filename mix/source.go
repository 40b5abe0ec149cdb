package mix

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// source prepares records for mixing: it clips them to the clip norm and, if means were released,
// subtracts the mean and clips the deviation. It is safe for concurrent use with one reader per
// goroutine.
type source struct {
	config  Config
	data    records.Data     // rows
	persons *records.Persons // persons that the rows belong to; nil if each row is a record
	share   records.Shares   // of rows
	project []float32        // Projection's matrix, Dim rows; nil for none
	parts   [][]int32        // records, or persons, of every part
	label   []int32          // class of every row; nil without classes
	centers [][]float32      // of every part; nil until centres are released
	cache   []float32        // all prepared rows, if they fit into cacheLimit
}

const (
	// cacheLimit is the largest number of coordinates of prepared rows that are kept: 256 MiB.
	cacheLimit = 1 << 26
	readChunk  = 256
)

func newSource(c Config, data records.Data) *source { return openSource(c).of(data) }

// openSource returns a source without records.
func openSource(c Config) *source {
	s := &source{config: c}
	if p := c.Projection; p.wanted() {
		s.project = projectionMatrix(p, c.Schema.Dim())
	}
	return s
}

// of returns a source of the given records with the configuration, projection and centres of s.
func (s *source) of(data records.Data) *source {
	c := s.config
	s = &source{config: c, project: s.project, centers: s.centers, parts: make([][]int32, c.parts())}
	s.persons, _ = records.AsPersons(data)
	n := data.Len()
	data, s.share = records.RowsOf(data)
	s.data = data
	var b device.Batch
	for lo := 0; c.Schema.Classes() > 0 && lo < data.Len(); lo += readChunk {
		data.Range(lo, min(lo+readChunk, data.Len()), &b)
		s.label = append(s.label, b.Labels...)
	}
	for record := range n {
		l := int32(0)
		// A person's rows may have several classes, so Validate does not permit ByClass for persons.
		if c.ByClass {
			l = s.label[record]
		}
		s.parts[l] = append(s.parts[l], int32(record))
	}
	return s
}

// projectionMatrix draws Dim rows of independent normal numbers of variance 1/Dim from the public
// seed.
func projectionMatrix(p Projection, dim int) []float32 {
	rng := rand.New(rand.NewPCG(p.Seed, 0x70726f6a656374))
	m := make([]float32, p.Dim*dim)
	for i := range m {
		m[i] = float32(rng.NormFloat64() / math.Sqrt(float64(p.Dim)))
	}
	return m
}

// reader holds one goroutine's buffers.
type reader struct {
	*source
	batch device.Batch
	ready []float32
	rows  []int32 // of persons
}

func (s *source) reader() *reader { return &reader{source: s} }

// read prepares the given rows of a part. The result is valid until the next call.
//
// Shapes: rows are indices of the data's rows; the result has Config.dim numbers for each.
func (r *reader) read(part int, rows []int32) []float32 {
	r.data.Gather(rows, &r.batch)
	dim := r.config.dim()
	if len(r.ready) < len(rows)*dim {
		r.ready = make([]float32, len(rows)*dim)
	}
	for i := range rows {
		dst := r.ready[i*dim : (i+1)*dim]
		if r.project == nil {
			copy(dst, r.batch.Dense.Row(i))
		} else {
			multiply(dst, r.project, r.batch.Dense.Row(i))
		}
		shorten(dst, r.config.ClipNorm)
		if r.centers != nil {
			for j, v := range r.centers[part] {
				dst[j] -= v
			}
			shorten(dst, r.config.Centers.ClipNorm)
		}
	}
	return r.ready
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

// shorten scales a row down to norm clip if it is longer. It computes the squared norm and the
// factor in float64, as mechanism.ClipFactor requires.
func shorten(row []float32, clip float64) {
	square := 0.0
	for _, v := range row {
		square += float64(v) * float64(v)
	}
	f := mechanism.ClipFactor(square, clip)
	if f == 1 {
		return
	}
	if f == 0 { // also for rows that are not finite, because zero times NaN is NaN
		clear(row)
		return
	}
	for j, v := range row {
		row[j] = float32(float64(v) * f)
	}
}

// keep prepares all rows in advance if they fit into cacheLimit, because every record is read about
// T·ℓ/n times.
func (s *source) keep() {
	dim, n := s.config.dim(), s.data.Len()
	if n > cacheLimit/max(dim, 1) {
		return
	}
	cache, r := make([]float32, n*dim), s.reader()
	for part, rows := range s.parts {
		r.each(part, rows, func(row int32, x []float32) { copy(cache[int(row)*dim:], x) })
	}
	s.cache = cache
}

// each calls f with each of the given rows, which must belong to the given part. For persons, rows
// contains indices of persons, and f is called with every row of these persons.
func (r *reader) each(part int, rows []int32, f func(row int32, x []float32)) {
	dim := r.config.dim()
	if r.persons != nil {
		r.rows = r.persons.AppendRows(r.rows[:0], rows)
		rows = r.rows
	}
	if r.cache != nil {
		for _, row := range rows {
			f(row, r.cache[int(row)*dim:(int(row)+1)*dim])
		}
		return
	}
	for now := range slices.Chunk(rows, readChunk) {
		ready := r.read(part, now)
		for i, row := range now {
			f(row, ready[i*dim:(i+1)*dim])
		}
	}
}
