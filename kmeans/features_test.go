package kmeans_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/records"
)

// wildRows is a user-defined type of records with arbitrary numbers.
type wildRows struct {
	schema records.Schema
	flat   []float32
}

func (d wildRows) Schema() records.Schema { return d.schema }
func (d wildRows) Len() int               { return len(d.flat) / d.schema.Dim() }

func (d wildRows) Gather(rows []int32, b *device.Batch) { d.Range(0, len(rows), b) }

func (d wildRows) Range(lo, hi int, b *device.Batch) {
	dim := d.schema.Dim()
	*b = device.Batch{Rows: hi - lo, Dense: device.HostMatrix(hi-lo, dim, d.flat[lo*dim:hi*dim])}
	for i := lo; i < hi; i++ {
		b.Index, b.Labels = append(b.Index, int32(i)), append(b.Labels, 0)
	}
}

// TestNormBoundOfTables checks the norm bound of Raw for tables, which is the square root of the
// number of blocks. No row may exceed it, even with extreme values and user-defined records, and at
// least one row must attain it.
func TestNormBoundOfTables(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", -1, 3).WithMissing(), records.Integer("n", 0, 4),
		records.Numeric("pay", 0, 1e5).Logarithmic(), records.Label("y", "a", "b"),
		records.Ordinal("size", "s", "m", "l").WithMissing(), records.Flag("old", "no", "yes"),
		records.Categorical("colour", "red", "green", "blue").WithMissing()))(t)
	frame := must(records.FromValues(s,
		[]any{3, 4, 1e5, "a", "l", "yes", "red"},
		[]any{nil, 4, 1e30, "b", nil, "yes", nil},
		[]any{math.NaN(), math.Inf(1), math.Inf(1), "none", "none", "none", "none"},
		[]any{math.Inf(-1), math.NaN(), -5, "a", "s", "no", "blue"}))(t)
	rng := rand.New(rand.NewPCG(4, 4))
	wild := wildRows{schema: s, flat: make([]float32, 500*s.Dim())}
	odd := []float32{0, 1, 1, 1, 0.7, 2, -3, 1e30, float32(math.NaN()), float32(math.Inf(1))}
	for i := range wild.flat {
		wild.flat[i] = odd[rng.IntN(len(odd))]
	}
	f := kmeans.Raw(s)
	if want := math.Sqrt(float64(len(s.Blocks()))); math.Abs(f.NormBound()-want) > 1e-12 {
		t.Errorf("norm bound %v, want √%d", f.NormBound(), len(s.Blocks()))
	}
	for _, data := range []records.Data{frame, records.Clamped(wild)} {
		longest := 0.0
		for _, squared := range squaredNorms(f, data) {
			longest = max(longest, squared)
		}
		if bound := f.NormBound(); !(longest <= bound*bound) || longest < bound*bound*(1-1e-6) {
			t.Errorf("%T: the longest row has squared norm %v, want %v²", data, longest, bound)
		}
	}
}

func squaredNorms(f kmeans.Features, data records.Data) []float64 {
	var b device.Batch
	data.Range(0, data.Len(), &b)
	rows := device.CPU().New(b.Rows, f.Dim())
	f.Transform(device.CPU(), b, rows)
	out := make([]float64, b.Rows)
	for i := range out {
		for _, v := range rows.Row(i) {
			out[i] += float64(v) * float64(v)
		}
	}
	return out
}
