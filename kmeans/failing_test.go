package kmeans_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// ends is data whose rows cannot be read: every read panics.
type ends struct{ records.Data }

func (ends) Gather([]int32, *device.Batch) { panic("7") }
func (ends) Range(int, int, *device.Batch) { panic("7") }

// TestDataThatFailEndTheFit checks that Fit returns records.ErrData if reading the data panics.
func TestDataThatFailEndTheFit(t *testing.T) {
	s := records.Interval(2, 0, 1)
	data := must(records.FromFlat(s, make([]float32, 40)))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 5}
	if _, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(s), data,
		ledger.New(budget)); err != nil {
		t.Fatal(err)
	}
	l := ledger.New(budget)
	m, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(s), ends{data}, l)
	if m != nil || !errors.Is(err, records.ErrData) {
		t.Errorf("got a model: %v, error %v; want no model and ErrData", m != nil, err)
	}
}
