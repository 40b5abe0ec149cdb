// Elementary functions in float32: Taylor polynomials after the usual reductions, accurate to about
// two units in the last place, with gradual underflow, infinities and NaN as in IEEE arithmetic.
// They use no device library, so a host that simulates the device computes the same bits.
#pragma once
#include "kernel.h"

DEVICE float as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
DEVICE unsigned as_bits(float x) { return __builtin_bit_cast(unsigned, x); }
DEVICE float fma32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE float magnitude(float x) { return as_float(as_bits(x) & 0x7fffffffu); }
DEVICE float infinity() { return as_float(0x7f800000u); }
DEVICE float not_a_number() { return as_float(0x7fc00000u); }

// power2 returns 2ᵏ for −126 ≤ k ≤ 127.
DEVICE float power2(int k) { return as_float((unsigned)(k + 127) << 23); }

// scaled returns x·2ᵏ, rounded once: the first product is always a normal number.
DEVICE float scaled(float x, int k) { return x * power2(k / 2) * power2(k - k / 2); }

// reduced returns x − k ln 2 for the nearest k. The product of k and the upper part of ln 2 is
// exact.
DEVICE float reduced(float x, float *k) {
	*k = __builtin_rintf(x * 1.44269504f);
	return fma32(-*k, -2.12194440e-4f, fma32(-*k, 0.693359375f, x));
}

// tail returns (eʳ − 1 − r)/r² for |r| ≤ ½ ln 2.
DEVICE float tail(float r) {
	float p = fma32(r, 1.f / 40320, 1.f / 5040);
	p = fma32(p, r, 1.f / 720);
	p = fma32(p, r, 1.f / 120);
	p = fma32(p, r, 1.f / 24);
	p = fma32(p, r, 1.f / 6);
	return fma32(p, r, 0.5f);
}

DEVICE float exponential(float x) {
	if (x != x) return x;
	if (x > 89) return infinity();
	if (x < -104) return 0;
	float k, r = reduced(x, &k);
	return scaled(1 + fma32(r * r, tail(r), r), (int)k);
}

// exponential_less_one returns eˣ − 1, which is also accurate near zero.
DEVICE float exponential_less_one(float x) {
	if (x != x) return x;
	if (x > 89) return infinity();
	if (x < -18) return -1;
	float k, r = reduced(x, &k);
	float e = fma32(r * r, tail(r), r);
	if (k == 0) return e;
	float half = power2((int)k - 1);
	return 2 * fma32(half, e, half - 0.5f);
}

// logarithm uses log(1+f) = f − (f²/2 − s (f²/2 + R)) with s = f/(2+f) and √½ ≤ 1+f < √2.
DEVICE float logarithm(float x) {
	if (x != x || x == infinity()) return x;
	if (x <= 0) return x == 0 ? -infinity() : not_a_number();
	int k = 0;
	if (x < 0x1p-126f) {
		x *= 0x1p25f;
		k = -25;
	}
	unsigned bits = as_bits(x);
	k += (int)(bits >> 23) - 127;
	float m = as_float((bits & 0x007fffffu) | 0x3f800000u);
	if (m > 1.41421356f) {
		m *= 0.5f;
		k++;
	}
	float f = m - 1, s = f / (2 + f), z = s * s, h = 0.5f * f * f, n = (float)k;
	float r = z * fma32(z, fma32(z, fma32(z, 2.f / 9, 2.f / 7), 2.f / 5), 2.f / 3);
	return fma32(n, 0.693359375f, f - (h - fma32(n, -2.12194440e-4f, s * (h + r))));
}

// logarithm_of_more returns log(1+u) for 0 ≤ u ≤ 1; the quotient corrects the rounding error of
// 1+u.
DEVICE float logarithm_of_more(float u) {
	float w = 1 + u, d = w - 1;
	return d == 0 ? u : logarithm(w) * (u / d);
}

DEVICE float hyperbolic_tangent(float x) {
	float a = magnitude(x);
	if (a > 10) return x < 0 ? -1 : 1;
	float e = exponential_less_one(2 * a), t = e / (e + 2);
	return x < 0 ? -t : t;
}

DEVICE float logistic(float x) {
	float e = exponential(-magnitude(x));
	return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

DEVICE float softened(float x) {
	if (x != x) return x;
	return (x > 0 ? x : 0) + logarithm_of_more(exponential(-magnitude(x)));
}

// two_over_pi holds the first bits of 2/π.
CONSTANT unsigned two_over_pi[6] = {0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u};

// far_angle returns the remainder r of x = k π/2 + r, and sets *quarter to k mod 4, for 2¹⁶ ≤ x <
// ∞. It multiplies x by the bits of 2/π that matter modulo four quarter turns.
//
// Source: Payne and Hanek, "Radian reduction for trigonometric functions", 1983.
DEVICE float far_angle(float x, int *quarter) {
	unsigned bits = as_bits(x);
	unsigned long m = (bits & 0x007fffffu) | 0x00800000u, word = 0xffffffffu;
	int e = (int)(bits >> 23) - 150, skip = e < 2 ? 0 : (e - 2) / 32;
	unsigned long low = m * two_over_pi[skip + 2];
	unsigned long middle = m * two_over_pi[skip + 1] + (low >> 32);
	unsigned long high = m * two_over_pi[skip] + (middle >> 32);
	low = (middle & word) << 32 | (low & word);
	int shift = 30 + e - 32 * skip; // between 23 and 63
	unsigned long turns = high << shift | low >> (64 - shift); // 2 bits of whole quarters and 62 of their fraction
	unsigned long nearest = (turns + (1ul << 61)) >> 62;
	*quarter = (int)(nearest & 3);
	return (float)((double)(long)(turns - (nearest << 62)) * (1.5707963267948966 * 0x1p-62));
}

// sine_cosine computes the sine and the cosine of x. Both are NaN if x is not finite.
DEVICE void sine_cosine(float x, float *sine, float *cosine) {
	float a = magnitude(x), r;
	int quarter = 0;
	if (!(a < infinity())) {
		*sine = *cosine = not_a_number();
		return;
	}
	if (a < 65536) {
		float k = __builtin_rintf(a * 0.636619772f);
		// The first difference is exact: both sides are multiples of the same unit, and it is less than one.
		r = fma32(-k, -4.37113883e-8f, fma32(-k, 1.57079637f, a));
		quarter = (int)k & 3;
	} else {
		r = far_angle(a, &quarter);
	}
	float z = r * r;
	float s = fma32(z, fma32(z, fma32(z, 1.f / 362880, -1.f / 5040), 1.f / 120), -1.f / 6);
	float c = fma32(z, fma32(z, fma32(z, -1.f / 3628800, 1.f / 40320), -1.f / 720), 1.f / 24);
	s = fma32(r * z, s, r);
	c = fma32(z * z, c, fma32(-0.5f, z, 1));
	float up = quarter & 1 ? c : s, across = quarter & 1 ? s : c;
	if (quarter & 2) up = -up;
	if ((quarter + 1) & 2) across = -across;
	*sine = x < 0 ? -up : up;
	*cosine = across;
}
