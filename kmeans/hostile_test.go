package kmeans_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestCentresThatNoMemoryHolds checks that centres too large for memory are refused before anything
// is spent.
func TestCentresThatNoMemoryHolds(t *testing.T) {
	s := records.Binary(1000)
	data := must(records.FromFlat(s, make([]float32, 2000)))(t)
	l := ledger.New(accountant.Budget{Epsilon: 50, Delta: 1e-5})
	var wrong *param.Error
	cfg := kmeans.Config{K: 1 << 20, Iterations: 1, NoiseMultiplier: 1}
	if _, err := kmeans.Fit(context.Background(), cfg, kmeans.Raw(s), data, l); !errors.As(err,
		&wrong) || len(l.Entries()) > 0 {
		t.Errorf("got error %v and %d ledger entries, want *param.Error and none", err,
			len(l.Entries()))
	}
}

// beyond is a user-defined type of sets with items that the schema does not have.
type beyond struct{}

func (d beyond) Schema() records.Schema { return records.Sets(4, 2) }
func (d beyond) Len() int               { return 3 }

func (d beyond) Gather(rows []int32, b *device.Batch) { d.Range(0, len(rows), b) }

func (d beyond) Range(lo, hi int, b *device.Batch) {
	*b = device.Batch{Rows: hi - lo, Sparse: &device.Sparse{Cols: 4, Offsets: []int{0}}}
	for i := lo; i < hi; i++ {
		b.Sparse.Items = append(b.Sparse.Items, uint32(i), 99)
		b.Sparse.Offsets = append(b.Sparse.Offsets, len(b.Sparse.Items))
		b.Index = append(b.Index, int32(i))
	}
}

// TestUserDefinedPublicRecords checks that a fit does not fail on invalid public records of a
// user-defined type. They are clamped to their schema, like private records.
func TestUserDefinedPublicRecords(t *testing.T) {
	cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 1,
		Init: kmeans.Public(records.DeclarePublic(beyond{}))}
	private := must(records.FromItems(records.Sets(4, 2), [][]uint32{{0}, {1}}))(t)
	l := ledger.New(accountant.Budget{Epsilon: 50, Delta: 1e-5})
	if _, err := kmeans.Fit(context.Background(), cfg, kmeans.Raw(private.Schema()), private,
		l); err != nil {
		t.Error(err)
	}
}
