package pld

import (
	"math"
	"math/cmplx"
)

// A channel is the tilted distribution of a sum of independent losses in a window of the grid:
// mass[j] ∝ P(L = base + (first+j)·h)·e^{θL}. Tilting (Esscher 1932) moves most of the mass to the
// losses that decide δ. So the absolute error of the Fourier transform is small compared with the
// answer, even for δ = 1e−30. The window need not hold the rest of the distribution.
type channel struct {
	h, theta float64
	base     float64 // Σ countᵢ·offsetᵢ
	first    int64
	mass     []float64
	logScale float64 // P(L = l) = mass · exp(logScale − θ·l)
	eta      float64 // bound of the rounding error of each mass
	rel      float64 // relative rounding error of scale and tilt
	alias    float64 // tilted mass outside the window; it wraps around into the window
	above    float64 // P(L beyond the window)
	inf      float64 // P(L = ∞)
}

// lossAt returns the loss of the k-th mass of the window.
func (ch *channel) lossAt(k int) float64 { return ch.base + float64(ch.first+int64(k))*ch.h }

// composer multiplies characteristic functions, one summand after the other. It owns scratch memory
// of one size and keeps it for the next grid. So the memory of a composition does not grow with the
// number of terms or of grids tried.
type composer struct {
	view   view
	n      int
	fft    transformer
	real   []float64
	coef   []complex128
	out    []float64
	up     product // of the distributions whose curves bound the true curve from above
	low    product // of the distributions whose curves bound the true curve from below
	coeErr float64 // the transform's error in one coefficient, for input of unit sum
}

// product is a product of characteristic functions.
type product struct {
	prod     []complex128
	mag      []float64 // bound of |prod| before rounding
	relErr   []float64
	steps    float64
	base     float64
	logScale float64
	above    float64 // Σ log moments at θ+λ
	below    float64 // Σ log moments at θ−λ
}

// summand is the masses of one term at losses offset + at[j]·h, used count times.
type summand struct {
	offset float64
	at     []int64 // increasing
	mass   []float64
	count  int
}

// grown returns a slice of length n that uses the memory of s if it is large enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// begin clears the products for a composition on the grid of v.
func (c *composer) begin(v view, upper, lower bool) {
	c.view, c.n = v, v.n
	c.fft.reset(v.n)
	c.real, c.out, c.coef = grown(c.real, v.n), grown(c.out, v.n), grown(c.coef, v.n/2+1)
	c.coeErr = transformError(v.n)
	if upper {
		c.up.begin(v.n)
	}
	if lower {
		c.low.begin(v.n)
	}
}

// transformError bounds the error of a coefficient of numbers whose absolute values sum to one. It
// is Higham 2002, Theorem 24.2, with a margin. Each number reaches a coefficient through at most
// log₂ n passes of radix two. Passes of radix three and four make fewer roundings than the passes
// of radix two that they replace. The step between real and complex numbers counts as two passes.
func transformError(n int) float64 { return 10 * ulp * (math.Log2(float64(n)) + 4) }

func (p *product) begin(n int) {
	p.prod, p.mag, p.relErr = grown(p.prod, n/2+1), grown(p.mag, n/2+1), grown(p.relErr, n/2+1)
	for k := range p.prod {
		p.prod[k], p.mag[k], p.relErr[k] = 1, 1, 0
	}
	p.steps, p.base, p.logScale, p.above, p.below = 0, 0, 0, 0, 0
}

// add convolves the product with count copies of s.
func (c *composer) add(p *product, s summand) {
	v := &c.view
	p.logScale += float64(s.count) * c.load(s, v.h, v.theta)
	p.steps += float64(s.count)
	p.base += float64(s.count) * s.offset
	// Chernoff's inequality for the composed masses bounds the mass outside the window.
	p.above += float64(s.count) * logMoment(s, v.h, v.theta+v.lambdaUp)
	p.below += float64(s.count) * logMoment(s, v.h, v.theta-v.lambdaDown)
	c.fft.forward(c.coef, c.real)
	c.multiply(p, s.count)
}

// channel transforms the product back to a distribution of losses. Its masses are valid until the
// next call.
func (c *composer) channel(p *product) channel {
	v := &c.view
	ch := channel{h: v.h, theta: v.theta, base: p.base, logScale: p.logScale}
	ch.first = int64(math.Floor((v.from-p.base)/v.h)) - 2
	ch.rel = 4e-14*p.steps + 4*ulp*(math.Abs(ch.logScale)+v.theta*math.Abs(p.base)) + 1e-13
	ch.mass = c.invert(p, &ch)
	top, bottom := ch.lossAt(len(ch.mass)), ch.lossAt(0)
	ch.above = math.Exp(p.above-(v.theta+v.lambdaUp)*top) * (1 + ch.rel)
	ch.alias = (math.Exp(p.above-ch.logScale-v.lambdaUp*top) +
		math.Exp(p.below-ch.logScale+v.lambdaDown*bottom)) * (1 + ch.rel)
	return ch
}

// load places the tilted, normalised masses of p on the circle and returns the logarithm of the
// normalising factor.
func (c *composer) load(p summand, h, theta float64) float64 {
	clear(c.real)
	scale := logMoment(p, h, theta)
	n := int64(c.n)
	p.tilted(h, theta, scale, func(j int, v float64) {
		at := p.at[j] % n
		if at < 0 {
			at += n
		}
		if !(v <= 1e-100) { // such numbers vanish in the transform's error, and are slow to multiply
			c.real[at] += v
		}
	})
	return scale
}

// tilted visits massⱼ·e^{θlⱼ−scale} of every mass that is not zero. From a mass to its neighbour on
// the grid, tilted updates the power by one multiplication, at most 31 times in a row.
func (p *summand) tilted(h, theta, scale float64, visit func(j int, v float64)) {
	ratio := math.Exp(theta * h)
	w, carried := 0.0, 31
	for j, m := range p.mass {
		if carried++; carried < 32 && p.at[j] == p.at[j-1]+1 {
			w *= ratio
		} else {
			w, carried = math.Exp(theta*(p.offset+float64(p.at[j])*h)-scale), 0
		}
		if m != 0 {
			visit(j, m*w)
		}
	}
}

// logMoment returns log Σ massⱼ e^{θlⱼ}.
func logMoment(p summand, h, theta float64) float64 {
	// The shift keeps the largest weight near one.
	top := math.Inf(-1)
	for j := 0; j < len(p.mass); j += 16 {
		end := min(j+16, len(p.mass))
		m := 0.0
		for i := j; i < end; i++ {
			m = max(m, p.mass[i])
		}
		if m > 0 {
			edge := j
			if theta > 0 {
				edge = end - 1
			}
			top = max(top, math.Log(m)+theta*(p.offset+float64(p.at[edge])*h))
		}
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	p.tilted(h, theta, top, func(_ int, v float64) { sum += v })
	return top + math.Log(sum)
}

func (c *composer) multiply(p *product, count int) {
	n, coefErr := float64(count), c.coeErr
	for k, z := range c.coef {
		if p.mag[k] == 0 {
			continue
		}
		a2 := real(z)*real(z) + imag(z)*imag(z)
		a := math.Sqrt(a2) + coefErr
		if n*(1-a*a)/2 > 92 { // |z|ⁿ < 1e−39
			p.prod[k], p.mag[k] = 0, 0
			continue
		}
		r := n * (coefErr/a + 4*ulp)
		if count == 1 {
			p.prod[k] *= z
			p.mag[k] *= a
		} else {
			pow := power(z, count)
			p.prod[k] *= pow
			if r < 0.1 {
				p.mag[k] *= cmplx.Abs(pow) * (1 + 2*r)
			} else {
				p.mag[k] *= math.Exp(n * math.Log(a))
			}
		}
		p.relErr[k] += r
		if p.mag[k] < 1e-39 {
			p.prod[k], p.mag[k] = 0, 0
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
func (c *composer) invert(p *product, ch *channel) []float64 {
	size, wrong := 0.0, 0.0
	for k, m := range p.mag {
		w := 2.0
		if k == 0 || 2*k == c.n {
			w = 1
		}
		size += w * m
		wrong += w * m * min(2, p.relErr[k]*1.1)
	}
	n := float64(c.n)
	ch.eta = (wrong+c.coeErr*size)/n + 1e-38
	c.fft.backward(c.real, p.prod)
	out := c.out
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

// epsilonUpper returns the smallest ε ≥ 0 with a proven δ(ε) ≤ delta; ok is false if the window
// does not contain this ε.
func (ch *channel) epsilonUpper(delta float64) (eps float64, ok bool) {
	delta -= ch.inf + ch.above
	if !(delta > 0) {
		return math.Inf(1), false
	}
	return ch.scan(math.Log(delta)-ch.rel, func(v float64) float64 { return max(v, 0) + ch.eta }, 0)
}

// epsilonLower returns the largest ε with a proven δ(ε) ≥ delta.
func (ch *channel) epsilonLower(delta float64) (eps float64, ok bool) {
	if delta -= ch.inf; !(delta > 0) {
		return 0, false
	}
	return ch.scan(math.Log(delta)+ch.rel, func(v float64) float64 {
		return max(v-ch.eta, 0)
	}, ch.alias/(1+ch.theta))
}

// scan computes the hockey-stick curve from the top of the window down, until it exceeds the
// target:
//
//	u = Σ_{j≥k} P(lⱼ)e^{l_k−lⱼ},  d = δ(l_k);  δ(l_{k−1}) = d + (1−e^{−h})·u
//
// All values are scaled by the tilt at their loss. Every term is positive, so nothing cancels.
// Between grid points the curve is linear in e^ε, so the crossing is found exactly.
func (ch *channel) scan(logTarget float64, mass func(float64) float64,
	discount float64) (float64, bool) {
	fade, keep, gain := math.Exp(-ch.h*(1+ch.theta)), math.Exp(-ch.theta*ch.h), -math.Expm1(-ch.h)
	var u, d, target float64
	for k := len(ch.mass) - 1; k >= 0; k-- {
		l := ch.lossAt(k)
		if (len(ch.mass)-1-k)%32 == 0 || math.IsInf(target, 1) { // it overflows far above the answer
			target = math.Exp(logTarget + ch.theta*l - ch.logScale)
		}
		if !(target >= 1e-280) {
			return l + ch.h, false // every mass in the window is larger than δ
		}
		if l <= 0 {
			return 0, l > -ch.h/2 || k < len(ch.mass)-1
		}
		u = mass(ch.mass[k]) + fade*u
		next := keep * (d + gain*u)
		// After an overflow nothing is proven.
		if math.IsNaN(next) || math.IsInf(u, 1) {
			return math.Inf(1), false
		}
		if next-discount > target*keep {
			x := (target + discount - d) / u
			return max(0, l+math.Log1p(-min(max(x, 0), gain))), k < len(ch.mass)-1
		}
		d, target = next, target*keep
	}
	return ch.lossAt(0), false
}

// deltaAt computes the curve at one ε inside the window.
func (ch *channel) deltaAt(eps float64, mass func(float64) float64) (scaled float64, ok bool) {
	first := int64(math.Floor((eps-ch.base)/ch.h)) + 1 - ch.first
	if first < 0 || first >= int64(len(ch.mass)) {
		return 0, false
	}
	sum, w := 0.0, 0.0
	ratio := math.Exp(-ch.theta * ch.h)
	for k := int(first); k < len(ch.mass); k++ {
		y := max(0, ch.lossAt(k)-eps)
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
	return max(0, (s-ch.alias/(1+ch.theta))*math.Exp(ch.logScale-ch.theta*eps)*(1-2*ch.rel)) + ch.inf,
		true
}
