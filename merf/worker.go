package merf

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// worker is one goroutine's share of a sum.
type worker struct {
	work     *work
	be       device.Backend
	reader   reader
	sums     *mechanism.FixedSum // classes × features
	counts   *mechanism.FixedSum // classes; nil where counts are not released
	features device.Matrix
	host     []float32
	squared  []float64
	places   []int32 // of the features of one record that are not zero
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

// rows returns how many records are mapped at a time: about eight megabytes of features.
func (w *worker) rows() int {
	if _, sparse := w.work.features.(rff.SparseEmbedding); sparse {
		return 1024
	}
	return min(max((1<<21)/w.work.features.Dim(), 16), 4096)
}

// add adds the features of a batch, each row held to the bound of the norm, and counts its records.
// Of persons each row counts for its share, so that what a person adds is a mean of what records
// may add: see records.RowsOf.
func (w *worker) add(b device.Batch, shares records.Shares) {
	if b.Rows == 0 {
		return
	}
	if s, ok := w.work.features.(rff.SparseEmbedding); ok && b.Sparse == nil {
		w.addSparse(s, b, shares)
	} else {
		w.addDense(b, shares)
	}
	if w.counts == nil {
		return
	}
	for i := range b.Rows {
		w.counts.AddShare(classOf(b, i), shareOf(shares, b, i))
	}
}

// shareOf is what a row of a batch counts. A clip factor has 24 bits and a share 20, so that their
// product is exact.
func shareOf(shares records.Shares, b device.Batch, i int) float64 {
	if shares == nil {
		return 1
	}
	return shares.Of(int(b.Index[i]))
}

func classOf(b device.Batch, i int) int {
	if b.Labels == nil {
		return 0
	}
	return int(b.Labels[i])
}

// addSparse adds rows of mostly zero features, in time proportional to the nonzero ones.
func (w *worker) addSparse(s rff.SparseEmbedding, b device.Batch, shares records.Shares) {
	bound, dim := s.NormBound(), s.Dim()
	for i := range b.Rows {
		w.places, w.values = s.AppendRow(b.Dense.Row(i), w.places[:0], w.values[:0])
		squared, last := 0.0, int32(-1)
		for k, v := range w.values {
			squared += float64(v) * float64(v)
			if w.places[k] <= last {
				squared = math.NaN() // an index listed twice would count more than the norm bounds
			}
			last = w.places[k]
		}
		scale := mechanism.ClipFactor(squared, bound)
		if !(scale > 0) {
			continue
		}
		scale *= shareOf(shares, b, i)
		first := classOf(b, i) * dim
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
			w.sums.AddRowAt(classOf(b, i)*dim, f.Row(i), scale*shareOf(shares, b, i))
		}
	}
}

func (w *worker) makeRoom() {
	if w.features.Rows == 0 {
		w.features = w.be.New(w.rows(), w.work.features.Dim())
		w.squared = make([]float64, w.rows())
	}
}

func (w *worker) onHost(f device.Matrix) device.Matrix {
	if f.Mem == nil {
		return f
	}
	if len(w.host) < f.Rows*f.Cols {
		w.host = make([]float32, w.rows()*f.Cols)
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
