package mix

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// Rows holds released mixtures. The features and the soft labels of a row are noisy sums divided by
// the degree. Rows can be exported and used for training. Coordinates may be outside the
// records' domain, and labels need not add up to 1 (see [Project]).
type Rows struct {
	dim, classes int
	features     []float32
	labels       []float32
}

// newRows returns n rows of zeros with a capacity of room rows.
func (w *work) newRows(n, room int) *Rows {
	d, k := w.config.dim(), w.config.Schema.Classes()
	return &Rows{dim: d, classes: k, features: make([]float32, n*d, room*d),
		labels: make([]float32, n*k, room*k)}
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.features) / max(r.dim, 1) }

// Dim returns the number of features.
func (r *Rows) Dim() int { return r.dim }

// Classes returns the number of label coordinates.
func (r *Rows) Classes() int { return r.classes }

// Features returns the features of row i. The slice shares memory with the rows.
func (r *Rows) Features(i int) []float32 { return r.features[i*r.dim : (i+1)*r.dim] }

// Labels returns the label coordinates of row i. The slice shares memory with the rows.
func (r *Rows) Labels(i int) []float32 { return r.labels[i*r.classes : (i+1)*r.classes] }

// Matrices returns the features and the labels of all rows. The matrices share memory with the
// rows.
func (r *Rows) Matrices() (features, labels device.Matrix) {
	return device.HostMatrix(r.Len(), r.dim, r.features),
		device.HostMatrix(r.Len(), r.classes, r.labels)
}

// class returns the index of the largest label coordinate of row i, or -1 without labels. If
// several coordinates are largest, it returns the first index.
func (r *Rows) class(i int) int {
	best := -1
	for k, v := range r.Labels(i) {
		if best < 0 || v > r.Labels(i)[best] {
			best = k
		}
	}
	return best
}

// clone returns a copy that shares no memory.
func (r *Rows) clone() *Rows {
	return &Rows{dim: r.dim, classes: r.classes, features: append([]float32(nil), r.features...),
		labels: append([]float32(nil), r.labels...)}
}

// table returns the rows as records of a schema. Features are clamped to the schema's bounds, and
// each row gets the class of its largest label coordinate.
//
// Errors: *param.Error for a schema of sets or tables, and for a schema with another dimension or
// number of classes. [Model.Schema] is a suitable schema.
func (r *Rows) table(s records.Schema) (*records.Table, error) {
	if s.Dim() != r.dim || s.Classes() != r.classes || s.Sparse() || s.Kind() == records.MixedTable {
		return nil, mistake("Rows.schema", s.String(),
			fmt.Sprintf("vectors or images with %d coordinates and %d classes, like the rows", r.dim,
				r.classes))
	}
	flat := append([]float32(nil), r.features...)
	s.Clamp(flat)
	var labels []int32
	if r.classes > 0 {
		labels = make([]int32, r.Len())
		for i := range labels {
			labels[i] = int32(r.class(i))
		}
	}
	return records.FromFlat(s, flat, labels...)
}
