package merf

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// A worker computes a part of a sum in one goroutine.
type worker struct {
	work     *work
	be       device.Backend
	reader   reader
	sums     *mechanism.FixedSum // classes × features
	counts   *mechanism.FixedSum // classes; nil if counts are not released
	features device.Matrix
	host     []float32
	squared  []float64
	rows     records.Nonzeros // nonzero coordinates, for sparse features
	places   []int32          // indices of one record's nonzero features
	values   []float32
}

func newWorker(p *work, be device.Backend) *worker {
	classes, dim := classesOf(p.config.Schema), p.features.Dim()
	w := &worker{work: p, be: be, reader: reader{unit: network.UnitOf(p.config.Schema)},
		sums: mechanism.NewFixedSum(classes*dim, mechanism.GridFor(p.noise.sum))}
	if p.noise.count > 0 {
		w.counts = mechanism.NewFixedSum(classes, mechanism.CountGrid(p.noise.count,
			p.config.Schema.RowsPerPerson() > 0))
	}
	return w
}

// most is the largest number of coordinates of a dense batch. They take 16 MiB.
const most = 1 << 22

// size returns the number of records in a batch, which has about 8 MiB of features and at most 16
// MiB of dense records.
func (w *worker) size() int {
	n := min(max((1<<21)/w.work.features.Dim(), 16), 4096)
	if w.sparse() != nil {
		n = 1024
	}
	if s := w.work.config.Schema; !s.Sparse() && !(w.sparse() != nil && table(s)) {
		n = min(n, max(most/s.Dim(), 1))
	}
	return n
}

// sparse returns the feature map if it can list its nonzero features and records are not sets, and
// nil otherwise.
func (w *worker) sparse() rff.SparseEmbedding {
	if s, ok := w.work.features.(rff.SparseEmbedding); ok && !w.work.config.Schema.Sparse() {
		return s
	}
	return nil
}

func table(s records.Schema) bool { return s.Kind() == records.MixedTable }

// addRange adds the features of rows lo … hi-1 of data, clipped to the norm bound, and counts the
// rows. Each row of a person is added with its weight, so a person adds a weighted mean of rows.
// See records.RowsOf.
func (w *worker) addRange(data records.Data, lo, hi int, shares records.Shares) {
	if w.sparse() != nil && table(data.Schema()) {
		w.rows.Range(data, lo, hi)
		w.addRows(shares)
		return
	}
	w.addBatch(w.reader.read(data, lo, hi), shares)
}

// addGathered is addRange for the given rows.
func (w *worker) addGathered(data records.Data, rows []int32, shares records.Shares) {
	if w.sparse() != nil && table(data.Schema()) {
		w.rows.Gather(data, rows)
		w.addRows(shares)
		return
	}
	w.addBatch(w.reader.gather(data, rows), shares)
}

// addBatch adds a batch of records. It is for dense features, and for records other than table
// rows.
func (w *worker) addBatch(b device.Batch, shares records.Shares) {
	if b.Rows == 0 {
		return
	}
	if w.sparse() == nil {
		w.addDense(b, shares)
		w.count(b.Labels, b.Index, shares)
		return
	}
	w.rows.Reset()
	for i := range b.Rows {
		for at, v := range b.Dense.Row(i) {
			w.rows.Append(at, v)
		}
		w.rows.End()
	}
	w.rows.Labels, w.rows.Index = b.Labels, append(w.rows.Index[:0], b.Index...)
	w.addRows(shares)
}

// addRows adds the rows in w.rows.
func (w *worker) addRows(shares records.Shares) {
	w.addSparse(w.sparse(), &w.rows, shares)
	w.count(w.rows.Labels, w.rows.Index, shares)
}

// count adds each row's weight to the count of its class.
func (w *worker) count(labels, index []int32, shares records.Shares) {
	if w.counts == nil {
		return
	}
	for i := range index {
		w.counts.AddShare(classOf(labels, i), shareOf(shares, index, i))
	}
}

// shareOf returns the weight of row i of a batch. A clip factor has 24 bits and a weight 20 bits,
// so their product is exact in float64.
func shareOf(shares records.Shares, index []int32, i int) float64 {
	if shares == nil {
		return 1
	}
	return shares.Of(int(index[i]))
}

func classOf(labels []int32, i int) int {
	if labels == nil {
		return 0
	}
	return int(labels[i])
}

// addSparse adds rows whose features are mostly zero, in time proportional to the number of nonzero
// features.
func (w *worker) addSparse(s rff.SparseEmbedding, z *records.Nonzeros, shares records.Shares) {
	bound, dim := s.NormBound(), s.Dim()
	for i := range z.Rows {
		in, x := z.Row(i)
		w.places, w.values = s.AppendRow(in, x, w.places[:0], w.values[:0])
		squared, last := 0.0, int32(-1)
		for k, v := range w.values {
			squared += float64(v) * float64(v)
			if w.places[k] <= last {
				squared = math.NaN() // a repeated index would make the row longer than squared says
			}
			last = w.places[k]
		}
		scale := mechanism.ClipFactor(squared, bound)
		if !(scale > 0) {
			continue
		}
		scale *= shareOf(shares, z.Index, i)
		first := classOf(z.Labels, i) * dim
		for k, at := range w.places {
			w.sums.AddRowAt(first+int(at), w.values[k:k+1], scale)
		}
	}
}

func (w *worker) addDense(b device.Batch, shares records.Shares) {
	w.makeRoom()
	f := w.features.RowRange(0, b.Rows)
	w.work.features.Transform(w.be, b, f)
	w.be.RowSquaredNorms(w.squared[:b.Rows], f)
	f = w.onHost(f)
	bound, dim := w.work.features.NormBound(), f.Cols
	for i := range b.Rows {
		if scale := mechanism.ClipFactor(w.squared[i], bound); scale > 0 {
			w.sums.AddRowAt(classOf(b.Labels, i)*dim, f.Row(i), scale*shareOf(shares, b.Index, i))
		}
	}
}

func (w *worker) makeRoom() {
	if w.features.Rows == 0 {
		w.features = w.be.New(w.size(), w.work.features.Dim())
		w.squared = make([]float64, w.size())
	}
}

func (w *worker) onHost(f device.Matrix) device.Matrix {
	if f.Mem == nil {
		return f
	}
	if len(w.host) < f.Rows*f.Cols {
		w.host = make([]float32, w.size()*f.Cols)
	}
	host := device.HostMatrix(f.Rows, f.Cols, w.host)
	w.be.Download(host.Data, f)
	return host
}

func (w *worker) merge(o *worker) {
	w.sums.Merge(o.sums)
	if w.counts != nil {
		w.counts.Merge(o.counts)
	}
}

func (w *worker) reset() {
	w.sums.Reset()
	if w.counts != nil {
		w.counts.Reset()
	}
}
