package sampler

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// exactLaplaceOver makes every decision of DiscreteLaplace and of discreteLaplaceOver in exact
// arithmetic: the whole part of slope times an exponential number, with a random sign.
func exactLaplaceOver(slope *big.Rat, src entropy.Bits) int64 {
	for {
		e := newExponential(src)
		k := e.floorAffineExact(slope, new(big.Rat), src)
		if src.Uint64()&1 == 0 {
			return k
		}
		if k != 0 {
			return -k
		}
	}
}

// TestUndecidedSteps: noise of very many steps agrees with draws from the same bits in exact
// arithmetic. Machine arithmetic then often leaves the whole part undecided.
func TestUndecidedSteps(t *testing.T) {
	for name, c := range map[string]struct{ fast, exact func(entropy.Bits) int64 }{
		"discrete Laplace": {func(b entropy.Bits) int64 { return DiscreteLaplace(0x1p-44*1.3, b) },
			func(b entropy.Bits) int64 { return exactLaplaceOver(new(big.Rat).Inv(ratio(0x1p-44*1.3)), b) }},
		"discrete Laplace over t": {func(b entropy.Bits) int64 {
			return discreteLaplaceOver(0x1p44+7,
				b)
		},
			func(b entropy.Bits) int64 { return exactLaplaceOver(ratio(0x1p44+7), b) }},
		"Laplace": {func(b entropy.Bits) int64 { return Laplace(0x1p44*1.1, b) },
			func(b entropy.Bits) int64 {
				e := newExponential(b)
				k := e.floorAffineExact(ratio(0x1p44*1.1), big.NewRat(1, 2), b)
				if b.Uint64()&1 == 1 {
					return -k
				}
				return k
			}},
	} {
		f := &fork{from: fixedBits(11)}
		a, b := &reader{f: f}, &reader{f: f}
		signs := map[bool]bool{}
		for i := range 1500 {
			x, y := c.fast(a), c.exact(b)
			if signs[x > 0] = true; x != y || a.next != b.next {
				t.Fatalf("%s: draw %d is %d, want %d", name, i, x, y)
			}
		}
		if len(signs) != 2 {
			t.Errorf("%s: all draws have one sign", name)
		}
	}
	l, err := NewNormal(0x1p44 * 1.7)
	if err != nil {
		t.Fatal(err)
	}
	f := &fork{from: fixedBits(12)}
	a, b := &reader{f: f}, &reader{f: f}
	s, r := ratio(l.std), tailRat()
	offset := new(big.Rat).Mul(s, r)
	offset.Add(offset, big.NewRat(1, 2))
	for i := range 600 {
		x, ok := l.tail(a)
		e := newExponential(b)
		kept := underTailExact(&e, newDigits(b.Uint64(), 64, b))
		if y := min(e.floorAffineExact(new(big.Rat).Quo(s, r), offset, b), MaxSteps); ok != kept || ok &&
			x != y {
			t.Fatalf("tail %d: got %d %t, want %d %t", i, x, ok, y, kept)
		}
		b.next = a.next
	}
	for _, std := range []float64{0, 0.99, math.NaN(), 0x1.0001p45, math.Inf(1)} {
		if _, err := NewNormal(std); err == nil {
			t.Errorf("noise of %v steps is accepted", std)
		}
	}
}

// wordsOf returns the first binary digits of exp(−x), in words of 64 bits.
func wordsOf(x *big.Rat, n int) (words []uint64) {
	lo, _ := expNeg(x, 512)
	v := new(big.Float).SetPrec(512).Set(lo)
	for range n {
		v.SetMantExp(v, 64)
		whole, _ := v.Int(nil)
		words = append(words, whole.Uint64())
		v.Sub(v, new(big.Float).SetPrec(512).SetInt(whole))
	}
	return words
}

// given is a source of given words, and zeros after them.
type given struct{ words []uint64 }

func (g *given) Uint64() uint64 {
	if len(g.words) == 0 {
		return 0
	}
	w := g.words[0]
	g.words = g.words[1:]
	return w
}

// changedAt returns words whose word i is larger by d.
func changedAt(words []uint64, i int, d int64) []uint64 {
	out := slices.Clone(words)
	out[i] += uint64(d)
	return out
}

// TestUndecidedProbabilities: if the first digits of a uniform number are those of exp(−x), the
// next digits decide, for every mechanism that accepts with this probability.
func TestUndecidedProbabilities(t *testing.T) {
	lots := int64(1) << 40
	for _, x := range []float64{0.25, 1, 3.7, 30, 41, 44} {
		words := wordsOf(ratio(x), 3)
		for i := range 3 {
			for _, below := range []bool{true, false} {
				d := int64(1)
				if below {
					d = -1
				}
				src := &given{changedAt(words, i, d)}
				if got := bernoulliExp(x, func() *big.Rat { return ratio(x) }, src); got != below {
					t.Errorf("exp(-%v), word %d: got %t, want %t", x, i, got, below)
				}
			}
		}
	}
	if !bernoulliExp(41, func() *big.Rat { return ratio(41) }, &given{[]uint64{0}}) ||
		bernoulliExp(41, func() *big.Rat { return ratio(41) }, &given{[]uint64{1 << 9}}) {
		t.Error("a probability below 2^-57")
	}
	// Index 0 is 2 behind, so it is accepted with probability exp(−1.5·2/2). Otherwise index 1 is.
	for _, utilities := range [][]int64{{0, 2}, {-lots, 2 - lots}, {math.MaxInt64 - 2,
		math.MaxInt64}} {
		words := wordsOf(ratio(1.5), 2)
		for want, d := range []int64{-1, 1} {
			src := &given{slices.Concat([]uint64{0}, changedAt(words, 1, d), []uint64{1 << 63, 0})}
			if got := ChooseExponential(utilities, 1.5, false, src); got != want {
				t.Errorf("among %v: index %d is chosen, want %d", utilities, got, want)
			}
		}
	}
	far := []int64{math.MinInt64, math.MaxInt64} // 2^64 − 1 apart
	if got := ChooseExponential(far, 1, false, &given{[]uint64{0, 1 << 20, 1 << 63}}); got != 1 {
		t.Errorf("among %v: index %d is chosen, want 1", far, got)
	}
	// With σ = 1.5 and t = 2 the proposal 1 is kept with probability exp(−(1 − 2.25/2)²/4.5).
	kept := wordsOf(big.NewRat(1, 288), 2)
	one := []uint64{1 << 63, math.MaxUint64, 0} // ⌊2·0.5⌋ = 1, with a positive sign
	for want, d := range []int64{1, -1} {
		zero := []uint64{1, math.MaxUint64, 0, 0} // the proposal 0, which is kept
		src := &given{slices.Concat(one, changedAt(kept, 1, d), zero)}
		if got := DiscreteGaussian(1.5, src); got != int64(want) {
			t.Errorf("the discrete Gaussian is %d, want %d", got, want)
		}
	}
}

// TestTailKeepsWhatItDrew: a position in the tail whose further digits decided about its height has
// these digits afterwards, because its steps follow from them.
func TestTailKeepsWhatItDrew(t *testing.T) {
	e := exponential{part: lazy{head: 1 << 63}} // a position of 1/2
	x := new(big.Rat).Quo(big.NewRat(1, 2), tailRat())
	x.Mul(x, x).Mul(x, big.NewRat(1, 2))
	start := new(big.Rat).Mul(tailRat(), tailRat())
	curve, _ := expNeg(x.Add(x, start.Mul(start, big.NewRat(1, 2))), 512)
	edge := new(big.Float).Quo(curve, new(big.Float).SetPrec(512).SetRat(fixed62(layerHeight[0])))
	head, _ := edge.SetMantExp(edge, 64).Uint64()
	if !underTailExact(&e, newDigits(head, 64, &given{[]uint64{0, 77}})) {
		t.Error("a height just below the curve is above it")
	}
	if len(e.part.tail) != 1 || e.part.tail[0] != 77 || e.part.head != 1<<63 {
		t.Errorf("the position is %+v afterwards, want the further digits 77", e.part)
	}
}

// TestPermutedChoices: every index that is not accepted is replaced by the last of the others, so
// none is drawn twice. An index far behind is accepted never, and the last one left always.
func TestPermutedChoices(t *testing.T) {
	for _, c := range []struct {
		utilities []int64
		words     []uint64 // an index and a word of a coin, by turns
		want      int
	}{
		{[]int64{0, 0, 9000}, []uint64{1 << 60, 1 << 63, 1 << 60, 0}, 2},
		{[]int64{0, 9000, 0}, []uint64{1 << 60, 1 << 63, 1 << 60, 1 << 63, 1 << 60, 0}, 1},
		{[]int64{9000}, []uint64{0, 0}, 0},
		{[]int64{9000, 0}, []uint64{1 << 63, 1 << 63, 0, 0}, 0},
		{[]int64{math.MinInt64, math.MinInt64}, []uint64{1 << 63, 0}, 1},
	} {
		if got := ChooseExponential(c.utilities, 1, true, &given{c.words}); got != c.want {
			t.Errorf("among %v: index %d is chosen, want %d", c.utilities, got, c.want)
		}
	}
}

// TestUndecidedBits: Bernoulli compares all digits of its probability.
func TestUndecidedBits(t *testing.T) {
	for _, p := range []float64{0.5, 1.0 / 3, 0x1p-70, 0x1.8p-1000} {
		first, second := FirstWord(p), binaryWord(p, 1)
		if got := Bernoulli(p, &given{[]uint64{first, second + 1}}); got {
			t.Errorf("%v: a number just above is below", p)
		}
		if second > 0 && !Bernoulli(p, &given{[]uint64{first, second - 1}}) {
			t.Errorf("%v: a number just below is not below", p)
		}
		equal := []uint64{first}
		for i := 1; i <= 20; i++ {
			equal = append(equal, binaryWord(p, i))
		}
		if Bernoulli(p, &given{equal}) {
			t.Errorf("%v is below itself", p)
		}
	}
	if !Bernoulli(1, &given{[]uint64{math.MaxUint64}}) || Bernoulli(0, &given{}) {
		t.Error("certain events")
	}
}

// TestSamplesOfRows: samples are sorted subsets of the rows, and every row is as likely. Each of
// the 1,107 comparisons would fail by chance with probability 6e-10, at a limit of 6.2 standard
// deviations, if the seed were not fixed.
func TestSamplesOfRows(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	const n, rounds = 40, 4000
	check := func(name string, p float64, size int, draw func() []int32) {
		t.Helper()
		var counts [n]int
		for range rounds {
			list := draw()
			if list[0] != -1 || !slices.IsSorted(list) ||
				len(slices.Compact(slices.Clone(list))) != len(list) ||
				size >= 0 && len(list) != size+1 || len(list) > 1 && (list[1] < 0 || list[len(list)-1] >= n) {
				t.Fatalf("%s: %v", name, list)
			}
			for _, row := range list[1:] {
				counts[row]++
			}
		}
		total := 0.0
		for row, c := range counts {
			total += float64(c)
			if z := (float64(c) - rounds*p) / math.Sqrt(rounds*p*(1-p)+1e-9); math.Abs(z) > 6.2 {
				t.Errorf("%s: row %d is in %d samples, want about %v", name, row, c, rounds*p)
			}
		}
		all := n * rounds * p
		if z := (total - all) / math.Sqrt(all*(1-p)+1e-9); math.Abs(z) > 6.2 {
			t.Errorf("%s: %v rows are in the samples, want about %v", name, total, all)
		}
	}
	for _, size := range []int{0, 1, 4, 5, 20, 39, 40} {
		check("subset", float64(size)/n, size, func() []int32 {
			return Subset(n, size, src,
				[]int32{-1})
		})
		check("scan", float64(size)/n, size, func() []int32 { return scan(n, size, src, []int32{-1}) })
		check("floyd", float64(size)/n, size, func() []int32 { return floyd(n, size, src, []int32{-1}) })
	}
	for _, q := range []float64{0, 0.01, 0.12, 0.13, 0.5, 1} {
		check("Poisson", q, -1, func() []int32 { return PoissonRows(n, q, src, []int32{-1}) })
	}
	if list := PoissonRows(n, math.NaN(), src, nil); len(list) != 0 {
		t.Errorf("a probability that is no number samples %v", list)
	}
}
