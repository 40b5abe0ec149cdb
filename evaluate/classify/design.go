package classify

import (
	"errors"
	"fmt"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/judge"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// design holds all training records, dense ones scaled to [0, 1], since most classifiers read them
// many times.
type design struct {
	schema  records.Schema
	batch   device.Batch
	labels  []int32
	dim     int
	classes int

	binning sync.Once
	binned  *bins
}

// load reads labelled records for the function call.
//
// Errors: *[param.Error], joined, for records without classes or no records.
func load(call string, d records.Data) (*design, error) {
	err := judge.Given(call, d)
	if err != nil {
		return nil, err
	}
	s := d.Schema()
	if s.Classes() < 1 {
		err = param.New(call, s.String()+" without classes", "records with classes")
	}
	if d.Len() == 0 {
		err = errors.Join(err, param.New(call, "no records", "at least one record"))
	}
	if err != nil {
		return nil, err
	}
	x := &design{schema: s, dim: s.Dim(), classes: s.Classes()}
	judge.InSchema(d).Range(0, d.Len(), &x.batch)
	judge.ToUnit(s, &x.batch)
	x.labels = x.batch.Labels
	return x, nil
}

// rows returns the number of records.
func (x *design) rows() int { return x.batch.Rows }

// gather copies some records into b.
func (x *design) gather(rows []int32, b *device.Batch) {
	b.Rows, b.Labels = len(rows), b.Labels[:0]
	for _, r := range rows {
		b.Labels = append(b.Labels, x.labels[r])
	}
	if x.batch.Sparse != nil {
		b.Sparse = gatherSparse(x.batch.Sparse, rows, b.Sparse)
		return
	}
	need := len(rows) * x.dim
	data := b.Dense.Data
	if cap(data) < need {
		data = make([]float32, need)
	}
	b.Dense = device.HostMatrix(len(rows), x.dim, data[:need])
	for i, r := range rows {
		copy(b.Dense.Row(i), x.batch.Dense.Row(int(r)))
	}
}

func gatherSparse(from *device.Sparse, rows []int32, to *device.Sparse) *device.Sparse {
	if to == nil {
		to = &device.Sparse{}
	}
	to.Cols, to.Offsets, to.Items = from.Cols, append(to.Offsets[:0], 0), to.Items[:0]
	for _, r := range rows {
		to.Items = append(to.Items, from.Row(int(r))...)
		to.Offsets = append(to.Offsets, len(to.Items))
	}
	return to
}

// counts returns the number of records of each class.
func (x *design) counts() []float64 {
	n := make([]float64, x.classes)
	for _, l := range x.labels {
		n[l]++
	}
	return n
}

// atMost returns an error for records with too many coordinates for a classifier that needs dim²
// numbers.
func (x *design) atMost(dim int, name string) error {
	if x.dim <= dim {
		return nil
	}
	return param.New("classify."+name, x.schema, fmt.Sprintf("at most %d coordinates", dim))
}
