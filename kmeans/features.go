package kmeans

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// Features maps records to the space in which distances are measured. The map must be public, for
// example drawn from a seed or trained on public data. It must treat each record separately: a row
// of dst must not depend on other rows of the batch.
//
// NormBound returns the largest norm that a row can have. It returns 0 or +Inf if no bound is
// known. Rows are clipped in any case, so a wrong bound reduces accuracy but not privacy. Rows that
// are not finite count as zero. If features have a method In() int, as those of package rff do, it
// is the width of their records, and records of another width are refused.
type Features interface {
	Dim() int
	NormBound() float64
	Transform(be device.Backend, b device.Batch, dst device.Matrix) // dst is b.Rows × Dim
}

// Raw returns features that are the encoded records themselves, for standard private k-means. Their
// norm bound is the schema's. Sparse records are converted to dense records, one batch at a time.
func Raw(s records.Schema) Features { return raw{s.Dim(), s.MaxNorm()} }

type raw struct {
	dim  int
	norm float64
}

func (r raw) In() int            { return r.dim }
func (r raw) Dim() int           { return r.dim }
func (r raw) NormBound() float64 { return r.norm }

func (r raw) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	be.Fill(dst, 0)
	if b.Sparse == nil {
		be.Axpy(1, device.Colocate(be, b.Dense, dst), dst)
		return
	}
	if dst.Mem == nil {
		scatter(b, dst)
		return
	}
	host := device.HostMatrix(b.Rows, r.dim, make([]float32, b.Rows*r.dim))
	scatter(b, host)
	be.Upload(dst, host.Data)
}

func scatter(b device.Batch, dst device.Matrix) {
	for i := range b.Rows {
		row := dst.Row(i)
		for _, item := range b.Sparse.Items[b.Sparse.Offsets[i]:b.Sparse.Offsets[i+1]] {
			row[item] = 1
		}
	}
}
