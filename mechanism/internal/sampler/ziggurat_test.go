package sampler

import (
	"math/big"
	"testing"
)

const proofBits = 256

// expOf returns bounds of exp(−x²/2).
func expOf(x *big.Rat) (lo, hi *big.Float) {
	t := new(big.Rat).Mul(x, x)
	return expNeg(t.Mul(t, big.NewRat(1, 2)), proofBits)
}

func atLeast(t *testing.T, what string, i int, bigger *big.Float, smaller *big.Rat) {
	t.Helper()
	if _, s := floats(smaller, smaller, proofBits); bigger.Cmp(s) < 0 {
		t.Errorf("%s: layer %d: %v < %v", what, i, bigger, s)
	}
}

func atMost(t *testing.T, what string, i int, smaller *big.Float, bigger *big.Rat) {
	t.Helper()
	if b, _ := floats(bigger, bigger, proofBits); smaller.Cmp(b) > 0 {
		t.Errorf("%s: layer %d: %v > %v", what, i, smaller, b)
	}
}

// TestLayersCoverTheNormal proves that the sampler's distribution is exact. The layers have equal
// areas by construction, because a width is the area ÷ a height. The test proves that
//
//   - the layers are stacked without gaps,
//   - each layer is wide enough for the curve at its lower edge,
//   - the part that is accepted without evaluating the curve lies under the curve at the layer's
//     upper edge, and
//   - the bottom layer is not lower than the curve at the point where the tail begins.
func TestLayersCoverTheNormal(t *testing.T) {
	top := new(big.Int)
	for i := range layers {
		if new(big.Int).SetUint64(layerFloor[i]).Cmp(top) != 0 {
			t.Fatalf("layer %d does not begin where the layer below it ends", i)
		}
		top.Add(top, new(big.Int).SetUint64(layerHeight[i]))
		checkWidth(t, i)
		p := &abscissa{layer: uint64(i)}
		if i > 0 {
			_, hi := expOf(p.width())
			atMost(t, "the curve leaves the layer's side", i, hi, fixed62(layerFloor[i]))
		}
		ceiling := new(big.Rat).SetFrac(top, big.NewInt(1<<62))
		inner := new(big.Rat).SetFrac(new(big.Int).SetUint64(layerInner[i]), big.NewInt(1<<positionBits))
		if layerInner[i] > 0 {
			lo, _ := expOf(inner.Mul(inner, p.width()))
			atLeast(t, "accepted without evaluation but not under the curve", i, lo, ceiling)
		}
	}
	if top.Cmp(big.NewInt(1<<62)) < 0 {
		t.Error("the curve leaves the top layer")
	}
	_, hi := expOf(tailRat())
	atMost(t, "the tail's envelope begins below the curve", 0, hi, fixed62(layerHeight[0]))
	checkTailFrom(t)
}

func checkWidth(t *testing.T, i int) {
	t.Helper()
	w := (&abscissa{layer: uint64(i)}).width()
	w.Mul(w, new(big.Rat).SetInt64(1<<60))
	if got := new(big.Int).SetUint64(layerWidth[i]); floorRat(w).Cmp(got) != 0 {
		t.Errorf("layer %d: the table has width %v, want %v", i, got, floorRat(w))
	}
	// The unknown bits of the position leave room for three truncations and a remainder below 2^-53.
	if layerWidth[i] > (uncertain-4)<<positionBits {
		t.Errorf("layer %d is too wide: the fast path may lose more than uncertain, or overflow", i)
	}
}

// checkTailFrom proves that position tailFrom contains r²/(r²+1).
func checkTailFrom(t *testing.T) {
	t.Helper()
	square := new(big.Rat).Mul(tailRat(), tailRat())
	edge := new(big.Rat).Quo(square, new(big.Rat).Add(square, big.NewRat(1, 1)))
	edge.Mul(edge, new(big.Rat).SetInt64(1<<positionBits))
	if got := floorRat(edge).Int64(); got != tailFrom {
		t.Errorf("tailFrom %d, want %d", int64(tailFrom), got)
	}
	if layerInner[0] >= tailFrom {
		t.Error("the bottom layer's inner part reaches into the tail")
	}
}

// TestChordsHoldTheCurve proves the bounds that underByChord relies on.
func TestChordsHoldTheCurve(t *testing.T) {
	below, above := ratio(chordBelow), ratio(chordAbove)
	spare := ratio(0x1p-40)
	for i := chordFrom; i < layers; i++ {
		inner := new(big.Rat).SetFrac(new(big.Int).SetUint64(layerInner[i]), big.NewInt(1<<positionBits))
		span := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Mul(inner, inner))
		if span.Cmp(big.NewRat(1, 1<<8)) < 0 {
			t.Errorf("layer %d: got a span of %v, want at least 2^-8", i, span)
		}
		down, up := leavesChord(i, inner)
		if down.Add(down, spare).Cmp(below) > 0 {
			t.Errorf("layer %d: the curve is %v below its chord, want at most chordBelow", i,
				down.FloatString(6))
		}
		if up.Add(up, spare).Cmp(above) > 0 {
			t.Errorf("layer %d: the curve is %v above its chord, want at most chordAbove", i,
				up.FloatString(12))
		}
	}
}

// leavesChord bounds the distance of the curve from the line between the corners of layer i,
// downward and upward, as fractions of the layer's height. The distance is at most the distance at
// the corners. Downward it may be larger by (Δt)²/8·exp(−t) with t at the left end.
func leavesChord(i int, inner *big.Rat) (down, up *big.Rat) {
	height, right := fixed62(layerHeight[i]), (&abscissa{layer: uint64(i)}).width()
	left := new(big.Rat).Mul(inner, right)
	top := new(big.Rat).Add(fixed62(layerFloor[i]), height)
	down, up = new(big.Rat), new(big.Rat)
	for _, corner := range []struct{ x, y *big.Rat }{{left, top}, {right, fixed62(layerFloor[i])}} {
		lo, hi := expOf(corner.x)
		low, _ := lo.Rat(nil)
		high, _ := hi.Rat(nil)
		down = larger(down, low.Sub(corner.y, low))
		up = larger(up, high.Sub(high, corner.y))
	}
	// dt is 2Δt = right² − left². The curve's largest value, at the left end, is at most top + up.
	dt := new(big.Rat).Sub(new(big.Rat).Mul(right, right), new(big.Rat).Mul(left, left))
	bow := dt.Mul(dt, dt)
	bow.Quo(bow, big.NewRat(32, 1)).Mul(bow, new(big.Rat).Add(top, up))
	down.Add(down, bow)
	return down.Quo(down, height), up.Quo(up, height)
}

func larger(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}
