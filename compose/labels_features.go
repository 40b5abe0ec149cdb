package compose

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// featured holds the features of records, with their labels. They are private, like the records.
//
// Features are rounded to two bytes, record by record. No privacy bound depends on the features,
// since package sgd clips the contribution of every record.
type featured struct {
	of     records.Data
	schema records.Schema
	bound  float64 // of a feature
	rows   []int16
	labels []int32
}

// featuresOf computes the features of a run's records. If the run's device does not promise that a
// record's features are independent of the other records in its batch, the CPU computes the
// features. Otherwise one record could change the contributions of other records.
//
// Errors: ctx.Err().
func featuresOf(ctx context.Context, r *synth.Run, m rff.Features) (*featured, error) {
	be := r.Backend
	if device.PromisesOf(be) != (device.Promises{RowsAlone: true, SameBits: true}) {
		be = device.CPU()
	}
	s := r.Data.Schema()
	f := &featured{of: r.Data, bound: m.NormBound(), rows: make([]int16, 0, r.Data.Len()*m.Dim()),
		schema: records.Interval(m.Dim(), -m.NormBound(), m.NormBound()).WithLabels(s.ClassNames()...)}
	chunk := chunkOf(m.Dim())
	dst := be.New(chunk, m.Dim())
	host := make([]float32, chunk*m.Dim())
	err := network.EachBatch(ctx, r.Data, chunk, func(lo int, b device.Batch) {
		part := dst.RowRange(0, b.Rows)
		m.Transform(be, b, part)
		flat := host[:b.Rows*m.Dim()]
		be.Download(flat, part)
		for _, v := range flat {
			f.rows = append(f.rows, f.round(v))
		}
		f.labels = append(f.labels, b.Labels...)
	})
	return f, err
}

// chunkOf returns the number of records whose features, or class probabilities, are computed
// together. It is 512, or fewer if they would take more than 16 MiB, but at least one.
func chunkOf(features int) int { return max(min(512, 1<<22/features), 1) }

// round returns a feature in two bytes. It returns 0 for a feature that is not a number.
func (f *featured) round(v float32) int16 {
	x := float64(v) / f.bound
	if !(x > -1) && x == x {
		x = -1
	} else if x != x {
		x = 0
	}
	return int16(math.RoundToEven(min(x, 1) * math.MaxInt16))
}

// Schema returns a schema that describes the features.
func (f *featured) Schema() records.Schema { return f.schema }

// Len returns the number of records.
func (f *featured) Len() int { return len(f.labels) }

// Unit returns the unit of the records.
func (f *featured) Unit() string { return records.UnitOf(f.of) }

// Gather copies the features of some records.
func (f *featured) Gather(rows []int32, b *device.Batch) {
	f.fill(len(rows), b, func(i int) int { return int(rows[i]) })
}

// Range copies the features of records lo … hi-1.
func (f *featured) Range(lo, hi int, b *device.Batch) {
	f.fill(hi-lo, b, func(i int) int { return lo + i })
}

func (f *featured) fill(n int, b *device.Batch, row func(i int) int) {
	dim := f.schema.Dim()
	b.Rows, b.Sparse = n, nil
	data := b.Dense.Data
	if cap(data) < n*dim {
		data = make([]float32, n*dim)
	}
	b.Dense = device.HostMatrix(n, dim, data[:n*dim])
	b.Labels = b.Labels[:0]
	scale := float32(f.bound / math.MaxInt16)
	for i := range n {
		at := row(i)
		b.Labels = append(b.Labels, f.labels[at])
		to := b.Dense.Data[i*dim : (i+1)*dim]
		for j, v := range f.rows[at*dim : (at+1)*dim] {
			to[j] = float32(v) * scale
		}
	}
}

// Format prints [private] instead of features, for every verb.
func (f *featured) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "[private]") }
