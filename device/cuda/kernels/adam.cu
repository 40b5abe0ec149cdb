// One step of Adam, with the bias corrections included in step and root.
#include "math.h"

KERNEL(256) adam(float *p, long p_stride, const float *g, long g_stride, float *m, long m_stride, float *v,
	long v_stride, long rows, long cols, float beta1, float rest1, float beta2, float rest2, float step, float root, float eps) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		float x = g[i * g_stride + j], *first = &m[i * m_stride + j], *second = &v[i * v_stride + j];
		float mean = fma32(beta1, *first, rest1 * x), square = fma32(beta2, *second, rest2 * (x * x));
		*first = mean;
		*second = square;
		p[i * p_stride + j] -= step * mean / fma32(__builtin_sqrtf(square), root, eps);
	}
}
