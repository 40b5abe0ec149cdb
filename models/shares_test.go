package models

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// TestSharesAreExact: the sum of weights is exact, in any order. A weight that it cannot hold
// exactly is refused and changes nothing.
func TestSharesAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const unit = 0x1p-20
	var s shares
	want := new(big.Float).SetPrec(200)
	for i := range 500 {
		w := device.Odd(float32(math.Ldexp(rng.Float64(), rng.IntN(40)-38))) // below the clip norm
		if i%50 == 0 {
			w = 0
		}
		if !s.add(w, unit) {
			t.Fatalf("the weight %v is refused", w)
		}
		want.Add(want, new(big.Float).SetFloat64(float64(w)/unit))
	}
	got := new(big.Float).SetPrec(200).SetInt(new(big.Int).SetUint64(s.high))
	got.SetMantExp(got, 64)
	got.Add(got, new(big.Float).SetInt(new(big.Int).SetUint64(s.low)))
	if got.SetMantExp(got, -shareBits); got.Cmp(want) != 0 {
		t.Errorf("the sum is %v units, want %v", got, want)
	}
	if near, _ := want.Float64(); math.Abs(s.units()-near) > 4e-16*near {
		t.Errorf("the sum in float64 is %v, want %v", s.units(), near)
	}
	// A share has 24 digits, of which the last may be at 2⁻⁶⁴ and the first below 2²³ units.
	for w, fits := range map[float32]bool{0x1.000002p-41: true, 0x1.000002p-42: false,
		0x1.000002p22: true, 0x1.000002p23: false} {
		before := s
		if got := s.add(w, 1); got != fits || !got && s != before {
			t.Errorf("a weight of %v units fits: %v", w, got)
		}
		s = before
	}
}

// TestWeightsStayWithinTheLimit: a weight is smaller only if its terms would exceed the limit, and
// then they do not, except for the rounding of the weight.
func TestWeightsStayWithinTheLimit(t *testing.T) {
	for _, size := range []float64{0, 1, 3, 7.5, 8, math.Nextafter(8, 9), 9, 1e30} {
		w := within(0.5, size, 4)
		if fits := 0.5*size <= 4; fits != (w == 0.5) || float64(w)*size > 4*(1+0x1p-24) {
			t.Errorf("terms of the size %v have the weight %v", size, w)
		}
	}
	known := FixedForm{Terms: 2, Reach: 3}
	for _, c := range []struct{ other, want FixedForm }{{FixedForm{}, FixedForm{}},
		{FixedForm{Terms: 1, Reach: 8}, FixedForm{Terms: 2, Reach: 8}},
		{FixedForm{Terms: 5, Reach: 1}, FixedForm{Terms: 5, Reach: 3}}} {
		if a, b := known.Worst(c.other), c.other.Worst(known); a != c.want || b != c.want {
			t.Errorf("%v and %v together are %v and %v, want %v", known, c.other, a, b, c.want)
		}
	}
}

// TestRepeatedItemsHaveLongerRows: an item that a set has twice counts as 2, so its square as 4,
// wherever the items are.
func TestRepeatedItemsHaveLongerRows(t *testing.T) {
	s, want := &device.Sparse{Cols: 5, Offsets: []int{0}}, []float64(nil)
	for _, c := range []struct {
		items  []uint32
		square float64
	}{{nil, 0}, {[]uint32{3}, 1}, {[]uint32{1, 2}, 2}, {[]uint32{1, 1}, 4}, {[]uint32{2, 1}, 2},
		{[]uint32{1, 1, 2}, 5}, {[]uint32{0, 1, 1}, 5}, {[]uint32{1, 2, 1}, 5}, {[]uint32{4, 4, 4}, 9}} {
		s.Items, want = append(s.Items, c.items...), append(want, c.square)
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	got := make([]float64, len(want))
	sparseSquaredNorms(got, s)
	for i, v := range want {
		if got[i] != v {
			t.Errorf("the set %v has the squared norm %v, want %v", s.Row(i), got[i], v)
		}
	}
}
