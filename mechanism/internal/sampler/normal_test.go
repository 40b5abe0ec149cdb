package sampler

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

func fixedBits(seed uint64) *rand.PCG { return rand.NewPCG(seed, 1) }

// fork gives the same words to two readers.
type fork struct {
	words []uint64
	from  entropy.Bits
}

type reader struct {
	f    *fork
	next int
}

func (r *reader) Uint64() uint64 {
	for r.next >= len(r.f.words) {
		r.f.words = append(r.f.words, r.f.from.Uint64())
	}
	r.next++
	return r.f.words[r.next-1]
}

// exactDraw makes every decision of Draw in interval arithmetic.
func exactDraw(l *Normal, src entropy.Bits) int64 {
	for {
		word := src.Uint64()
		layer, position := split(word)
		at := newAbscissa(layer, position, src)
		if layer == 0 && at.inTail() {
			e := newExponential(src)
			if !underTailExact(&e, newDigits(src.Uint64(), 64, src)) {
				continue
			}
			r, s := tailRat(), ratio(l.std)
			slope, offset := ratio(0), ratio(0.5)
			slope.Quo(s, r)
			offset.Add(offset, s.Mul(s, r))
			return signed(e.floorAffineExact(slope, offset, src), word)
		}
		if position < layerInner[layer] || at.underCurveExact(newDigits(src.Uint64(), 64, src)) {
			return signed(l.cell(at), word)
		}
	}
}

// TestFastPathDecidesNothingItself: draws in machine arithmetic agree with draws from the same bits
// in interval arithmetic.
func TestFastPathDecidesNothingItself(t *testing.T) {
	for _, std := range []float64{1, 1.7, 300, 0x1p24 * 1.37, 0x1p30, 0x1p45 * 0.99} {
		l, err := NewNormal(std)
		if err != nil {
			t.Fatal(err)
		}
		f := &fork{from: fixedBits(7)}
		a, b := &reader{f: f}, &reader{f: f}
		for i := range 5000 {
			if x, y := l.Draw(a), exactDraw(l, b); x != y || a.next != b.next {
				t.Fatalf("std %v, draw %d: got %d, want %d", std, i, x, y)
			}
		}
	}
}

// TestRareDrawsAgree: draws in machine arithmetic agree with draws in interval arithmetic. The test
// draws wedges, tails and positions next to the edges of cells, because machine arithmetic decides
// these least often.
func TestRareDrawsAgree(t *testing.T) {
	l, err := NewNormal(0x1p20 * 1.1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(fixedBits(8))
	for i := range 5000 {
		layer := rng.Uint64N(layers)
		position := layerInner[layer] + rng.Uint64N(1<<positionBits-layerInner[layer])
		if i%4 == 0 {
			layer, position = 0, tailFrom-2+rng.Uint64N(5)
		}
		if i%4 == 1 {
			layer, position = 0, tailFrom+rng.Uint64N(1<<positionBits-tailFrom)
		}
		word := layer | rng.Uint64()&layers | position<<(layerBits+1)
		f := &fork{from: fixedBits(uint64(i)), words: []uint64{word}}
		a, b := &reader{f: f}, &reader{f: f}
		if x, y := l.Draw(a), exactDraw(l, b); x != y || a.next != b.next {
			t.Fatalf("layer %d position %d: got %d, want %d", layer, position, x, y)
		}
	}
}

// chiSquare compares draws of a sampler with the normal distribution of standard deviation std. It
// returns by how many standard deviations chi-square is too large.
func chiSquare(l *Normal, src entropy.Bits, n int, std float64) float64 {
	const cells = 64
	var counts [cells]float64
	for range n {
		u := 0.5 * math.Erfc(-float64(l.Draw(src))/(std*math.Sqrt2))
		counts[min(int(u*cells), cells-1)]++
	}
	expect, sum := float64(n)/cells, 0.0
	for _, c := range counts {
		sum += (c - expect) * (c - expect) / expect
	}
	// The cube root is nearly normal (Wilson and Hilferty 1931).
	const df = cells - 1
	return (math.Cbrt(sum/df) - (1 - 2.0/(9*df))) / math.Sqrt(2.0/(9*df))
}

// TestNormalIsNormal compares draws with the normal distribution. Each comparison fails by chance
// with probability 1e-9: the limit is six standard deviations.
func TestNormalIsNormal(t *testing.T) {
	source, err := entropy.New()
	if err != nil {
		t.Fatal(err)
	}
	src := source.Stream(entropy.Noise, 1, 0)
	const std = 0x1p20
	l, err := NewNormal(std)
	if err != nil {
		t.Fatal(err)
	}
	if z := chiSquare(l, src, 1<<20, std); z > 6 {
		t.Errorf("the draws deviate by %.1f sigma from the normal distribution, want at most 6", z)
	}
	for _, wrong := range []float64{0.7, 1.3} {
		if z := chiSquare(l, src, 1<<14, std*wrong); z < 6 {
			t.Errorf("a scale multiplied by %v is not detected: %.1f sigma, want 6 or more", wrong, z)
		}
	}
}
