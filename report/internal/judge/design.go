package judge

import (
	"errors"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Design holds all training records, dense ones scaled to [0, 1], since most classifiers read them
// many times.
type Design struct {
	Schema  records.Schema
	Batch   device.Batch
	Labels  []int32
	Dim     int
	Classes int

	once   sync.Once
	shared any
}

// Load reads labelled records for the function call.
//
// Errors: *[param.Error], joined, for records without classes or no records.
func Load(call string, d records.Data) (*Design, error) {
	err := Given(call, d)
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
	x := &Design{Schema: s, Dim: s.Dim(), Classes: s.Classes()}
	InSchema(d).Range(0, d.Len(), &x.Batch)
	ToUnit(s, &x.Batch)
	x.Labels = x.Batch.Labels
	return x, nil
}

// Rows returns the number of records.
func (x *Design) Rows() int { return x.Batch.Rows }

// gather copies some records into b.
func (x *Design) gather(rows []int32, b *device.Batch) {
	b.Rows, b.Labels = len(rows), b.Labels[:0]
	for _, r := range rows {
		b.Labels = append(b.Labels, x.Labels[r])
	}
	if x.Batch.Sparse != nil {
		b.Sparse = gatherSparse(x.Batch.Sparse, rows, b.Sparse)
		return
	}
	need := len(rows) * x.Dim
	data := b.Dense.Data
	if cap(data) < need {
		data = make([]float32, need)
	}
	b.Dense = device.HostMatrix(len(rows), x.Dim, data[:need])
	for i, r := range rows {
		copy(b.Dense.Row(i), x.Batch.Dense.Row(int(r)))
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

// Shared returns what make returned in the first call: a form of the records that several methods
// read.
func (x *Design) Shared(make func() any) any {
	x.once.Do(func() { x.shared = make() })
	return x.shared
}

// Counts returns the number of records of each class.
func (x *Design) Counts() []float64 {
	n := make([]float64, x.Classes)
	for _, l := range x.Labels {
		n[l]++
	}
	return n
}
