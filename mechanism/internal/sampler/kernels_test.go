package sampler

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// hardSums returns coordinates at which rounding, limits and formats change.
func hardSums(grid float64) []float32 {
	hard := []float32{0, 1, math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127,
		0x1.fffffep127,
		float32(math.Inf(1))}
	for _, nan := range []uint32{0x7fc00001, 0x7f800001, 0x7fffffff} {
		hard = append(hard, math.Float32frombits(nan))
	}
	for _, steps := range []float64{0.5, 1.5, 2.5, 0x1p22 + 0.5, 0x1p23, MaxSteps / 2, MaxSteps,
		MaxSteps * 2} {
		x := float32(steps * grid)
		hard = append(hard, x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32))
	}
	for _, x := range slices.Clone(hard) {
		hard = append(hard, float32(math.Copysign(float64(x), -1)),
			math.Float32frombits(math.Float32bits(x)|1<<31))
	}
	return hard
}

// checkAddSum compares every implementation of AddSum with the portable one, bit by bit.
func checkAddSum(t *testing.T, noise []float64, sum []float32, grid float64) {
	t.Helper()
	want := slices.Clone(noise)
	addSum(want, sum, 1/grid, grid)
	for _, k := range Available() {
		// Memory next to the operands must not be written.
		room := make([]float64, len(noise)+2)
		got := room[1 : 1+len(noise)]
		copy(got, noise)
		k.AddSum(got, sum, 1/grid, grid)
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("%s: number %d of %d, sum %x, noise %v, grid %v: got %x, want %x",
					k.Name, i, len(sum), math.Float32bits(sum[i]), noise[i], grid, got[i], want[i])
			}
		}
		if room[0] != 0 || room[len(room)-1] != 0 {
			t.Fatalf("%s: length %d: memory next to the operands was written to", k.Name, len(noise))
		}
	}
}

var testGrids = []float64{
	1, 0x1p-24, 0x1p-27, 0x1p10, 0x1p-77, 0x1p-149, 0x1p-180, 0x1p-200, 0x1p-201,
	0x1p76, 0x1p77, 0x1p127, 0x1p-1022, 0x1p-1074, 0x1p1023,
}

func TestAddSumSameBits(t *testing.T) {
	rng := rand.New(fixedBits(21))
	for _, grid := range testGrids {
		hard := hardSums(grid)
		noise := make([]float64, len(hard))
		for i := range noise {
			noise[i] = []float64{0, 1, -1, MaxSteps, -MaxSteps,
				float64(rng.Int64N(1<<30) - 1<<29)}[rng.IntN(6)]
		}
		for lo := range 17 {
			for n := range len(hard) - lo + 1 {
				checkAddSum(t, noise[lo:lo+n], hard[lo:lo+n], grid)
			}
		}
	}
}

func TestAddSumSameBitsAnyPatterns(t *testing.T) {
	rng := rand.New(fixedBits(22))
	sum, noise := make([]float32, 4096+3), make([]float64, 4096+3)
	for round := range 5 * len(testGrids) {
		for i := range sum {
			sum[i] = math.Float32frombits(rng.Uint32())
			noise[i] = float64(rng.Int64N(1<<(2+rng.IntN(50))) - 1<<(rng.IntN(50)))
		}
		checkAddSum(t, noise, sum, testGrids[round%len(testGrids)])
	}
}

func FuzzAddSum(f *testing.F) {
	f.Add([]byte{0, 0, 0xc0, 0x7f, 1, 2, 3, 4}, uint64(1), -24)
	f.Add([]byte("some sums of four bytes each, and an odd number"), uint64(2), 80)
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64, exponent int) {
		sum := make([]float32, len(raw)/4)
		noise := make([]float64, len(sum))
		rng := rand.New(fixedBits(seed))
		for i := range sum {
			sum[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			noise[i] = float64(int64(rng.Uint64()) >> (12 + rng.IntN(52)))
		}
		checkAddSum(t, noise, sum, math.Ldexp(1, max(-1074, min(exponent, 1023))))
	})
}

// stepSizes are standard deviations that leave between 59 and 14 bits for the fraction of a step.
var stepSizes = []float64{
	1, 1.7, 300, 0x1p24 * 1.0001, 0x1p24 * 1.37, 0x1p25 * 1.99, 0x1p33, 0x1p38,
	0x1p39 * 0.99, 0x1p39, 0x1p39 * 1.5, 0x1p40, 0x1p45 * 0.99,
}

// checkSteps runs every implementation on the same words, and continues after each word at which
// the implementation stops. Its steps and stops must equal the steps and stops of the portable
// implementation.
func checkSteps(t *testing.T, l *Normal, words []uint64) {
	t.Helper()
	want, got := make([]float64, len(words)), make([]float64, len(words))
	for _, k := range Available()[1:] {
		for lo := 0; lo < len(words); {
			n := l.fastRun(want[lo:], words[lo:])
			if m := k.Steps(l, got[lo:], words[lo:]); m != n {
				t.Fatalf("%s, std %v: got %d decided words, want %d: word %x", k.Name, l.std, m, n,
					words[lo+min(m, n)])
			}
			for i := lo; i < lo+n; i++ {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%s, std %v: word %x gives %v, want %v", k.Name, l.std, words[i], got[i], want[i])
				}
			}
			lo += n + 1
		}
	}
}

// TestStepsSameBits: all implementations of Steps agree on 13 million random words.
func TestStepsSameBits(t *testing.T) {
	rng := fixedBits(23)
	words := make([]uint64, 1000)
	for _, std := range stepSizes {
		l, err := NewNormal(std)
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			for i := range words {
				words[i] = rng.Uint64()
			}
			checkSteps(t, l, words)
		}
	}
}

// closeWords returns words whose decision is close. They lie next to a layer's inner bound, to the
// edge of a cell or to the limit of the coarse form. The list also holds the smallest and largest
// positions.
func closeWords(l *Normal, rng *rand.Rand, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		s := rng.Uint64N(layers)
		layer := &l.layers[s]
		var position uint64
		switch i % 4 {
		case 0:
			position = layer.inner>>(layerBits+1) + rng.Uint64N(5) - 2
		case 1:
			position = []uint64{0, 1, 1<<positionBits - 1, rng.Uint64N(8)}[rng.IntN(4)]
		default:
			low := math.Ldexp(math.Floor(rng.Float64()*float64(layer.width>>l.shift)+1), int(l.shift)) -
				float64(l.half)
			off := math.Ldexp(rng.Float64()*2-1, 8+rng.IntN(9))
			position = uint64((low + off) / float64(layer.width) * 0x1p54)
		}
		words[i] = s | rng.Uint64()&layers | position<<(layerBits+1)
	}
	return words
}

func TestStepsSameBitsNearEdges(t *testing.T) {
	rng := rand.New(fixedBits(24))
	for _, std := range stepSizes {
		l, err := NewNormal(std)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			checkSteps(t, l, closeWords(l, rng, 1000))
		}
		// Try single words at every place of a vector, between words that are decided.
		sure := make([]uint64, 24)
		for _, word := range closeWords(l, rng, 200) {
			for at := range sure {
				clear(sure)
				sure[at] = word
				checkSteps(t, l, sure)
			}
		}
	}
}

// TestWedgesByChord compares underByChord with underByExponential if both decide.
func TestWedgesByChord(t *testing.T) {
	rng := rand.New(fixedBits(25))
	const n = 1 << 20
	decided := 0
	for range n {
		layer := chordFrom + rng.Uint64N(layers-chordFrom)
		position := layerInner[layer] + rng.Uint64N(1<<positionBits-layerInner[layer])
		height := rng.Uint64()
		under, ok := underByChord(layer, position, height)
		if !ok {
			continue
		}
		decided++
		if want, ok := underByExponential(layer, position, height); ok && under != want {
			t.Fatalf("layer %d position %d height %x: under %v, want %v", layer, position, height,
				under, want)
		}
	}
	// If the chord decided few cases, the sampler would be slower, but its distribution would be the
	// same.
	if decided < n*97/100 {
		t.Errorf("the chord decides %d of %d cases, want at least 97 %%", decided, n)
	}
}

// TestChordDecidesNothingAtItsCorners: near the ends of a layer the curve touches its chord, so a
// height just below the chord lies under the curve, and the chord must not say otherwise.
func TestChordDecidesNothingAtItsCorners(t *testing.T) {
	for layer := uint64(chordFrom); layer < layers; layer++ {
		inner := layerInner[layer]
		for _, position := range []uint64{inner + 1<<20, 1<<positionBits - 1<<20} {
			p, in := float64(position)*0x1p-54, float64(inner)*0x1p-54
			chord := (1 - p) * (1 + p) / ((1 - in) * (1 + in)) // at the position, as a part of the layer
			for _, off := range []float64{-1.0 / 128, -0x1p-21, -0x1p-30, 0, 0x1p-30, 0x1p-21} {
				at := chord + off
				if at < 0 || at >= 1 {
					continue
				}
				under, ok := underByChord(layer, position, uint64(at*0x1p64))
				if ok {
					t.Fatalf("layer %d, position %d, %g beside the chord: under %v, want undecided", layer,
						position, off, under)
				}
			}
		}
	}
}

// TestAddUnitsSameBits: every implementation of AddUnits gives the same bits as the portable one.
func TestAddUnitsSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 7, 8, 9, 64, 1000} {
		sum, noise := make([]int32, n), make([]float64, n)
		for i := range sum {
			sum[i], noise[i] = int32(rng.Uint32())>>rng.IntN(32), float64(rng.IntN(1<<30)-1<<29)
			switch rng.IntN(8) {
			case 0:
				sum[i] = []int32{math.MinInt32, math.MaxInt32, 0}[rng.IntN(3)]
			case 1:
				noise[i] = []float64{MaxSteps, -MaxSteps, 0}[rng.IntN(3)]
			}
		}
		for _, inverse := range []float64{1, 2, 0x1p7, 0x1p18, 0x1p19, 0x1p20, 0x1p21, 0x1p30, 0.5,
			0x1p-9} {
			want := slices.Clone(noise)
			addUnits(want, sum, inverse, 0x1p-24)
			carried := slices.Clone(noise)
			AddCarried(carried, sum, make([]float64, n), inverse, 0x1p-24)
			for _, k := range Available() {
				got := slices.Clone(noise)
				k.AddUnits(got, sum, inverse, 0x1p-24)
				if !slices.Equal(got, want) || !slices.Equal(carried, want) {
					t.Fatalf("%s: the sums of %d numbers with inverse %v differ", k.Name, n, inverse)
				}
			}
		}
	}
}
