// Element-wise functions, their gradients and arithmetic. A matrix without gaps is passed as one
// row.
#include "math.h"

// The values of device.Func.
enum { identity, relu, leaky_relu, tanh_, sigmoid, softplus, exp_, log_ };
#define LEAKY_SLOPE 0.2f

DEVICE float value(int f, float x) {
	switch (f) {
	case relu: return x < 0 ? 0 : x;
	case leaky_relu: return x < 0 ? LEAKY_SLOPE * x : x;
	case tanh_: return hyperbolic_tangent(x);
	case sigmoid: return logistic(x);
	case softplus: return softened(x);
	case exp_: return exponential(x);
	case log_: return logarithm(x);
	}
	return x;
}

// times_slope returns d·f′, computed from the value y of f.
DEVICE float times_slope(int f, float d, float y) {
	switch (f) {
	case relu: return y <= 0 ? 0 : d;
	case leaky_relu: return y <= 0 ? LEAKY_SLOPE * d : d;
	case tanh_: return d * (1 - y * y);
	case sigmoid: return d * (y * (1 - y));
	case softplus: return d * -exponential_less_one(-y);
	case exp_: return d * y;
	case log_: return d * exponential(-y);
	}
	return d;
}

KERNEL(256) apply(int f, float *dst, long dst_stride, const float *src, long src_stride, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		dst[i * dst_stride + j] = value(f, src[i * src_stride + j]);
	}
}

KERNEL(256) bias_apply(int f, float *m, long stride, const float *bias, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols, at = i * stride + j;
		m[at] = value(f, m[at] + bias[j]);
	}
}

KERNEL(256) gradient(int f, float *delta, long delta_stride, const float *out, long out_stride, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols, at = i * delta_stride + j;
		delta[at] = times_slope(f, delta[at], out[i * out_stride + j]);
	}
}

KERNEL(256) axpy(float alpha, const float *x, long x_stride, float *y, long y_stride, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols, at = i * y_stride + j;
		y[at] = fma32(alpha, x[i * x_stride + j], y[at]);
	}
}

KERNEL(256) multiply(float *dst, long dst_stride, const float *a, long a_stride, const float *b, long b_stride,
	long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		dst[i * dst_stride + j] = a[i * a_stride + j] * b[i * b_stride + j];
	}
}

KERNEL(256) subtract(float *dst, long dst_stride, const float *a, long a_stride, const float *b, long b_stride,
	long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		dst[i * dst_stride + j] = a[i * a_stride + j] - b[i * b_stride + j];
	}
}

KERNEL(256) fill(float *m, long stride, float v, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		m[i * stride + j] = v;
	}
}

// scale_all multiplies by one factor. A factor of zero sets every number to zero, NaN included.
KERNEL(256) scale_all(float *m, long stride, float by, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols, at = i * stride + j;
		m[at] = by == 0 ? 0 : by * m[at];
	}
}

KERNEL(256) scale_rows(float *m, long stride, const float *by, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		m[i * stride + j] *= by[i];
	}
}
