package models

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestGenerateForgetsItsCodes: a decoder may be used as a public encoder, whose codes are private
// records. Between two calls, its scratch memory must not hold anything computed from these
// records.
func TestGenerateForgetsItsCodes(t *testing.T) {
	be := device.CPUWith(1)
	for name, a := range map[string]GeneratorArchitecture{"dense": MLP{Hidden: []int{5}},
		"images": ConvDecoder{Height: 4, Width: 4, Channels: 1, Maps: []int{3}, Size: 3}} {
		var heads []Head
		if name == "dense" {
			heads = []Head{{Width: 3, Out: SigmoidHead}}
		}
		net, err := a.NewGenerator(be, 4, heads, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		codes, dst := be.New(7, 4), be.New(7, net.Dim())
		be.Fill(codes, 0.7)
		n := net.(*decoder)
		var w *tape
		for range 1000 { // a pool may drop values
			n.Generate(codes, dst)
			if w, _ = n.pool.Get().(*tape); w != nil {
				break
			}
		}
		if w == nil {
			t.Fatal("the pool never returned a pass: nothing can be tested")
		}
		if !w.x.dense.Empty() || w.capacity == 0 {
			t.Errorf("%s: the pass still holds the codes", name)
		}
		for l, m := range append(w.outBuf, w.flat) {
			for _, v := range m.Data {
				if v != 0 {
					t.Fatalf("%s: scratch matrix %d holds %v, want zeros", name, l, v)
				}
			}
		}
	}
}
