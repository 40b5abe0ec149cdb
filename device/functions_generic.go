package device

import "math"

// The functions in this file do the same operations in the same order as the functions of these
// names in internal/asmgen/vector.go, which explains them. The coefficients are from Cephes
// (Moshier).

var (
	expTerms = []float32{5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3,
		1.3981999507e-3, 1.9875691500e-4}
	logTerms = []float32{3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1,
		1.4249322787e-1, -1.2420140846e-1, 1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2}
	tanhTerms = []float32{-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2,
		-5.70498872745e-3}
	softplusTerms = []float32{0.3333316082069003, 0.20012297615355565, 0.1398257887228139,
		0.1407888918329598}
	sinTerms = []float32{-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4}
	cosTerms = []float32{4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5}
	halfPi   = [3]float32{1.57079637050628662109375, -4.37113882867379e-8, -1.71512449e-15}
)

// polynomial returns Σ terms[i] zⁱ.
func polynomial(z float32, terms []float32) float32 {
	last := len(terms) - 1
	y := terms[last]
	for i := last - 1; i >= 0; i-- {
		y = fma32(z, y, terms[i])
	}
	return y
}

func nearest(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// power returns 2ⁿ y for numbers y whose exponent stays in range.
func power(n, y float32) float32 {
	return math.Float32frombits(math.Float32bits(y) + uint32(int32(n))<<23)
}

// reduced returns n and y such that eˣ = 2ⁿ y.
func reduced(x float32) (n, y float32) {
	n = nearest(x * math.Log2E)
	r := fma32(-n, -2.12194440e-4, fma32(-n, 0.693359375, x))
	return n, fma32(r, float32(polynomial(r, expTerms)*r), r) + 1
}

func exp32(x float32) float32 {
	if x < -104 {
		return 0
	}
	if x > 89 {
		x = 89
	}
	n, y := reduced(x)
	half := float32(math.Floor(float64(n) / 2))
	return y * power(half, 1) * power(n-half, 1)
}

func expMinus(x float32) float32 {
	if x != x {
		return x
	}
	n, y := reduced(max(-float32(math.Abs(float64(x))), -105))
	return power(n+64, y) * 0x1p-64
}

func expPlus(b float32) float32 { return power(reduced(min(b, 40))) }

func log32(x float32) float32 {
	switch {
	case x == 0:
		return float32(math.Inf(-1))
	case x < 0:
		return float32(math.NaN())
	case x != x || x > math.MaxFloat32:
		return x
	}
	e := float32(-126)
	if x < 0x1p-126 {
		x *= 0x1p23
		e -= 23
	}
	bits := math.Float32bits(x)
	e += float32(bits >> 23)
	m := math.Float32frombits(bits&0x007fffff | 0x3f000000)
	if m < math.Sqrt2/2 {
		e--
		m += m
	}
	m--
	z := float32(m * m)
	y := float32(float32(polynomial(m, logTerms)*m) * z)
	y = fma32(-0.5, z, fma32(e, -2.12194440e-4, y)) + m
	return fma32(e, 0.693359375, y)
}

func tanh32(x float32) float32 {
	a := float32(math.Abs(float64(x)))
	if a >= 0.625 {
		return float32(math.Copysign(float64(1-2/(expPlus(a+a)+1)), float64(x)))
	}
	z := float32(x * x)
	return fma32(x, float32(polynomial(z, tanhTerms)*z), x)
}

func sigmoid32(x float32) float32 {
	e := expMinus(x)
	if math.Signbit(float64(x)) {
		return e / (e + 1)
	}
	return 1 / (e + 1)
}

func softplus32(x float32) float32 {
	e := expMinus(x)
	s := e / (e + 2)
	z := float32(s * s)
	y := fma32(s, float32(polynomial(z, softplusTerms)*z), s)
	if x < 0 {
		x = 0
	}
	return x + (y + y)
}

// widest is the largest argument whose cosine and sine are reduced exactly in float32.
const widest = 65536

// cosSin32 returns the cosine and the sine, times scale. Those of larger arguments, which are rare,
// are computed in float64.
func cosSin32(x, scale float32) (cos, sin float32) {
	if !(x >= -widest && x <= widest) {
		s, c := math.Sincos(float64(x))
		return scale * float32(c), scale * float32(s)
	}
	n := nearest(x * (2 / math.Pi))
	for _, part := range halfPi {
		x = fma32(-n, part, x)
	}
	z := float32(x * x)
	sin = fma32(x, float32(polynomial(z, sinTerms)*z), x)
	cos = fma32(-0.5, z, float32(float32(polynomial(z, cosTerms)*z)*z)) + 1
	quadrant := uint32(int32(n))
	if quadrant&1 != 0 {
		cos, sin = sin, cos
	}
	flip := func(x float32, quadrant uint32) float32 {
		return math.Float32frombits(math.Float32bits(x*scale) ^ quadrant<<30&(1<<31))
	}
	return flip(cos, quadrant+1), flip(sin, quadrant)
}
