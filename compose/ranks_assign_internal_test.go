package compose

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// lowAndHigh is a mixture of two clusters, of ranks below and above the middle.
type lowAndHigh struct{ synth.Model }

func (lowAndHigh) Clusters() int      { return 2 }
func (lowAndHigh) Weights() []float64 { return []float64{0.5, 0.5} }
func (lowAndHigh) Assign(b device.Batch, dst []int32) {
	for i := range b.Rows {
		dst[i] = 0
		if b.Dense.Row(i)[0] > 0.5 {
			dst[i] = 1
		}
	}
}

// TestAssignComparesRanks checks that numbers are replaced by ranks before the other system's
// model assigns them to a cluster, and that the caller's batch stays as it is. Nine of ten numbers
// lie in the lowest cell, so most numbers have high ranks at a small value.
func TestAssignComparesRanks(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 1)))(t)
	attributes := attributesOf(s, 20)
	parts := make([]float64, attributes[0].Codes)
	parts[1], parts[20] = 0.9, 0.1
	m := &model{kind: ranksKind(), of: []synth.Model{lowAndHigh{}}, released: &rankedRelease{
		numbers: s, columns: columnsOf(attributes, [][]float64{parts})}}
	flat := []float32{0.01, 0.02, 0.045, 0.99}
	b := device.Batch{Rows: 4, Dense: device.HostMatrix(4, 1, append([]float32{}, flat...))}
	got := make([]int32, 4)
	synth.NewGenerator("ranks", m, ledger.Guarantee{}).Assign(b, got)
	for i, want := range []int32{0, 0, 1, 1} {
		if got[i] != want {
			t.Errorf("%v is in cluster %d, want %d", flat[i], got[i], want)
		}
		if b.Dense.Row(i)[0] != flat[i] {
			t.Errorf("the caller's %v became %v", flat[i], b.Dense.Row(i)[0])
		}
	}
}
