package models

import "math"

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64-bit words. Its
// outputs for consecutive inputs look independent.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const golden = 0x9e3779b97f4a7c15

// keyedNormals fills dst with standard Gaussian numbers that depend on key alone, so a record gets
// the same draw in every batch. They are not privacy noise, which comes from package mechanism.
func keyedNormals(dst []float32, key uint64) {
	state := mix(key)
	for i := 0; i < len(dst); i += 2 {
		state += golden
		u := mix(state)
		state += golden
		v := mix(state)
		// (0,1] for the logarithm, [0,1) for the angle.
		radius := math.Sqrt(-2 * math.Log(float64(u>>11+1)*0x1p-53))
		sin, cos := math.Sincos(2 * math.Pi * float64(v>>11) * 0x1p-53)
		dst[i] = float32(radius * cos)
		if i+1 < len(dst) {
			dst[i+1] = float32(radius * sin)
		}
	}
}

// stream is a small counter-based generator for the public randomness of chains.
type stream struct{ state uint64 }

func newStream(seed, step, row uint64) stream {
	return stream{mix(mix(mix(seed)+golden*step) + golden*row)}
}

func (s *stream) next() uint64 {
	s.state += golden
	return mix(s.state)
}

// bernoulli replaces every probability in p with a draw of 0 or 1. NaN gives 0.
func (s *stream) bernoulli(p []float32) {
	for i := 0; i < len(p); i += 2 {
		u := s.next()
		p[i] = below(uint32(u>>40), p[i])
		if i+1 < len(p) {
			p[i+1] = below(uint32(u&0xffffff), p[i+1])
		}
	}
}

// level replaces the probabilities of one choice with a draw: a single 1 among zeros. If the
// probabilities add up to less than the uniform draw, or are NaN, the last level is drawn.
func (s *stream) level(p []float32) {
	u, chosen := float32(s.next()>>40)*0x1p-24, len(p)-1
	for j, v := range p {
		if u < v {
			chosen = j
			break
		}
		u -= v
	}
	clear(p)
	p[chosen] = 1
}

// below returns 1 if 24 uniform bits, as a fraction, are less than p, and 0 otherwise.
func below(bits uint32, p float32) float32 {
	if float32(bits)*0x1p-24 < p {
		return 1
	}
	return 0
}
