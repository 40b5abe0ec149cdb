// Products with sparse matrices of zeros and ones.
#include "math.h"

// add_rows sets row i of dst to β times row i plus the sum of the rows of src that list i names. It
// computes S W with lists of the ones in each row of S, and Sᵀ D with lists of the ones in each
// column of S.
KERNEL(256) add_rows(float *dst, long dst_stride, float beta, const int *offsets, const unsigned *lists,
	const float *src, long src_stride, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		float *to = &dst[i * dst_stride + j], sum = beta == 0 ? 0 : beta * *to;
		for (int at = offsets[i]; at < offsets[i + 1]; at++) sum += src[(long)lists[at] * src_stride + j];
		*to = sum;
	}
}
