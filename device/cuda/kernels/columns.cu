// Reductions along columns, in two launches. In the first, each block sums 32 columns over a
// segment of the rows, in double precision, and stores the sums in part (segments×cols). In the
// second, a finish kernel adds up the segments in order.
#include "math.h"

enum { steps = 8 }; // number of rows that a block processes at the same time

// place describes the numbers that a thread sums up.
struct place { long col, row, end; };

DEVICE place find(long rows, long cols, long segments) {
	long size = (rows + segments - 1) / segments, first = block_row() * size;
	place p = {block() * lanes + thread() % lanes, first + thread() / lanes, first + size < rows ? first + size : rows};
	if (p.col >= cols) p.end = 0;
	return p;
}

// leave adds up x over the block's threads for the same column and stores the sums in part.
DEVICE void leave(double *room, double *part, double x, long cols) {
	long lane = thread() % lanes, step = thread() / lanes;
	room[thread()] = x;
	for (int half = steps / 2; half > 0; half /= 2) {
		BARRIER();
		if (step < half) room[thread()] += room[thread() + half * lanes];
	}
	long col = block() * lanes + lane;
	if (step == 0 && col < cols) part[block_row() * cols + col] = room[thread()];
	BARRIER();
}

// column_sums sums up weighted rows; null weights mean that all weights are 1.
KERNEL(256) column_sums(double *part, const float *weights, const float *m, long stride, long rows, long cols,
	long segments) {
	SHARED double room[steps * lanes];
	place p = find(rows, cols, segments);
	double sum = 0;
	for (long i = p.row; i < p.end; i += steps)
		sum += (double)m[i * stride + p.col] * (weights ? (double)weights[i] : 1);
	leave(room, part, sum, cols);
}

// column_spreads sums up squared deviations from the means.
KERNEL(256) column_spreads(double *part, const double *means, const float *m, long stride, long rows, long cols,
	long segments) {
	SHARED double room[steps * lanes];
	place p = find(rows, cols, segments);
	double sum = 0;
	for (long i = p.row; i < p.end; i += steps) {
		double d = (double)m[i * stride + p.col] - means[p.col];
		sum += d * d;
	}
	leave(room, part, sum, cols);
}

// column_slopes sums up δ and δ·x̂.
KERNEL(256) column_slopes(double *totals, double *along, const float *delta, long delta_stride, const float *src,
	long src_stride, const float *stats, long stats_stride, long rows, long cols, long segments) {
	SHARED double room[steps * lanes];
	place p = find(rows, cols, segments);
	double total = 0, product = 0;
	for (long i = p.row; i < p.end; i += steps) {
		float d = delta[i * delta_stride + p.col];
		float hat = (src[i * src_stride + p.col] - stats[p.col]) * stats[stats_stride + p.col];
		total += d;
		product += (double)d * (double)hat;
	}
	leave(room, totals, total, cols);
	leave(room, along, product, cols);
}

DEVICE double total(const double *part, long segments, long cols, long j) {
	double sum = 0;
	for (long s = 0; s < segments; s++) sum += part[s * cols + j];
	return sum;
}

KERNEL(256) finish_sums(float *dst, const double *part, long segments, long cols, float beta) {
	EACH(j, cols) {
		double sum = total(part, segments, cols, j);
		dst[j] = (float)(beta == 0 ? sum : sum + (double)beta * (double)dst[j]);
	}
}

KERNEL(256) finish_means(float *stats, double *means, const double *part, long segments, long cols, double n) {
	EACH(j, cols) {
		means[j] = total(part, segments, cols, j) / n;
		stats[j] = (float)means[j];
	}
}

KERNEL(256) finish_scales(float *stats, const double *part, long segments, long cols, double n, float eps) {
	EACH(j, cols) stats[j] = (float)(1 / __builtin_sqrt(total(part, segments, cols, j) / n + (double)eps));
}

// finish_slopes stores the two sums in shift and gain, and their means over the rows in room
// (2×cols).
KERNEL(256) finish_slopes(float *gain, float *shift, float *room, const double *totals, const double *along,
	long segments, long cols, double n) {
	EACH(j, cols) {
		double sum = total(totals, segments, cols, j), product = total(along, segments, cols, j);
		shift[j] = (float)sum;
		gain[j] = (float)product;
		room[j] = (float)(sum / n);
		room[cols + j] = (float)(product / n);
	}
}

KERNEL(256) normalize(float *dst, long dst_stride, const float *src, long src_stride, const float *stats,
	long stats_stride, const float *gain, const float *shift, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		float hat = (src[i * src_stride + j] - stats[j]) * stats[stats_stride + j];
		dst[i * dst_stride + j] = gain[j] * hat + shift[j];
	}
}

// normalize_gradient sets delta to gain·scale·(δ − mean(δ) − x̂·mean(δx̂)).
KERNEL(256) normalize_gradient(float *delta, long delta_stride, const float *src, long src_stride, const float *stats,
	long stats_stride, const float *gain, const float *room, long rows, long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		float scale = stats[stats_stride + j], hat = (src[i * src_stride + j] - stats[j]) * scale;
		float *d = &delta[i * delta_stride + j];
		*d = gain[j] * scale * (*d - room[j] - hat * room[cols + j]);
	}
}
