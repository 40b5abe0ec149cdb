package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fixedCase is a product of random numbers of very different sizes. Some products would be halfway
// between two units if the numbers of a did not have their last bit set.
type fixedCase struct {
	a, d  Matrix
	w     []float32
	chain int
	unit  float32
}

func newFixedCase(rng *rand.Rand, k, m, n, chain int, unit float32) fixedCase {
	c := fixedCase{a: HostMatrix(k, m, make([]float32, k*m)), d: HostMatrix(k, n, make([]float32,
		k*n)), w: make([]float32, k), chain: chain, unit: unit}
	// Sums of a chain's products stay below 2^22 units if all numbers are at most root.
	root := math.Sqrt((1<<22 - 1) * float64(unit) / float64(chain) * (1 - 0x1p-10))
	draw := func() float32 {
		switch rng.IntN(6) {
		case 0:
			return 0
		case 1:
			return float32(root * (1 - 0x1p-20))
		case 2: // products that are nearly odd multiples of half a unit
			return float32(math.Sqrt(float64(unit) * (float64(rng.IntN(5)) + .5)))
		}
		return float32((2*rng.Float64() - 1) * root * math.Exp(-20*rng.Float64()))
	}
	for i := range c.a.Data {
		c.a.Data[i] = Odd(draw())
	}
	for i := range c.d.Data {
		c.d.Data[i] = draw()
	}
	for i := range c.w {
		c.w[i] = Odd(draw())
	}
	return c
}

func (c fixedCase) sum(m, n int) FixedBlock {
	return FixedBlock{Rows: m, Cols: n, Units: make([]int32, m*n), Unit: c.unit, Chain: c.chain}
}

// rounded returns the number of whole units nearest to an exact product.
func rounded(t *testing.T, x, y, unit float32) int32 {
	p := float64(x) * float64(y) / float64(unit)
	if r := p - math.Floor(p); r == .5 {
		t.Fatalf("%v·%v is a tie", x, y)
	}
	return int32(math.Round(p))
}

// TestFixedProductIsTheSumOfRoundedTerms checks that every level of vector instructions adds
// exactly the rounded products, in chains of any length.
func TestFixedProductIsTheSumOfRoundedTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][3]int{{1, 1, 1}, {5, 3, 2}, {64, 17, 33}, {70, 300, 4}, {129, 40, 70},
		{200, 5, 512}, {33, 784, 20}, {600, 512, 31}} {
		if testing.Short() && size[0]*size[1]*size[2] > 1<<20 {
			continue // an emulated processor takes ten seconds
		}
		for _, chain := range []int{1, 7, 30, 64} {
			if size[0]*size[1]*size[2] > 1<<18 && chain != 7 && chain != 64 {
				continue // the sums of rounded terms take long
			}
			c := newFixedCase(rng, size[0], size[1], size[2], chain, 0x1p-19)
			want := c.sum(size[1], size[2])
			for i := range want.Units {
				want.Units[i] = int32(i)
			}
			started := slices.Clone(want.Units)
			for i := range want.Rows {
				for j := range want.Cols {
					for r := range c.a.Rows {
						want.row(i)[j] += rounded(t, c.a.Row(r)[i], c.d.Row(r)[j], c.unit)
					}
				}
			}
			for _, k := range available() {
				got := c.sum(size[1], size[2])
				copy(got.Units, started)
				newCPU(2, k).AddFixedProduct(c.a, c.d, got)
				for i := range got.Rows {
					if !slices.Equal(got.row(i), want.row(i)) {
						t.Fatalf("%s %v chain %d: row %d is %d, want %d", k.name, size, chain, i, got.row(i),
							want.row(i))
					}
				}
			}
		}
	}
}

// promising is the CPU with other promises.
type promising struct {
	FixedSummer
	promises Promises
}

func (p promising) Promises() Promises { return p.promises }

// TestFixedSumsNeedBothPromises: a backend whose rows depend on others, or on the call, has no
// fixed-point sums.
func TestFixedSumsNeedBothPromises(t *testing.T) {
	cpu, ok := FixedSums(CPU())
	if !ok {
		t.Fatal("the CPU has no fixed-point sums")
	}
	for _, p := range []Promises{{}, {RowsAlone: true}, {SameBits: true},
		{RowsAlone: true, SameBits: true}} {
		if _, ok := FixedSums(promising{cpu, p}); ok != (p.RowsAlone && p.SameBits) {
			t.Errorf("a backend that promises %+v has fixed-point sums: %v", p, ok)
		}
	}
}

// TestFixedSumsAgree checks that AddFixedRows, AddFixedSparse and AddFixedBlocks add exactly the
// rounded terms, at every level.
func TestFixedSumsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range available() {
		be := newCPU(2, k)
		t.Run(k.name, func(t *testing.T) {
			for _, cols := range []int{1, 5, 8, 37, 300} {
				c := newFixedCase(rng, 90, cols, cols, 1, 0x1p-30)
				got, want := c.sum(1, cols), make([]int32, cols)
				c.w[7] = 0 // a record that is left out, since its numbers are none
				odd := c.d.Row(7)
				kept := slices.Clone(odd)
				odd[0], odd[cols-1] = float32(math.Inf(-1)), float32(math.NaN())
				be.AddFixedRows(c.w, c.d, got)
				copy(odd, kept)
				for i, w := range c.w {
					for j, v := range c.d.Row(i) {
						want[j] += rounded(t, w, v, c.unit)
					}
				}
				if !slices.Equal(got.Units, want) {
					t.Fatalf("rows of %d numbers: sums %v, want %v", cols, got.Units, want)
				}
				testFixedSparse(t, be, rng, c)
				testFixedBlocks(t, be, c)
			}
		})
	}
}

func testFixedSparse(t *testing.T, be *cpu, rng *rand.Rand, c fixedCase) {
	t.Helper()
	const items = 40
	s := &Sparse{Cols: items, Offsets: []int{0}}
	for range c.a.Rows {
		for range rng.IntN(6) {
			s.Items = append(s.Items, rng.Uint32N(items)) // in any order, and some items twice
		}
		s.Offsets = append(s.Offsets, len(s.Items))
	}
	c.unit = 0x1p-20
	got, want := c.sum(items, c.a.Cols), c.sum(items, c.a.Cols)
	be.AddFixedSparse(s, c.a, got)
	for i := range s.Rows() {
		counts := map[uint32]float32{}
		for _, item := range s.Row(i) {
			counts[item]++
		}
		for item, n := range counts {
			for j, v := range c.a.Row(i) {
				want.row(int(item))[j] += rounded(t, n, v, c.unit)
			}
		}
	}
	if !slices.Equal(got.Units, want.Units) {
		t.Fatalf("sparse sums with %d columns are not those of the rounded terms", c.a.Cols)
	}
}

func testFixedBlocks(t *testing.T, be *cpu, c fixedCase) {
	t.Helper()
	const block = 9
	blocks := c.a.Rows / block
	c.unit = 0x1p-24
	got, want := c.sum(c.a.Cols, c.d.Cols), c.sum(c.a.Cols, c.d.Cols)
	c.w[3] = 0
	be.AddFixedBlocks(c.w[:blocks], block, c.a, c.d, got)
	for i := range blocks {
		g := be.New(c.a.Cols, c.d.Cols)
		be.Gemm(true, false, 1, c.a.RowRange(i*block, (i+1)*block), c.d.RowRange(i*block,
			(i+1)*block), 0, g)
		for k, v := range g.Data {
			want.Units[k] += rounded(t, c.w[i], v, c.unit)
		}
	}
	if !slices.Equal(got.Units, want.Units) {
		t.Fatalf("sums of blocks with %d columns are not those of the rounded terms", c.a.Cols)
	}
}

// TestOdd checks that Odd returns numbers with their last bit set. Their absolute values must be at
// most the original ones. The result must be 0 if a product could still be a tie.
func TestOdd(t *testing.T) {
	for _, x := range []float32{1, -1, 1.5, 0x1p-126, 0x1p-127, 0, math.MaxFloat32,
		float32(math.NaN()), float32(math.Inf(1)), 3e-39, -0x1.fffffep-126} {
		y := Odd(x)
		size := math.Abs(float64(y))
		if size > math.Abs(float64(x)) || y != 0 && math.Float32bits(y)&1 == 0 || y != 0 &&
			size < 0x1p-126 || y != y {
			t.Errorf("Odd(%v) = %v", x, y)
		}
		if normal := math.Abs(float64(x)) > 0x1p-126 && !math.IsInf(float64(x),
			0); normal && math.Abs(float64(y)) < math.Abs(float64(x))*(1-0x1p-22) {
			t.Errorf("Odd(%v) = %v", x, y)
		}
	}
	for _, k := range available() {
		src := []float32{0, 1, -1, 3, 0x1p-126, 0x1p-140, float32(math.NaN()), 1e30, -7e-20, 5}
		for _, w := range []float32{1, 0, .37, 0x1p-126, 1e-10} {
			got, want := make([]float32, len(src)), make([]float32, len(src))
			k.scaleOdd(w, got, src)
			scaleOddGeneric(w, want, src)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v times %v is %v, want %v", k.name, w, src, got, want)
			}
		}
	}
}

// TestTake checks that Take adds elements lo to hi−1, wraps around like int32 addition, clears what
// it took, and touches no other element, at every level of vector instructions.
func TestTake(t *testing.T) {
	for _, k := range available() {
		for n := range 70 {
			total, from, want := make([]int32, n+1), make([]int32, n), make([]int32, n+1)
			for i := range from {
				total[i], from[i] = int32(i)*0x1f3d5b79, int32(i*i)*0x2545f491
				want[i] = total[i] + from[i]
			}
			k.addUnits(total[:n], from)
			if !slices.Equal(total, want) {
				t.Errorf("%s, %d numbers: %v, want %v", k.name, n, total, want)
			}
		}
	}
	a, b := NewFixed(CPU(), Shape{Rows: 3, Cols: 50}), NewFixed(CPU(), Shape{Rows: 3, Cols: 50})
	a.Unit, b.Unit = 0.5, 0.5
	for i := range a.Units {
		a.Units[i], b.Units[i] = 1, 2
	}
	a.Take(b, 20, 61)
	for i := range a.Units {
		wantA, wantB := int32(1), int32(2)
		if i >= 20 && i < 61 {
			wantA, wantB = 3, 0
		}
		if a.Units[i] != wantA || b.Units[i] != wantB {
			t.Fatalf("element %d: %d and %d, want %d and %d", i, a.Units[i], b.Units[i], wantA, wantB)
		}
	}
	for _, cols := range []int{9, 150} {
		other := NewFixed(CPU(), Shape{Rows: 1, Cols: cols})
		refused := func() (refused bool) {
			defer func() { refused = recover() != nil }()
			a.Take(other, 0, 9)
			return
		}()
		if !refused {
			t.Errorf("a sum of %d elements with unit %v is taken", len(other.Units), other.Unit)
		}
	}
}

// TestUnitsArePowersOfTwo checks which units are refused. With a unit that is not a power of two,
// products would be rounded twice. With a very large or small unit, numbers could overflow or be
// subnormal.
func TestUnitsArePowersOfTwo(t *testing.T) {
	for unit, good := range map[float32]bool{1: true, 0x1p-90: true, 0x1p90: true, 3: false,
		0.75: false,
		0:    false, -1: false, 0x1p-120: false, 0x1p120: false, float32(math.NaN()): false,
		float32(math.Inf(1)): false} {
		b := FixedBlock{Rows: 1, Cols: 1, Units: make([]int32, 1), Unit: unit, Chain: 1}
		refused := func() (refused bool) {
			defer func() { refused = recover() != nil }()
			b.check("a test", 1, 1)
			return
		}()
		if refused == good {
			t.Errorf("unit %v: refused is %v, want the opposite", unit, refused)
		}
	}
}

// TestViewsOfFixedSums: a view of some blocks shares the units of these blocks, and what exceeds
// them.
func TestViewsOfFixedSums(t *testing.T) {
	shapes := []Shape{{Rows: 2, Cols: 2}, {Rows: 1, Cols: 3}, {Rows: 1, Cols: 1}}
	for _, carried := range []bool{false, true} {
		f := NewFixed(CPU(), shapes...)
		if carried {
			f.Carry = make([]float64, 8)
		}
		for lo, first := range []int{0, 4, 7} {
			s := f.Sub(lo, 3)
			if len(s.Units) != 8-first || len(s.Carry) != len(f.Carry[min(first, len(f.Carry)):]) {
				t.Fatalf("a view from block %d on has %d units and %d carries", lo, len(s.Units),
					len(s.Carry))
			}
			if s.Block(0).Units[0] = int32(lo + 1); f.Units[first] != int32(lo+1) {
				t.Errorf("a view from block %d on has other units", lo)
			}
			if !carried {
				continue
			}
			if s.Carry[0] = float64(lo + 1); f.Carry[first] != float64(lo+1) {
				t.Errorf("a view from block %d on has other carries", lo)
			}
		}
	}
}

// row returns row i.
func (b FixedBlock) row(i int) []int32 { return b.Units[i*b.Cols : (i+1)*b.Cols] }
