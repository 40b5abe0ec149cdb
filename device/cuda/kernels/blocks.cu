// Squared norms of products of blocks, with float32 products in tiles of 32×32 and sums of squares
// in double precision. A block of 64 threads computes one tile of one record and stores its sum in
// part. A finish kernel adds up these sums and adds the bound on the rounding error.
#include "math.h"

// tile is the side of a tile, depth the number of terms of a chain that are loaded at a time, and
// own the side of one thread's part of the tile.
enum { tile = 32, depth = 8, own = 4 };

struct tiles { float a[depth][tile + 1], b[depth][tile + 1]; };

// load_across loads numbers (k + d, first + c) of m for c in a tile: the chain runs along rows of
// m.
DEVICE void load_across(float to[depth][tile + 1], const float *m, long stride, long k, long chain, long first,
	long cols) {
	for (long n = thread(); n < depth * tile; n += threads()) {
		long d = n / tile, c = n % tile;
		to[d][c] = k + d < chain && first + c < cols ? m[(k + d) * stride + first + c] : 0;
	}
}

// load_along loads numbers (first + c, k + d) of m: the chain runs along columns of m.
DEVICE void load_along(float to[depth][tile + 1], const float *m, long stride, long k, long chain, long first,
	long rows) {
	for (long n = thread(); n < depth * tile; n += threads()) {
		long d = n % depth, c = n / depth;
		to[d][c] = k + d < chain && first + c < rows ? m[(first + c) * stride + k + d] : 0;
	}
}

// add adds the loaded terms to the chains of a thread's part. Every thread of the block must call
// it.
DEVICE void add(float sum[own][own], tiles *room) {
	long y = thread() / (tile / own) * own, x = thread() % (tile / own) * own;
	BARRIER();
	for (int d = 0; d < depth; d++)
		for (int i = 0; i < own; i++)
			for (int j = 0; j < own; j++) sum[i][j] = fma32(room->a[d][y + i], room->b[d][x + j], sum[i][j]);
	BARRIER();
}

// leave adds up x over the threads of the block and stores the sum in part.
DEVICE void leave(double *room, double *part, double x) {
	room[thread()] = x;
	for (long half = threads() / 2; half > 0; half /= 2) {
		BARRIER();
		if (thread() < half) room[thread()] += room[thread() + half];
	}
	if (thread() == 0) *part = room[0];
}

// block_products sums the squares of one tile of AᵀD.
KERNEL(64) block_products(double *part, const float *a, long a_stride, const float *d, long d_stride, long size,
	long in, long out, long across, long count) {
	SHARED tiles room;
	SHARED double sums[64];
	long record = block() / count, at = block() % count, k0 = at / across * tile, l0 = at % across * tile;
	a += record * size * a_stride;
	d += record * size * d_stride;
	float g[own][own] = {};
	for (long r = 0; r < size; r += depth) {
		load_across(room.a, a, a_stride, r, size, k0, in);
		load_across(room.b, d, d_stride, r, size, l0, out);
		add(g, &room);
	}
	double sum = 0;
	long y = k0 + thread() / (tile / own) * own, x = l0 + thread() % (tile / own) * own;
	for (int i = 0; i < own; i++)
		for (int j = 0; j < own; j++)
			if (y + i < in && x + j < out) sum += (double)g[i][j] * (double)g[i][j];
	leave(sums, part + block(), sum);
}

// block_grams multiplies one tile of AAᵀ and DDᵀ element by element and sums the products.
KERNEL(64) block_grams(double *part, const float *a, long a_stride, const float *d, long d_stride, long size, long in,
	long out, long across, long count) {
	SHARED tiles room;
	SHARED double sums[64];
	long record = block() / count, at = block() % count, r0 = at / across * tile, s0 = at % across * tile;
	a += record * size * a_stride;
	d += record * size * d_stride;
	float g[own][own] = {}, h[own][own] = {};
	for (long k = 0; k < in; k += depth) {
		load_along(room.a, a, a_stride, k, in, r0, size);
		load_along(room.b, a, a_stride, k, in, s0, size);
		add(g, &room);
	}
	for (long k = 0; k < out; k += depth) {
		load_along(room.a, d, d_stride, k, out, r0, size);
		load_along(room.b, d, d_stride, k, out, s0, size);
		add(h, &room);
	}
	double sum = 0;
	long y = r0 + thread() / (tile / own) * own, x = s0 + thread() % (tile / own) * own;
	for (int i = 0; i < own; i++)
		for (int j = 0; j < own; j++)
			if (y + i < size && x + j < size) sum += (double)g[i][j] * (double)h[i][j];
	leave(sums, part + block(), sum);
}

// row_sizes holds Σ‖a‖, Σ‖d‖ and Σ‖a‖‖d‖ over a record's rows, computed from squared norms.
struct row_sizes { double a, d, both; };

DEVICE row_sizes sizes_of(const double *a, const double *d, long size) {
	row_sizes s = {0, 0, 0};
	for (long r = 0; r < size; r++) {
		double x = __builtin_sqrt(a[r]), y = __builtin_sqrt(d[r]);
		s.a += x;
		s.d += y;
		s.both += x * y;
	}
	return s;
}

DEVICE double sum_of(const double *part, long count) {
	double sum = 0;
	for (long n = 0; n < count; n++) sum += part[n];
	return sum;
}

// finish_products adds relative·Σ‖a‖‖d‖ + absolute, the bound on the error, to each norm.
KERNEL(256) finish_products(double *dst, const double *part, long count, const double *a, const double *d, long size,
	long records, double relative, double absolute) {
	EACH(i, records) {
		double norm = __builtin_sqrt(sum_of(part + i * count, count));
		norm += relative * sizes_of(a + i * size, d + i * size, size).both + absolute;
		dst[i] = norm * norm;
	}
}

// finish_grams adds slack·(Σ‖a‖‖d‖)² + under_a·(Σ‖d‖)² + under_d·(Σ‖a‖)² + under_both, the bound on
// the error, to each squared norm. Negative sums become 0, and NaN stays NaN.
KERNEL(256) finish_grams(double *dst, const double *part, long count, const double *a, const double *d, long size,
	long records, double slack, double under_a, double under_d, double under_both) {
	EACH(i, records) {
		double sum = sum_of(part + i * count, count);
		row_sizes s = sizes_of(a + i * size, d + i * size, size);
		dst[i] = (sum < 0 ? 0 : sum) + slack * s.both * s.both + under_a * s.d * s.d + under_d * s.a * s.a + under_both;
	}
}
