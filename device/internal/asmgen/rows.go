package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels in this file process rows ≥ 1 rows of n ≥ 1 numbers, each on its own. Sums over a row
// are in float64, in eight chains: chain c adds the numbers c, c+8, c+16 and so on. The functions
// laneSums and addLanes of package device add in the same order.

// rowLoop gives access to the rows of a kernel.
type rowLoop struct {
	whole, left GPVirtual  // bytes of full vectors, and the number of remaining numbers
	tail, both  VecVirtual // masks of the remaining numbers; of four numbers, in both halves
	step        GPVirtual
	parts       int // loops over a row so far
}

// eachRow writes a loop over rows. The pointers move by step bytes, or by n numbers if step is nil.
// If pair is not nil, it processes two rows of at most four numbers at a time.
func eachRow(step GPVirtual, pair, body func(r *rowLoop), pointers ...GPVirtual) {
	rows, n := pointer("rows"), pointer("n")
	r := &rowLoop{whole: GP64(), left: GP64()}
	MOVQ(n, r.whole)
	ANDQ(I8(-8), r.whole)
	MOVQ(n, r.left)
	SUBQ(r.whole, r.left)
	SHLQ(U8(2), r.whole)
	last := GP64()
	MOVQ(r.left, last)
	r.tail = tailMask(last)
	if step == nil {
		step = n
		SHLQ(U8(2), n)
	}
	r.step = step
	if pair != nil {
		CMPQ(n, U8(4))
		JG(LabelRef("row"))
		r.both = copyOf(bundle{r.tail})[0]
		VINSERTF128(U8(1), r.tail.AsX(), r.both, r.both)
		Label("pairs")
		CMPQ(rows, U8(2))
		JL(LabelRef("last"))
		pair(r)
		for _, p := range pointers {
			ADDQ(step, p)
			ADDQ(step, p)
		}
		SUBQ(U8(2), rows)
		JMP(LabelRef("pairs"))
		Label("last")
		TESTQ(rows, rows)
		JZ(LabelRef("end"))
	}
	Label("row")
	body(r)
	for _, p := range pointers {
		ADDQ(step, p)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("end")
	VZEROUPPER()
	RET()
}

// loadPair returns two rows of at most four numbers, one in each half of a vector.
func (r *rowLoop) loadPair(p GPVirtual) bundle {
	x, second := YMM(), XMM()
	VMASKMOVPS(Mem{Base: p}, r.tail.AsX(), x.AsX())
	VMASKMOVPS(Mem{Base: p, Index: r.step, Scale: 1}, r.tail.AsX(), second)
	VINSERTF128(U8(1), second, x, x)
	return bundle{x}
}

func (r *rowLoop) storePair(x bundle, p GPVirtual) {
	second := XMM()
	VEXTRACTF128(U8(1), x[0], second)
	VMASKMOVPS(x[0].AsX(), r.tail.AsX(), Mem{Base: p})
	VMASKMOVPS(second, r.tail.AsX(), Mem{Base: p, Index: r.step, Scale: 1})
}

// addPair returns the sums of four float64 numbers for each of two rows, each twice.
func addPair(x [2]VecVirtual) VecVirtual {
	even, odd := YMM(), YMM()
	VPERM2F128(U8(0x20), x[1], x[0], even)
	VPERM2F128(U8(0x31), x[1], x[0], odd)
	VADDPD(odd, even, even)
	VPERMILPD(U8(5), even, odd)
	VADDPD(odd, even, even)
	return even
}

// inHalves rounds what addPair returns, and fills the half of a vector with the number of its row.
func inHalves(x VecVirtual) VecVirtual {
	y := YMM()
	VCVTPD2PSY(x, y.AsX())
	VPERMPD(U8(0x50), y, y)
	return y
}

// either writes code for rows of fewer than eight numbers, which stay in registers, and code for
// other rows.
func (r *rowLoop) either(short func(l lanes), long func()) {
	at := GP64()
	XORQ(at, at)
	TESTQ(r.whole, r.whole)
	JNZ(LabelRef("long"))
	short(lanes{at: at, mask: r.tail})
	JMP(LabelRef("next"))
	Label("long")
	long()
	Label("next")
}

// over writes a loop over the vectors of a row.
func (r *rowLoop) over(body func(l lanes)) {
	r.parts++
	name, at := string(rune('a'+r.parts)), GP64()
	XORQ(at, at)
	TESTQ(r.whole, r.whole)
	JZ(LabelRef("rest_" + name))
	Label("vectors_" + name)
	body(lanes{at: at})
	ADDQ(U8(32), at)
	CMPQ(at, r.whole)
	JNE(LabelRef("vectors_" + name))
	Label("rest_" + name)
	TESTQ(r.left, r.left)
	JZ(LabelRef("done_" + name))
	body(lanes{at: at, mask: r.tail})
	Label("done_" + name)
}

// sums writes a loop that adds up the products of pairs of operands, or single operands, and leaves
// each sum in the lowest lane.
func (r *rowLoop) sums(operands ...[]GPVirtual) (totals []VecVirtual) {
	chains := make([][2]VecVirtual, len(operands))
	for i := range chains {
		chains[i] = [2]VecVirtual{YMM(), YMM()}
		for _, c := range chains[i] {
			VXORPD(c, c, c)
		}
	}
	r.over(func(l lanes) {
		known := map[GPVirtual][2]VecVirtual{}
		for i, list := range operands {
			for _, p := range list {
				if _, ok := known[p]; !ok {
					known[p] = l.doubles(p, 0)
				}
			}
			for h, c := range chains[i] {
				if x := known[list[0]][h]; len(list) == 1 {
					VADDPD(x, c, c)
				} else {
					VFMADD231PD(x, known[list[1]][h], c)
				}
			}
		}
	})
	for _, c := range chains {
		totals = append(totals, addLanes(c))
	}
	return totals
}

// addLanes returns the sum of eight chains.
func addLanes(c [2]VecVirtual) VecVirtual {
	VADDPD(c[1], c[0], c[0])
	high, low := XMM(), c[0].AsX()
	VEXTRACTF128(U8(1), c[0], high)
	VADDPD(high, low, low)
	VPERMILPD(U8(1), low, high)
	VADDSD(high, low, low)
	return c[0]
}

func broadcastDouble(x VecVirtual) VecVirtual {
	y := YMM()
	VBROADCASTSD(x.AsX(), y)
	return y
}

// toSingles rounds eight float64 numbers.
func toSingles(x [2]VecVirtual) bundle {
	y, high := YMM(), XMM()
	VCVTPD2PSY(x[0], y.AsX())
	VCVTPD2PSY(x[1], high)
	VINSERTF128(U8(1), high, y, y)
	return bundle{y}
}

// softmaxRows writes the kernel that replaces rows with their softmax. A row with NaN becomes NaN,
// whatever its largest number is taken to be.
func softmaxRows() {
	begin("softmaxRows", "func(rows, n int, x *float32, stride int)")
	x, stride := pointer("x"), pointer("stride")
	eachRow(stride, func(r *rowLoop) {
		v, first, other := r.loadPair(x), YMM(), YMM()
		VPERMILPS(U8(0), v[0], first)
		top := result(VBLENDVPS, r.both, v, bundle{first})[0]
		for _, order := range []uint8{0x4e, 0xb1} {
			VPERMILPS(U8(order), top, other)
			VMAXPS(other, top, top)
		}
		e := and(exp(sub(v, top)), r.both)
		one, share := broadcastDouble(oneDouble()), addPair(toDoubles(e[0]))
		VDIVPD(share, one, share)
		r.storePair(mul(e, inHalves(share)), x)
	}, func(r *rowLoop) {
		top := YMM()
		VBROADCASTSS(Mem{Base: x}, top)
		r.either(func(l lanes) {
			v := l.load(x)
			some := result(VBLENDVPS, l.mask, v, bundle{top})
			VMAXPS(some[0], top, top)
			largestLane(top)
			e := and(exp(sub(v, top)), l.mask)
			l.store(mul(e, softmaxShare(toDoubles(e[0]))), x)
		}, func() {
			r.over(func(l lanes) {
				v := l.load(x)[0]
				if l.mask != nil {
					VBLENDVPS(l.mask, v, top, v)
				}
				VMAXPS(v, top, top)
			})
			largestLane(top)
			sum := [2]VecVirtual{YMM(), YMM()}
			for _, s := range sum {
				VXORPD(s, s, s)
			}
			r.over(func(l lanes) {
				e := exp(sub(l.load(x), top))
				if l.mask != nil {
					VANDPS(l.mask, e[0], e[0])
				}
				l.store(e, x)
				for h, d := range toDoubles(e[0]) {
					VADDPD(d, sum[h], sum[h])
				}
			})
			share := softmaxShare(sum)
			r.over(func(l lanes) { l.store(mul(l.load(x), share), x) })
		})
	}, x)
}

// largestLane sets every lane to the largest one.
func largestLane(x VecVirtual) {
	other := YMM()
	VPERM2F128(U8(1), x, x, other)
	VMAXPS(other, x, x)
	for _, order := range []uint8{0x4e, 0xb1} {
		VPERMILPS(U8(order), x, other)
		VMAXPS(other, x, x)
	}
}

// softmaxShare returns 1 ÷ the sum of eight chains, in every lane.
func softmaxShare(sum [2]VecVirtual) VecVirtual {
	total, share := addLanes(sum).AsX(), YMM()
	VDIVSD(total, oneDouble(), total)
	VCVTSD2SS(total, total, total)
	VBROADCASTSS(total, share)
	return share
}

func oneDouble() VecVirtual {
	bits, x := GP64(), XMM()
	MOVQ(U64(math.Float64bits(1)), bits)
	VMOVQ(bits, x)
	return x
}

// softmaxRowsGradient writes the kernel that turns rows d of derivatives with respect to rows p of
// a softmax into p ∘ (d − Σ p d).
func softmaxRowsGradient() {
	begin("softmaxRowsGradient", "func(rows, n int, p, d *float32, stride int)")
	p, d, stride := pointer("p"), pointer("d"), pointer("stride")
	inLanes := func(dot VecVirtual) VecVirtual {
		all := YMM()
		VCVTSD2SS(dot.AsX(), dot.AsX(), dot.AsX())
		VBROADCASTSS(dot.AsX(), all)
		return all
	}
	eachRow(stride, func(r *rowLoop) {
		x, y := r.loadPair(p), r.loadPair(d)
		from, chains := toDoubles(x[0]), toDoubles(y[0])
		for h, c := range chains {
			VMULPD(from[h], c, c)
		}
		r.storePair(mul(sub(y, inHalves(addPair(chains))), x), d)
	}, func(r *rowLoop) {
		r.either(func(l lanes) {
			x, y := l.load(p), l.load(d)
			from, chains := toDoubles(x[0]), toDoubles(y[0])
			for h, c := range chains {
				VMULPD(from[h], c, c)
			}
			l.store(mul(sub(y, inLanes(addLanes(chains))), x), d)
		}, func() {
			all := inLanes(r.sums([]GPVirtual{p, d})[0])
			r.over(func(l lanes) { l.store(mul(sub(l.load(d), all), l.load(p)), d) })
		})
	}, p, d)
}

// deviation writes instructions that compute the mean of the row x, times the parameter centre,
// which is 0 or 1/n, and the reciprocal standard deviation.
func (r *rowLoop) deviation(x GPVirtual) (mean, scale VecVirtual) {
	sums := r.sums([]GPVirtual{x}, []GPVirtual{x, x})
	mean, scale = sums[0], sums[1]
	square, zero := XMM(), XMM()
	VMULSD(argument("centre"), mean.AsX(), mean.AsX())
	VMULSD(argument("inverse"), scale.AsX(), scale.AsX())
	VMULSD(mean.AsX(), mean.AsX(), square)
	VSUBSD(square, scale.AsX(), scale.AsX())
	VXORPD(zero, zero, zero)
	VMAXSD(scale.AsX(), zero, scale.AsX()) // NaN remains NaN
	VADDSD(argument("eps"), scale.AsX(), scale.AsX())
	VSQRTSD(scale.AsX(), scale.AsX(), scale.AsX())
	VDIVSD(scale.AsX(), oneDouble(), scale.AsX())
	return mean, scale
}

// standardize writes the kernel that scales rows to mean 0 and variance 1, or only to square 1.
func standardize() {
	begin("standardize", "func(rows, n int, inverse, centre, eps float64, src, dst *float32)")
	src, dst := pointer("src"), pointer("dst")
	eachRow(nil, nil, func(r *rowLoop) {
		mean, scale := r.deviation(src)
		mean, scale = broadcastDouble(mean), broadcastDouble(scale)
		r.over(func(l lanes) {
			x := l.doubles(src, 0)
			for _, v := range x {
				VSUBPD(mean, v, v)
				VMULPD(scale, v, v)
			}
			l.store(toSingles(x), dst)
		})
	}, src, dst)
}

// standardizeGradient writes the kernel that adds the derivatives of standardize to dx, where y are
// its results and dy the derivatives with respect to them: (dy − mean dy − y·mean(y·dy))·scale.
func standardizeGradient() {
	begin("standardizeGradient",
		"func(rows, n int, inverse, centre, eps float64, src, y, dy, dx *float32)")
	src, y, dy, dx := pointer("src"), pointer("y"), pointer("dy"), pointer("dx")
	eachRow(nil, nil, func(r *rowLoop) {
		_, scale := r.deviation(src)
		sums := r.sums([]GPVirtual{dy}, []GPVirtual{dy, y})
		for i, name := range []string{"centre", "inverse"} {
			VMULSD(argument(name), sums[i].AsX(), sums[i].AsX())
			VMULSD(scale.AsX(), sums[i].AsX(), sums[i].AsX())
		}
		mean, dot := broadcastDouble(sums[0]), broadcastDouble(sums[1])
		scale = broadcastDouble(scale)
		r.over(func(l lanes) {
			d, along := l.doubles(dy, 0), l.doubles(y, 0)
			for h, v := range d {
				VMULPD(scale, v, v)
				VSUBPD(mean, v, v)
				VMULPD(dot, along[h], along[h])
				VSUBPD(along[h], v, v)
			}
			l.store(add(l.load(dx), toSingles(d)[0]), dx)
		})
	}, src, y, dy, dx)
}
