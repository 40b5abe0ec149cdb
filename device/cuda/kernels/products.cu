// Products of matrices, and sums of products in whole units. A block of 64 threads computes a
// square tile of the result, and each thread own×own numbers of it. Every number of a product is one
// chain of multiply-adds in the order of its terms, whatever the size of tiles. So its bits depend
// on the two rows that it multiplies and on nothing else.
#include "math.h"

// depth is the number of terms that are loaded at a time, side the number of threads along a side
// of a tile, and quad the number of adjacent numbers of a thread.
enum { depth = 8, side = 8, quad = 4 };

// Sums stay in registers only if all functions are expanded and all loops over them unrolled.
#define INLINE DEVICE __attribute__((always_inline))
#define OWN(i) UNROLL for (int i = 0; i < own; i++)

template <int own> struct panel { alignas(16) float at[depth][side * own + quad]; };

// matrix describes an operand: term and index are the distances between terms and between rows or
// columns of the result. One of the two is 1.
struct matrix { const float *at; long term, index; };

// loader copies a panel of an operand. A thread copies own numbers, with the same distance between
// them in every panel. Numbers beyond the operand's end are replaced by blank.
template <int own> struct loader {
	const float *from;
	long term, step;
	int d, dd, c, dc, left;
	float blank, held[own];
};

// open prepares a loader for the tile that begins at row or column first, of count.
template <int own> INLINE loader<own> open(matrix m, int first, int count, float blank) {
	int t = (int)thread(), wide = side * own;
	loader<own> l;
	if (m.term == 1) { // adjacent threads copy adjacent terms
		l.d = t % depth, l.dd = 0, l.c = t / depth, l.dc = 64 / depth;
	} else {
		l.d = t / wide, l.dd = 64 / wide, l.c = t % wide, l.dc = 0;
	}
	l.term = m.term;
	l.step = l.dd * m.term + l.dc * m.index;
	l.from = m.at + l.d * m.term + (first + l.c) * m.index;
	l.left = count - first - l.c;
	l.blank = blank;
	return l;
}

// fetch loads terms k to k+depth−1, as far as they are below last.
template <int own> INLINE void fetch(loader<own> *l, int k, int last) {
	const float *from = l->from + k * l->term;
	OWN(n)
		l->held[n] = k + l->d + n * l->dd < last && n * l->dc < l->left ? from[n * l->step] : l->blank;
}

// put stores what fetch loaded, times a factor.
template <int own> INLINE void put(const loader<own> *l, panel<own> *to, float by) {
	OWN(n) to->at[l->d + n * l->dd][l->c + n * l->dc] = by * l->held[n];
}

// place returns the row or the column of number i of the thread that is t-th along its side.
DEVICE int place(int t, int i) { return i / quad * (side * quad) + t * quad + i % quad; }

// add adds the terms of two panels to a thread's sums.
template <int own> INLINE void add(float sum[own][own], const panel<own> *a, const panel<own> *b) {
	int y = (int)thread() / side, x = (int)thread() % side;
	UNROLL for (int d = 0; d < depth; d++) {
		float p[own], q[own];
		UNROLL for (int i = 0; i < own; i += quad) {
			LOAD_QUAD(p + i, &a->at[d][place(y, i)]);
			LOAD_QUAD(q + i, &b->at[d][place(x, i)]);
		}
		OWN(i) OWN(j) sum[i][j] = fma32(p[i], q[j], sum[i][j]);
	}
}

// multiply computes a tile of C = α A B + β C. The blank terms 0·(−0) change no sum.
template <int own> INLINE void multiply(float *c, long c_stride, float alpha, float beta, matrix a, matrix b, int m,
	int n, int k, long across) {
	SHARED panel<own> left, right;
	int y0 = (int)(block() / across) * (side * own), x0 = (int)(block() % across) * (side * own);
	int y = (int)thread() / side, x = (int)thread() % side;
	float sum[own][own];
	OWN(i)
		OWN(j) {
			int row = y0 + place(y, i), col = x0 + place(x, j);
			sum[i][j] = beta != 0 && row < m && col < n ? beta * c[row * c_stride + col] : 0;
		}
	loader<own> la = open<own>(a, y0, m, 0), lb = open<own>(b, x0, n, -0.f);
	fetch(&la, 0, k);
	fetch(&lb, 0, k);
	for (int at = 0; at < k; at += depth) {
		put(&la, &left, 1);
		put(&lb, &right, alpha);
		BARRIER();
		fetch(&la, at + depth, k);
		fetch(&lb, at + depth, k);
		add(sum, &left, &right);
		BARRIER();
	}
	OWN(i)
		OWN(j) {
			int row = y0 + place(y, i), col = x0 + place(x, j);
			if (row < m && col < n) c[row * c_stride + col] = sum[i][j];
		}
}

KERNEL(64) product_small(float *c, long c_stride, float alpha, float beta, const float *a, long a_term, long a_index,
	const float *b, long b_term, long b_index, int m, int n, int k, long across) {
	multiply<4>(c, c_stride, alpha, beta, {a, a_term, a_index}, {b, b_term, b_index}, m, n, k, across);
}

KERNEL(64) product_large(float *c, long c_stride, float alpha, float beta, const float *a, long a_term, long a_index,
	const float *b, long b_term, long b_index, int m, int n, int k, long across) {
	multiply<8>(c, c_stride, alpha, beta, {a, a_term, a_index}, {b, b_term, b_index}, m, n, k, across);
}

// thin_product computes a product with few columns. Eight lanes compute a number, each the chain of
// every eighth term.
KERNEL(256) thin_product(float *c, long c_stride, float alpha, float beta, const float *a, long a_stride,
	const float *b, long b_term, long b_index, long m, long n, long k) {
	SHARED float room[256];
	long lane = thread() % 8, total = m * n;
	for (long first = block() * 32; first < total; first += blocks() * 32) {
		long e = first + thread() / 8, i = e / n, j = e - i * n;
		float sum = 0;
		for (long l = lane; e < total && l < k; l += 8)
			sum = fma32(a[i * a_stride + l], alpha * b[l * b_term + j * b_index], sum);
		room[thread()] = sum;
		for (long half = 4; half > 0; half /= 2) {
			BARRIER();
			if (lane < half) room[thread()] += room[thread() + half];
		}
		if (lane == 0 && e < total) {
			float *to = &c[i * c_stride + j];
			*to = beta == 0 ? room[thread()] : room[thread()] + beta * *to;
		}
		BARRIER();
	}
}

// units_of returns the whole number of units nearest to w·x. The origin is 1.5·2²³ units, and the
// product is below 2²² units and never halfway between two.
DEVICE unsigned units_of(float w, float x, float origin) { return as_bits(fma32(w, x, origin)) - as_bits(origin); }

// add_units adds a tile of AᵀD, in units, to the sum. The terms are divided into groups of the given
// length, and a row of blocks adds `each` groups. If w is null, a group is a chain that starts at
// the origin. Otherwise it is the product of one record, which is multiplied by the record's weight
// and then rounded. Integers may be added in any order.
template <int own> INLINE void add_units(unsigned *units, float origin, matrix a, matrix d, const float *w, int in,
	int out, int terms, int length, int each, long across) {
	SHARED panel<own> left, right;
	int y0 = (int)(block() / across) * (side * own), x0 = (int)(block() % across) * (side * own);
	int y = (int)thread() / side, x = (int)thread() % side;
	float start = w ? 0 : origin, sum[own][own];
	unsigned total[own][own];
	OWN(i)
		OWN(j) sum[i][j] = start, total[i][j] = 0;
	int group = (int)block_row() * each, at = group * length;
	int stop = terms - at < each * length ? terms : at + each * length;
	int last = stop - at < length ? stop : at + length;
	loader<own> la = open<own>(a, y0, in, 0), ld = open<own>(d, x0, out, -0.f);
	fetch(&la, at, last);
	fetch(&ld, at, last);
	while (at < stop) {
		put(&la, &left, 1);
		put(&ld, &right, 1);
		BARRIER();
		int ends = last - at <= depth;
		at = ends ? last : at + depth;
		if (ends) last = stop - at < length ? stop : at + length;
		fetch(&la, at, last);
		fetch(&ld, at, last);
		add(sum, &left, &right);
		if (ends) {
			float by = w ? w[group] : 1;
			group++;
			OWN(i)
				OWN(j) {
					if (!w) total[i][j] += as_bits(sum[i][j]) - as_bits(origin);
					if (w && by != 0) total[i][j] += units_of(by, sum[i][j], origin);
					sum[i][j] = start;
				}
		}
		BARRIER();
	}
	OWN(i)
		OWN(j) {
			long row = y0 + place(y, i), col = x0 + place(x, j);
			if (row < in && col < out) ADD_WHOLE(&units[row * out + col], total[i][j]);
		}
}

KERNEL(64) fixed_small(unsigned *units, float origin, const float *a, long a_stride, const float *d, long d_stride,
	const float *w, int in, int out, int terms, int length, int each, long across) {
	add_units<4>(units, origin, {a, a_stride, 1}, {d, d_stride, 1}, w, in, out, terms, length, each, across);
}

KERNEL(64) fixed_large(unsigned *units, float origin, const float *a, long a_stride, const float *d, long d_stride,
	const float *w, int in, int out, int terms, int length, int each, long across) {
	add_units<8>(units, origin, {a, a_stride, 1}, {d, d_stride, 1}, w, in, out, terms, length, each, across);
}

// fixed_rows adds the units of Σ wᵢmᵢ. A thread adds `each` rows of one column.
KERNEL(256) fixed_rows(unsigned *units, float origin, const float *w, const float *m, long m_stride, long rows,
	long cols, long each) {
	EACH(n, (rows + each - 1) / each * cols) {
		long part = n / cols, j = n - part * cols;
		unsigned total = 0;
		for (long i = part * each; i < rows && i < (part + 1) * each; i++)
			if (w[i] != 0) total += units_of(w[i], m[i * m_stride + j], origin);
		ADD_WHOLE(&units[j], total);
	}
}

// fixed_lists adds the units of Sᵀ D, with ordered lists of the ones in each column of S. A row that
// is listed n times is one term.
KERNEL(256) fixed_lists(unsigned *units, float origin, const int *offsets, const unsigned *lists, const float *d,
	long d_stride, long items, long cols) {
	EACH(n, items * cols) {
		long i = n / cols, j = n - i * cols;
		unsigned total = 0;
		for (int at = offsets[i], next; at < offsets[i + 1]; at = next) {
			for (next = at + 1; next < offsets[i + 1] && lists[next] == lists[at];) next++;
			total += units_of((float)(next - at), d[(long)lists[at] * d_stride + j], origin);
		}
		units[n] += total;
	}
}

// scale_odd multiplies rows by weights and sets the last bit of every product. Products that are not
// normal numbers become 0.
KERNEL(256) scale_odd(float *dst, long dst_stride, const float *m, long m_stride, const float *w, long rows,
	long cols) {
	EACH(n, rows * cols) {
		long i = n / cols, j = n - i * cols;
		float x = w[i] * m[i * m_stride + j];
		dst[i * dst_stride + j] = magnitude(x) >= 0x1p-126f && magnitude(x) < infinity() ? as_float(as_bits(x) | 1) : 0;
	}
}
