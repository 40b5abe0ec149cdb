package kmeans

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Model is the released result of a fit: centres in feature space and noisy counts. It contains
// nothing else, so saving, sharing and using it costs no privacy.
type Model struct {
	Centers [][]float32 `json:"centers"` // centres × features
	// Counts are the noisy sizes of the clusters. They may be negative or fractional.
	Counts []float64 `json:"counts"`
	// Groups has the cluster of each centre if there are more centres than clusters
	// ([Config].Centers). It is nil if each centre is a cluster.
	Groups   []int   `json:"groups,omitempty"`
	ClipNorm float64 `json:"clip_norm"` // norm to which features are clipped
}

// ErrModel is returned for a model that no fit can have released.
var ErrModel = errors.New("kmeans: malformed model")

func newModel(centers [][]float64, counts []float64, clip float64) *Model {
	m := &Model{Counts: counts, ClipNorm: clip}
	for _, c := range centers {
		row := make([]float32, len(c))
		for j, v := range c {
			row[j] = float32(v)
		}
		m.Centers = append(m.Centers, row)
	}
	return m
}

// Weights returns the estimated proportions of the clusters. Negative counts are set to zero, and
// the counts are divided by their sum. If the sum is zero, all weights are equal.
func (m *Model) Weights() []float64 {
	if m == nil {
		return nil
	}
	w := make([]float64, len(m.Counts))
	total := 0.0
	for i, c := range m.Counts {
		w[i] = max(c, 0)
		total += w[i]
	}
	for i := range w {
		if total > 0 {
			w[i] /= total
		} else {
			w[i] = 1 / float64(len(w))
		}
	}
	return w
}

// Assign sets dst to the cluster of each record of the batch, which is the cluster of the nearest
// centre, as in the fit. It does not change the model and may be called concurrently.
//
// Shapes: dst has b.Rows entries.
//
// The assignment of private records is private. Assigning public or generated records costs no
// privacy.
func (m *Model) Assign(be device.Backend, f Features, b device.Batch, dst []int32) {
	if b.Rows == 0 {
		return
	}
	rows := max(min(b.Rows, maxRows, max(partBytes/(4*f.Dim()), minRows)), 1)
	near := newNearest(be, len(m.Centers), f.Dim(), rows)
	near.set(m.centers64())
	features, norms, factors := be.New(rows, f.Dim()), make([]float64, rows), make([]float32, rows)
	for lo := 0; lo < b.Rows; lo += rows {
		hi := min(lo+rows, b.Rows)
		part, squared := features.RowRange(0, hi-lo), norms[:hi-lo]
		f.Transform(be, b.Slice(lo, hi), part)
		be.RowSquaredNorms(squared, part)
		clipRows(be, part, m.ClipNorm, squared, factors)
		near.assign(part, dst[lo:hi])
		if m.Groups != nil {
			for i := lo; i < hi; i++ {
				dst[i] = int32(m.Groups[dst[i]])
			}
		}
	}
}

func (m *Model) centers64() [][]float64 {
	c := make([][]float64, len(m.Centers))
	for i, row := range m.Centers {
		c[i] = make([]float64, len(row))
		for j, v := range row {
			c[i][j] = float64(v)
		}
	}
	return c
}

// Validate checks the shape and the numbers of a model, for example of one read from a file.
//
// Errors: [ErrModel].
func (m *Model) Validate() error {
	if m == nil {
		m = &Model{}
	}
	if len(m.Centers) == 0 || len(m.Counts) == 0 || !mechanism.IsClipNorm(m.ClipNorm) || !m.grouped() {
		return fmt.Errorf("%w: %d centres, %d groups, %d counts, clip norm %v", ErrModel,
			len(m.Centers), len(m.Groups), len(m.Counts), m.ClipNorm)
	}
	for i, c := range m.Centers {
		if len(c) == 0 || len(c) != len(m.Centers[0]) || !finite(c) {
			return fmt.Errorf("%w: centre %d: want %d finite coordinates, and at least one", ErrModel, i,
				len(m.Centers[0]))
		}
	}
	for i, n := range m.Counts {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("%w: count %d: want a finite number", ErrModel, i)
		}
	}
	return nil
}

// grouped reports whether every centre belongs to a cluster.
func (m *Model) grouped() bool {
	if m.Groups == nil {
		return len(m.Counts) == len(m.Centers)
	}
	for _, g := range m.Groups {
		if g < 0 || g >= len(m.Counts) {
			return false
		}
	}
	return len(m.Groups) == len(m.Centers)
}

// UnmarshalJSON reads and validates a model.
//
// Errors: [ErrModel].
func (m *Model) UnmarshalJSON(data []byte) error {
	type plain Model
	var p plain
	if err := param.Decode(data, &p); err != nil {
		return fmt.Errorf("%w: %v", ErrModel, err)
	}
	read := Model(p)
	if err := read.Validate(); err != nil {
		return err
	}
	*m = read
	return nil
}
