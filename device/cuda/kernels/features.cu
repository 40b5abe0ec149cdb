// Random Fourier features: cosines in the left half of a row and sines in the right half.
#include "math.h"

// src may be either half of dst: a thread reads its angle before it writes, and no other thread
// reads the numbers that it overwrites.
KERNEL(256) cos_sin(float *dst, long dst_stride, const float *src, long src_stride, float scale, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		float sine, cosine;
		sine_cosine(src[i * src_stride + j], &sine, &cosine);
		dst[i * dst_stride + j] = scale * cosine;
		dst[i * dst_stride + cols + j] = scale * sine;
	}
}
