package pld

import "math"

// A transformer computes unnormalised Fourier transforms of real sequences and their inverses. Two
// neighbouring numbers form one complex number, and Stockham's passes have radix four, three and
// two. The transform of gonum is not used, because its speed varies severalfold with the address of
// the stack. Source: Van Loan 1992, Computational Frameworks for the Fast Fourier Transform,
// sections 1.7 and 4.3.
type transformer struct {
	n     int
	roots []complex128 // e^{−2πik/n}
	made  [2][]complex128
	next  int // index of made to replace next
	x, y  []complex128
}

// transformSize returns the smallest length of at least n that a transformer supports: a power of
// two, or three times a power of two.
func transformSize(n int) int {
	p := 64
	for p < n {
		p *= 2
	}
	if q := p / 4 * 3; q >= n {
		return q
	}
	return p
}

// reset prepares transforms of length n. The length must be one of the values of transformSize.
func (f *transformer) reset(n int) {
	f.n = n
	f.x, f.y = grown(f.x, n/2), grown(f.y, n/2)
	for _, r := range f.made {
		if len(r) == n {
			f.roots = r
			return
		}
	}
	r := grown(f.made[f.next], n)
	f.made[f.next], f.roots = r, r
	f.next = (f.next + 1) % len(f.made)
	rootsOfUnity(r)
}

// rootsOfUnity fills r with e^{−2πik/n}, where n = len(r) is a multiple of eight. It computes sines
// and cosines only of angles up to π/4.
func rootsOfUnity(r []complex128) {
	n := len(r)
	for k := 0; k <= n/8; k++ {
		s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		r[k] = complex(c, -s)
		r[n/4-k] = complex(s, -c)
	}
	for k := 1; k <= n/4; k++ {
		r[n/2-k] = complex(-real(r[k]), imag(r[k]))
	}
	for k := 1; k < n/2; k++ {
		r[n-k] = complex(real(r[k]), -imag(r[k]))
	}
	r[n/2] = -1
}

// forward computes the n/2+1 coefficients coef[k] = Σ seq[j]·e^{−2πijk/n}.
func (f *transformer) forward(coef []complex128, seq []float64) {
	m := f.n / 2
	for j := range f.x {
		f.x[j] = complex(seq[2*j], seq[2*j+1])
	}
	z := f.passes()
	coef[0] = complex(real(z[0])+imag(z[0]), 0)
	coef[m] = complex(real(z[0])-imag(z[0]), 0)
	for k := 1; k < m; k++ {
		a, b := z[k], z[m-k]
		even := complex((real(a)+real(b))/2, (imag(a)-imag(b))/2)
		odd := complex((imag(a)+imag(b))/2, (real(b)-real(a))/2)
		coef[k] = even + f.roots[k]*odd
	}
}

// backward computes seq[j] = Σ coef[k]·e^{2πijk/n} over all n coefficients. coef holds the first
// n/2+1 of them; the others follow by symmetry.
func (f *transformer) backward(seq []float64, coef []complex128) {
	m := f.n / 2
	// Compute the conjugate of the result, by a forward transform of conjugates.
	f.x[0] = complex(real(coef[0])+real(coef[m]), real(coef[m])-real(coef[0]))
	for k := 1; k < m; k++ {
		a, b := coef[k], coef[m-k]
		even := complex(real(a)+real(b), imag(a)-imag(b))
		odd := complex(real(a)-real(b), imag(a)+imag(b))
		w := f.roots[k]
		odd *= complex(real(w), -imag(w))
		f.x[k] = complex(real(even)-imag(odd), -imag(even)-real(odd))
	}
	for j, v := range f.passes() {
		seq[2*j], seq[2*j+1] = real(v), -imag(v)
	}
}

// passes transforms f.x and uses f.y as scratch. It returns f.x or f.y, whichever holds the result.
func (f *transformer) passes() []complex128 {
	x, y := f.x, f.y
	n, stride := f.n/2, 1
	if n%3 == 0 {
		f.three(y, x, n)
		x, y, n, stride = y, x, n/3, 3
	}
	for n > 1 {
		if n%4 == 0 {
			f.four(y, x, n, stride)
			n, stride = n/4, stride*4
		} else {
			two(y, x, stride)
			n, stride = 1, stride*2
		}
		x, y = y, x
	}
	return x
}

// four does one pass of radix four over the n points that are left, each of stride numbers.
func (f *transformer) four(y, x []complex128, n, stride int) {
	quarter := n / 4
	for q := range quarter {
		at := 2 * q * stride
		w1, w2, w3 := f.roots[at], f.roots[2*at], f.roots[3*at]
		a0 := x[stride*q:][:stride]
		a1 := x[stride*(q+quarter):][:stride]
		a2 := x[stride*(q+2*quarter):][:stride]
		a3 := x[stride*(q+3*quarter):][:stride]
		b0 := y[4*stride*q:][:stride]
		b1 := y[stride*(4*q+1):][:stride]
		b2 := y[stride*(4*q+2):][:stride]
		b3 := y[stride*(4*q+3):][:stride]
		for t := range a0 {
			s, d := a0[t]+a2[t], a0[t]-a2[t]
			u, v := a1[t]+a3[t], a1[t]-a3[t]
			v = complex(imag(v), -real(v)) // times −i
			b0[t] = s + u
			b1[t] = w1 * (d + v)
			b2[t] = w2 * (s - u)
			b3[t] = w3 * (d - v)
		}
	}
}

// three does the first pass, over n points, if n is a multiple of three.
func (f *transformer) three(y, x []complex128, n int) {
	const half = 0.8660254037844386467637231707529361834714 // √3/2
	third := n / 3
	for q := range third {
		a0, a1, a2 := x[q], x[q+third], x[q+2*third]
		s, d := a1+a2, a1-a2
		mid := complex(real(a0)-real(s)/2, imag(a0)-imag(s)/2)
		turn := complex(half*imag(d), -half*real(d))
		y[3*q] = a0 + s
		y[3*q+1] = f.roots[2*q] * (mid + turn)
		y[3*q+2] = f.roots[4*q] * (mid - turn)
	}
}

// two does the last pass if the number of points is an odd power of two.
func two(y, x []complex128, stride int) {
	a, b := x[:stride], x[stride:][:stride]
	c, d := y[:stride], y[stride:][:stride]
	for t := range a {
		c[t], d[t] = a[t]+b[t], a[t]-b[t]
	}
}
