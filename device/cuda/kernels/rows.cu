// Reductions along rows. One group of lanes processes a row, and a block has four groups.
#include "math.h"

enum { groups = 4 };

// sum_lanes returns the sum of x over a group's lanes to all of these lanes. Every thread of the
// block must call it.
DEVICE double sum_lanes(double *room, double x) {
	long lane = thread() % lanes;
	room[thread()] = x;
	for (int half = lanes / 2; half > 0; half /= 2) {
		BARRIER();
		if (lane < half) room[thread()] += room[thread() + half];
	}
	BARRIER();
	double sum = room[thread() - lane];
	BARRIER();
	return sum;
}

DEVICE float larger(float a, float b) { return b > a || b != b ? b : a; }

// largest returns the largest x of a group's lanes to all of these lanes, or NaN if one x is NaN.
DEVICE float largest(float *room, float x) {
	long lane = thread() % lanes;
	room[thread()] = x;
	for (int half = lanes / 2; half > 0; half /= 2) {
		BARRIER();
		if (lane < half) room[thread()] = larger(room[thread()], room[thread() + half]);
	}
	BARRIER();
	float most = room[thread() - lane];
	BARRIER();
	return most;
}

// row_dots sets dst[i] = aᵢ·bᵢ with products and sums in double precision, so squares do not
// overflow or become zero.
KERNEL(128) row_dots(double *dst, const float *a, long a_stride, const float *b, long b_stride, long rows, long cols) {
	SHARED double room[groups * lanes];
	long lane = thread() % lanes, group = thread() / lanes;
	for (long first = block() * groups; first < rows; first += blocks() * groups) {
		long i = first + group;
		double sum = 0;
		for (long j = lane; i < rows && j < cols; j += lanes)
			sum += (double)a[i * a_stride + j] * (double)b[i * b_stride + j];
		sum = sum_lanes(room, sum);
		if (lane == 0 && i < rows) dst[i] = sum;
	}
}

KERNEL(128) softmax(float *m, long stride, long rows, long cols) {
	SHARED double sums[groups * lanes];
	SHARED float tops[groups * lanes];
	long lane = thread() % lanes, group = thread() / lanes;
	for (long first = block() * groups; first < rows; first += blocks() * groups) {
		long i = first + group;
		long n = i < rows ? cols : 0;
		float *row = m + i * stride, top = -infinity();
		for (long j = lane; j < n; j += lanes) top = larger(top, row[j]);
		top = largest(tops, top);
		double sum = 0;
		for (long j = lane; j < n; j += lanes) {
			row[j] = exponential(row[j] - top);
			sum += row[j];
		}
		float scale = (float)(1 / sum_lanes(sums, sum));
		for (long j = lane; j < n; j += lanes) row[j] *= scale;
	}
}
