package models

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestSumsStartEmpty: a step that ended before its sum was finished, such as one whose context
// ended, adds nothing to the next step; nor does a step before that was finished.
func TestSumsStartEmpty(t *testing.T) {
	b := binaryBatch(rand.New(rand.NewPCG(3, 3)), 40, 30, .3)
	sum := func(n *rbm, finish bool) []int32 {
		out := device.NewFixed(device.CPU(), n.Params().Shapes...)
		out.Unit, out.Limit, out.Chain = 0x1p-18, 1, 1<<10
		g := n.Gradients(b).(FixedFinisher)
		weights := slices.Repeat([]float32{device.Odd(0.01)}, b.Rows)
		g.StartFixedSum()
		if g.AddFixedSum(out, weights); finish {
			g.FinishFixedSum(out)
		}
		return out.Units
	}
	n := newTestRBM(t, RBM{Hidden: 17, Chains: 6}, Visible{Dim: 30})
	want := sum(n, true)
	if unfinished := sum(n, false); slices.Equal(unfinished, want) {
		t.Fatal("the last part of a sum is 0")
	}
	if got := sum(n, true); !slices.Equal(got, want) {
		t.Errorf("the sum after an unfinished one differs: got %v, want %v", got[:5], want[:5])
	}
}

// TestDistanceBoundsCoverRounding: the distance of a statistic that is modelled exactly is bounded
// by the errors of its terms: of products in float32, and of sums in float64, which grow with the
// numbers of terms.
func TestDistanceBoundsCoverRounding(t *testing.T) {
	for _, c := range []struct {
		terms, others int
		least         float64
	}{{1, 1, 2*0x1p-24 + 2*0x1p-40}, {1, 1 << 20, 2*0x1p-24 + 2*0x1p-31},
		{1 << 20, 1, 2*0x1p-4 + 2*0x1p-31}, {1 << 23, 1, 4}} {
		if got := distanceBound(1, 1, 1, c.terms, c.others); !(got >= c.least) || got > 1.1*c.least+0.05 {
			t.Errorf("%d and %d terms: the bound is %v, want %v or little more", c.terms, c.others, got,
				c.least)
		}
	}
}

// TestFormsCountTheRowsOfARecord: a record of a critic adds a product for each of its rows to an
// element, each of which is rounded; the rows may cancel.
func TestFormsCountTheRowsOfARecord(t *testing.T) {
	made, err := MLP{Hidden: []int{4}}.Critic(device.CPU(), 3, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := greyBatch(rand.New(rand.NewPCG(1, 1)), 5, 3, 1)
	g := made.PairGradients(b, device.CPU().New(5, 3), make([]float32, 5), 10)
	rows := made.(*critic).pair.ofPair
	want := FixedForm{Terms: rows, Reach: cancelledReach}
	if got := g.(FixedGradients).FixedForm(); got != want || rows < 2 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
