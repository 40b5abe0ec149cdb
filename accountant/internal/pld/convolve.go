package pld

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A channel is the tilted distribution of a sum of independent losses in a window of the grid: mass[j] ∝ P(L = (first+j)·h)·e^{θL}. Tilting
// (Esscher 1932) moves the bulk to where δ is decided, so that the Fourier transform's absolute error is small against the
// answer even for δ = 1e−12, and so that the window need not hold the rest of the distribution.
type channel struct {
	h, theta float64
	first    int64
	mass     []float64
	logScale float64 // P(L = l) = mass · exp(logScale − θ·l)
	eta      float64 // bound of the rounding error of each mass
	rel      float64 // relative rounding error of scale and tilt
	alias    float64 // tilted mass outside the window, which wraps around into it
	above    float64 // P(L beyond the window)
	inf      float64 // P(L = ∞)
}

// composer multiplies characteristic functions; it owns the scratch of one size.
type composer struct {
	n      int
	fft    *fourier.FFT
	real   []float64
	coef   []complex128
	prod   []complex128
	mag    []float64 // bound of |prod| before rounding
	relErr []float64
}

func newComposer(n int) *composer {
	return &composer{n: n, fft: fourier.NewFFT(n), real: make([]float64, n), coef: make([]complex128, n/2+1),
		prod: make([]complex128, n/2+1), mag: make([]float64, n/2+1), relErr: make([]float64, n/2+1)}
}

// summand is the masses of one term at grid indices first, first+1, …, used count times.
type summand struct {
	first int64
	mass  []float64
	count int
}

// compose convolves every summand with itself count times and all with each other.
func (c *composer) compose(parts []summand, h, theta float64, first int64, lambdaUp, lambdaDown float64) channel {
	ch := channel{h: h, theta: theta, first: first}
	for k := range c.prod {
		c.prod[k], c.mag[k], c.relErr[k] = 1, 1, 0
	}
	// The transform's error in one coefficient, for input of unit sum (Higham 2002, Theorem 24.2, with room to spare).
	coefErr := 10 * ulp * (math.Log2(float64(c.n)) + 4)
	steps := 0.0
	for _, p := range parts {
		ch.logScale += float64(p.count) * c.load(p, h, theta)
		steps += float64(p.count)
		c.fft.Coefficients(c.coef, c.real)
		c.multiply(p.count, coefErr)
	}
	ch.rel = 4e-14*steps + 4*ulp*math.Abs(ch.logScale) + 1e-13
	ch.mass = c.invert(coefErr, &ch)
	ch.tails(parts, lambdaUp, lambdaDown)
	return ch
}

// load places the tilted, normalised masses of p on the circle and returns the log of what normalised them.
func (c *composer) load(p summand, h, theta float64) float64 {
	clear(c.real)
	scale := logMoment(p, h, theta)
	at := int(p.first % int64(c.n))
	if at < 0 {
		at += c.n
	}
	ratio := math.Exp(theta * h)
	w := 0.0
	for j, m := range p.mass {
		if j%32 == 0 {
			w = math.Exp(theta*float64(p.first+int64(j))*h - scale)
		}
		if m != 0 {
			c.real[at] += m * w
		}
		w *= ratio
		if at++; at == c.n {
			at = 0
		}
	}
	return scale
}

// logMoment is log Σ massⱼ e^{θlⱼ}.
func logMoment(p summand, h, theta float64) float64 {
	// The shift keeps the largest weight near one.
	top := math.Inf(-1)
	for j := 0; j < len(p.mass); j += 16 {
		m := 0.0
		for i := j; i < min(j+16, len(p.mass)); i++ {
			m = max(m, p.mass[i])
		}
		if m > 0 {
			edge := j
			if theta > 0 {
				edge = j + 15
			}
			top = max(top, math.Log(m)+theta*float64(p.first+int64(edge))*h)
		}
	}
	if math.IsInf(top, -1) {
		return top
	}
	ratio := math.Exp(theta * h)
	sum, w := 0.0, 0.0
	for j, m := range p.mass {
		if j%32 == 0 {
			w = math.Exp(theta*float64(p.first+int64(j))*h - top)
		}
		if m != 0 {
			sum += m * w
		}
		w *= ratio
	}
	return top + math.Log(sum)
}

func (c *composer) multiply(count int, coefErr float64) {
	n := float64(count)
	for k, z := range c.coef {
		if c.mag[k] == 0 {
			continue
		}
		a2 := real(z)*real(z) + imag(z)*imag(z)
		a := math.Sqrt(a2) + coefErr
		if n*(1-a*a)/2 > 92 { // |z|ⁿ < 1e−39
			c.prod[k], c.mag[k] = 0, 0
			continue
		}
		r := n * (coefErr/a + 4*ulp)
		if count == 1 {
			c.prod[k] *= z
			c.mag[k] *= a
		} else {
			pow := power(z, count)
			c.prod[k] *= pow
			if r < 0.1 {
				c.mag[k] *= cmplx.Abs(pow) * (1 + 2*r)
			} else {
				c.mag[k] *= math.Exp(n * math.Log(a))
			}
		}
		c.relErr[k] += r
		if c.mag[k] < 1e-39 {
			c.prod[k], c.mag[k] = 0, 0
		}
	}
}

func power(z complex128, n int) complex128 {
	out := complex(1, 0)
	for {
		if n&1 == 1 {
			out *= z
		}
		n >>= 1
		if n == 0 {
			return out
		}
		z *= z
	}
}

// invert returns the masses in window order and sets eta.
func (c *composer) invert(coefErr float64, ch *channel) []float64 {
	size, wrong := 0.0, 0.0
	for k, m := range c.mag {
		w := 2.0
		if k == 0 || 2*k == c.n {
			w = 1
		}
		size += w * m
		wrong += w * m * min(2, c.relErr[k]*1.1)
	}
	n := float64(c.n)
	ch.eta = (wrong+coefErr*size)/n + 1e-38
	c.fft.Sequence(c.real, c.prod)
	out := make([]float64, c.n)
	at := int(ch.first % int64(c.n))
	if at < 0 {
		at += c.n
	}
	copy(out, c.real[at:])
	copy(out[c.n-at:], c.real[:at])
	for i := range out {
		out[i] /= n
	}
	return out
}

// tails bounds what the window leaves out, by Chernoff's inequality on the very masses that were composed.
func (ch *channel) tails(parts []summand, lambdaUp, lambdaDown float64) {
	var up, down float64
	for _, p := range parts {
		up += float64(p.count) * logMoment(p, ch.h, ch.theta+lambdaUp)
		down += float64(p.count) * logMoment(p, ch.h, ch.theta-lambdaDown)
	}
	top := float64(ch.first+int64(len(ch.mass))) * ch.h
	bottom := float64(ch.first) * ch.h
	ch.above = math.Exp(up-(ch.theta+lambdaUp)*top) * (1 + ch.rel)
	ch.alias = (math.Exp(up-ch.logScale-lambdaUp*top) + math.Exp(down-ch.logScale+lambdaDown*bottom)) * (1 + ch.rel)
}

// epsilonUpper is the smallest ε ≥ 0 with a proven δ(ε) ≤ delta; ok is false when the window does not reach far enough either way.
func (ch *channel) epsilonUpper(delta float64) (eps float64, ok bool) {
	delta -= ch.inf + ch.above
	if !(delta > 0) {
		return math.Inf(1), false
	}
	return ch.scan(math.Log(delta)-ch.rel, func(v float64) float64 { return max(v, 0) + ch.eta }, 0)
}

// epsilonLower is the largest ε with a proven δ(ε) ≥ delta.
func (ch *channel) epsilonLower(delta float64) (eps float64, ok bool) {
	return ch.scan(math.Log(delta)+ch.rel, func(v float64) float64 { return max(v-ch.eta, 0) }, ch.alias/(1+ch.theta))
}

// scan sums the hockey-stick curve from the top of the window down, in units of its own tilt, until it passes the target:
//
//	u = Σ_{j≥k} P(lⱼ)e^{l_k−lⱼ},  d = δ(l_k);  δ(l_{k−1}) = d + (1−e^{−h})·u
//
// Every term is positive, so nothing cancels; between grid points the curve is linear in e^ε and is solved exactly.
func (ch *channel) scan(logTarget float64, mass func(float64) float64, discount float64) (float64, bool) {
	fade, keep, gain := math.Exp(-ch.h*(1+ch.theta)), math.Exp(-ch.theta*ch.h), -math.Expm1(-ch.h)
	var u, d, target float64
	for k := len(ch.mass) - 1; k >= 0; k-- {
		l := float64(ch.first+int64(k)) * ch.h
		if (len(ch.mass)-1-k)%32 == 0 {
			target = math.Exp(logTarget + ch.theta*l - ch.logScale)
		}
		if target < 1e-280 {
			return l + ch.h, false // nothing in the window weighs as little as δ does here
		}
		if l <= 0 {
			return 0, l > -ch.h/2 || k < len(ch.mass)-1
		}
		u = mass(ch.mass[k]) + fade*u
		next := keep * (d + gain*u)
		if next-discount > target*keep {
			x := (target + discount - d) / u
			return max(0, l+math.Log1p(-min(max(x, 0), gain))), k < len(ch.mass)-1
		}
		d, target = next, target*keep
	}
	return float64(ch.first) * ch.h, false
}

// deltaAt sums the curve at one ε inside the window.
func (ch *channel) deltaAt(eps float64, mass func(float64) float64) (scaled float64, ok bool) {
	first := int64(math.Floor(eps/ch.h)) + 1 - ch.first
	if first < 0 || first >= int64(len(ch.mass)) {
		return 0, false
	}
	sum, w := 0.0, 0.0
	ratio := math.Exp(-ch.theta * ch.h)
	for k := int(first); k < len(ch.mass); k++ {
		y := float64(ch.first+int64(k))*ch.h - eps
		if (k-int(first))%32 == 0 {
			w = math.Exp(-ch.theta * y)
		}
		sum += mass(ch.mass[k]) * w * -math.Expm1(-y)
		w *= ratio
	}
	return sum, true
}

func (ch *channel) deltaUpper(eps float64) (float64, bool) {
	s, ok := ch.deltaAt(eps, func(v float64) float64 { return max(v, 0) + ch.eta })
	if !ok {
		return 1, false
	}
	return min(1, s*math.Exp(ch.logScale-ch.theta*eps)*(1+2*ch.rel)+ch.inf+ch.above), true
}

func (ch *channel) deltaLower(eps float64) (float64, bool) {
	s, ok := ch.deltaAt(eps, func(v float64) float64 { return max(v-ch.eta, 0) })
	if !ok {
		return 0, false
	}
	return max(0, (s-ch.alias/(1+ch.theta))*math.Exp(ch.logScale-ch.theta*eps)*(1-2*ch.rel)), true
}
