package sampler

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// Normal draws ideal Gaussian noise rounded to the nearest grid point, as whole grid steps.
//
// The sampler is Marsaglia and Tsang's ziggurat (2000) with three changes that make its
// distribution exact:
//
//   - The layers have exactly equal areas, because their edges are fixed-point numbers and the
//     curve only has to lie inside them.
//   - The tail is covered by an exponential whose area is a rational number.
//   - A position is not a float but an interval of real numbers. If the interval does not settle a
//     decision (under the curve or not, this grid cell or the next), further bits are drawn and the
//     decision is made in exact arithmetic.
//
// For 99.4 % of the draws no normal density is evaluated. Exact arithmetic is needed for about one
// draw in 10^7.
type Normal struct {
	layers [layers]scaledLayer
	half   uint64 // half a grid step
	mask   uint64 // mask of the fraction of a step
	edge   uint64 // from this fraction on the cell is uncertain
	shift  uint
	coarse coarse
	std    float64 // in grid steps; exact
}

type scaledLayer struct {
	width uint64 // in grid steps, in 2^-shift, rounded down
	inner uint64 // layerInner as a bound on whole words
}

// uncertain bounds the errors of the truncations in the fast path, in units of 2^-shift steps.
// Three errors are one unit each: of the layer's tabulated width, of its product with std, and of
// the product with the position. The unknown bits of the position add 2^-54 of the width. The width
// is far enough below 2^63 to leave room for the three units (see TestLayersCoverTheNormal).
const uncertain = 1 << 9

// coarse holds the numbers with which vector code decides words: the sampler's fixed-point numbers
// without their last 11 bits. So positions and widths have 52 bits, and processors can multiply
// eight of them at a time.
//
// For a position p (a word without its last 10 bits) and a width w, the fast path computes
// low = ⌊p·w·2^-64⌋ + half. The coarse path computes
//
//	rough = ⌊⌊p·2^-12⌋·⌊w·2^-11⌋·2^-52⌋ + half·2^-11.
//
// With p = 2^12·p' + a, a < 2^12, and w = 2^11·w' + b, b < 2^11, the two products differ by
// (2^12·p'·b + a·w)·2^-64. This is less than 2^11 + 2^11, because p < 2^64 and w < 2^63. The outer
// rounding of rough adds less than 2^11. So
//
//	0 ≤ low − 2^11·rough < 2^13.
//
// If rough's fraction of a step is below (edge − 2^13)·2^-11, low's fraction is therefore below
// edge, and no whole step lies between the two. Then the fast path also decides, and for the same
// step. In all other cases the coarse path decides nothing.
type coarse struct{ half, mask, edge, shift uint64 }

const (
	coarseBits  = 11
	coarseError = 1 << 13
	coarseLeast = 20 // with a smaller shift the coarse path would rarely decide
)

func (l *Normal) coarsen() coarse {
	if l.shift < coarseLeast {
		return coarse{}
	}
	return coarse{
		half:  l.half >> coarseBits,
		mask:  l.mask >> coarseBits,
		edge:  (l.edge - coarseError) >> coarseBits,
		shift: uint64(l.shift) - coarseBits,
	}
}

// NewNormal prepares noise of a standard deviation of std grid steps.
//
// Errors: a std outside [1, 2^45].
func NewNormal(std float64) (*Normal, error) {
	if !(std >= 1) || std > 0x1p45 {
		return nil, fmt.Errorf("noise of standard deviation %v grid steps: must be 1 to 2^45", std)
	}
	l := &Normal{std: std}
	m, e := math.Frexp(std)
	mantissa := uint64(m * 0x1p53)
	for i, w := range &layerWidth {
		// w·2^-60 · mantissa·2^(e-53), in units of 2^-(60-e).
		hi, lo := bits.Mul64(w, mantissa)
		l.layers[i] = scaledLayer{hi<<11 | lo>>53, layerInner[i] << (layerBits + 1)}
	}
	l.shift = uint(60 - e)
	l.half = 1 << (l.shift - 1)
	l.mask = 1<<l.shift - 1
	l.edge = 1<<l.shift - uncertain
	l.coarse = l.coarsen()
	return l, nil
}

// Describe describes the sampler to a device.
func (l *Normal) Describe(c *chunked.Chunks) {
	c.Half, c.Mask, c.Edge, c.Shift, c.Std = l.half, l.mask, l.edge, uint64(l.shift), l.std
	for i, s := range &l.layers {
		c.Layers = append(c.Layers, s.width, layerInner[i], layerWidth[i], layerFloor[i], layerHeight[i])
	}
}

// split returns the layer (9 bits) and the position (54 bits) of a word. The remaining bit is the
// sign.
func split(word uint64) (layer, position uint64) {
	return word & (layers - 1), word >> (layerBits + 1)
}

// belowPosition is the mask of the bits of a word that hold the layer and the sign.
const belowPosition = 1<<(layerBits+1) - 1

func signed(magnitude int64, word uint64) int64 {
	s := -int64(word >> layerBits & 1)
	return (magnitude ^ s) - s
}

// fast returns the draw that a word decides, if the word alone decides it.
func (l *Normal) fast(word uint64) (steps int64, decided bool) {
	s := &l.layers[word&(layers-1)]
	low, _ := bits.Mul64(word&^belowPosition, s.width)
	low += l.half
	return signed(int64(low>>l.shift), word), word < s.inner && low&l.mask < l.edge
}

// Draw returns one draw from a stream.
func (l *Normal) Draw(src entropy.Bits) int64 {
	word := src.Uint64()
	if k, ok := l.fast(word); ok {
		return k
	}
	return l.Rare(word, src)
}

// Rare finishes the draw that began with word.
func (l *Normal) Rare(word uint64, src entropy.Bits) int64 {
	for {
		if k, ok := l.try(word, src); ok {
			return signed(k, word)
		}
		word = src.Uint64()
		if k, ok := l.fast(word); ok {
			return k
		}
	}
}

// try makes one attempt of the rejection sampler.
func (l *Normal) try(word uint64, src entropy.Bits) (steps int64, ok bool) {
	layer, position := split(word)
	switch {
	case position < layerInner[layer]:
		return l.round(layer, position, src), true
	case layer == 0 && position > tailFrom:
		return l.tail(src)
	case layer == 0 && position == tailFrom:
		at := newAbscissa(layer, position, src)
		if at.inTail() {
			return l.tail(src)
		}
		return l.wedge(at, src.Uint64())
	}
	height := src.Uint64()
	under, decided := underCurve(layer, position, height)
	switch {
	case !decided:
		return l.wedge(newAbscissa(layer, position, src), height)
	case under:
		return l.round(layer, position, src), true
	}
	return 0, false
}

// round rounds a position to the grid.
func (l *Normal) round(layer, position uint64, src entropy.Bits) int64 {
	low, _ := bits.Mul64(position<<(layerBits+1), l.layers[layer].width)
	low += l.half
	if low&l.mask < l.edge {
		return int64(low >> l.shift)
	}
	return l.cell(newAbscissa(layer, position, src))
}

// wedge decides exactly whether a position is under the curve, and rounds it.
func (l *Normal) wedge(at *abscissa, height uint64) (steps int64, ok bool) {
	if !at.underCurveExact(newDigits(height, 64, at.x.bits)) {
		return 0, false
	}
	return l.cell(at), true
}

// cell rounds a position to the grid exactly.
func (l *Normal) cell(at *abscissa) int64 {
	slope := new(big.Rat).Mul(at.width(), ratio(l.std))
	return floorAffine(slope, big.NewRat(1, 2), at.x)
}

// tail tries one draw beyond r = tailStart: r + e/r for an exponential e, kept with probability
// f(r + e/r) ÷ (h·exp(−e)).
func (l *Normal) tail(src entropy.Bits) (steps int64, ok bool) {
	e := newExponential(src)
	if !underTail(&e, src) {
		return 0, false
	}
	k := e.floorAffine(l.std/tailFloat, l.std*tailFloat+0.5, func() (slope, offset *big.Rat) {
		slope = new(big.Rat).Quo(ratio(l.std), tailRat())
		offset = new(big.Rat).Mul(ratio(l.std), tailRat())
		return slope, offset.Add(offset, big.NewRat(1, 2))
	}, src)
	return min(k, MaxSteps), true
}

// fastRun turns leading words into steps until a single word does not decide a step, and returns
// the number of steps. It repeats the code of Normal.fast, because at 200 million draws a second
// there is no time for calls or spilled registers. Vector kernels are faster and decide in the same
// way.
func (l *Normal) fastRun(dst []float64, words []uint64) int {
	shift, half, mask, edge := l.shift&63, l.half, l.mask, l.edge
	words = words[:len(dst)]
	for i, word := range words {
		s := &l.layers[word&(layers-1)]
		low, _ := bits.Mul64(word&^belowPosition, s.width)
		low += half
		if word >= s.inner || low&mask >= edge {
			return i
		}
		sign := int64(word<<(positionBits)) >> 63
		dst[i] = float64((int64(low>>shift) ^ sign) - sign)
	}
	return len(dst)
}
