package merf

import (
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// listed is a feature map that returns the given features for every record, even if they exceed its
// stated bound.
type listed struct {
	rff.SparseEmbedding
	places []int32
	values []float32
}

func (l listed) AppendRow(_ []int32, _ []float32, places []int32, values []float32) ([]int32,
	[]float32) {
	return append(places, l.places...), append(values, l.values...)
}

func pairsPlan(t *testing.T) (*work, rff.SparseEmbedding) {
	t.Helper()
	schema, err := records.NewSchema(records.Flag("a", "no", "yes"), records.Flag("b", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Config{Schema: schema, Kernel: rff.Pairs{},
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := p.work.features.(rff.SparseEmbedding)
	if !ok {
		t.Fatalf("%T is not an rff.SparseEmbedding", p.work.features)
	}
	return p.work, s
}

// TestListedFeaturesAreClipped checks that listed features are clipped to the norm bound. A row
// must count as zero if its indices do not increase.
func TestListedFeaturesAreClipped(t *testing.T) {
	w, features := pairsPlan(t)
	row := &records.Nonzeros{Rows: 1, Offsets: []int{0, 0}, Index: []int32{0}}
	bound := features.NormBound()
	for name, c := range map[string]struct {
		places []int32
		values []float32
		scale  float64
	}{
		"short":      {[]int32{0, 1}, []float32{float32(bound) / 4, 0}, 1},
		"long":       {[]int32{0, 1}, []float32{3e6, 4e6}, mechanism.ClipFactor(25e12, bound)},
		"twice":      {[]int32{1, 1}, []float32{.1, .1}, 0},
		"descending": {[]int32{1, 0}, []float32{.1, .1}, 0},
	} {
		own := newWorker(w, device.CPU())
		own.addSparse(listed{features, c.places, c.values}, row, nil)
		want := mechanism.NewFixedSum(own.sums.Dim(), own.sums.Grid())
		for i, at := range c.places {
			if c.scale > 0 {
				want.AddRowAt(int(at), c.values[i:i+1], c.scale)
			}
		}
		if !reflect.DeepEqual(own.sums, want) {
			t.Errorf("%s: the sum differs from that of the clipped row", name)
		}
	}
}

// TestTotalsCountOnce checks that calling Sums again does not count records again.
func TestTotalsCountOnce(t *testing.T) {
	w, features := pairsPlan(t)
	a := w.newCounter(device.CPU())
	a.workers = append(a.workers[:1], newWorker(w, device.CPU()))
	row := &records.Nonzeros{Rows: 1, Offsets: []int{0, 0}, Index: []int32{0}}
	for _, own := range a.workers {
		own.addSparse(listed{features, []int32{0}, []float32{float32(features.NormBound()) / 2}}, row,
			nil)
	}
	copied := func() *mechanism.FixedSum {
		sum := mechanism.NewFixedSum(a.workers[0].sums.Dim(), a.workers[0].sums.Grid())
		sum.Merge(a.Sums()[0])
		return sum
	}
	once, twice := copied(), copied()
	if !reflect.DeepEqual(once, twice) {
		t.Error("a second total differs from the first")
	}
	if reflect.DeepEqual(once, mechanism.NewFixedSum(once.Dim(), once.Grid())) {
		t.Error("the total is zero: the test has no power")
	}
}
