// Gaussian noise, with the bits of the CPU for the same key. The key stream is AES-256 in counter
// mode; the sampler is the ziggurat of mechanism/internal/sampler. A draw is made here only if bounds
// on the rounding errors prove that the CPU makes the same; all other draws are left to the host.
#include "math.h"

typedef unsigned long word;

// buffer is the number of words of a stream that are made at a time: two for each of 256 threads.
// most bounds the draws in a buffer that need more than one word.
enum { buffer = 512, most = 32, layers = 512, below = 10 };

DEVICE unsigned turned(unsigned x, int by) { return x >> by | x << (32 - by); }
DEVICE unsigned reversed(unsigned x) { return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24; }
DEVICE word high(word a, word b) { return (word)((unsigned __int128)a * b >> 64); }

// times multiplies in the field of AES.
DEVICE unsigned times(unsigned a, unsigned b) {
	unsigned product = 0;
	for (; b; b >>= 1) {
		if (b & 1) product ^= a;
		a = a << 1 ^ (a & 0x80 ? 0x11bu : 0);
	}
	return product;
}

// round_table returns entry x of the table for a round: x^254 = 1/x, the affine map, and the column
// (2, 1, 1, 3) of the mix.
DEVICE unsigned round_table(unsigned x) {
	unsigned inverse = 1;
	for (int i = 0; i < 7; i++) {
		x = times(x, x);
		inverse = times(inverse, x);
	}
	unsigned wide = inverse | inverse << 8;
	unsigned s = (inverse ^ wide >> 4 ^ wide >> 5 ^ wide >> 6 ^ wide >> 7 ^ 0x63) & 0xff;
	return times(s, 2) << 24 | s << 16 | s << 8 | times(s, 3);
}

DEVICE unsigned mixed(const unsigned *table, unsigned a, unsigned b, unsigned c, unsigned d) {
	return table[a >> 24] ^ turned(table[b >> 16 & 255], 8) ^ turned(table[c >> 8 & 255], 16) ^ turned(table[d & 255], 24);
}

DEVICE unsigned last(const unsigned *table, unsigned a, unsigned b, unsigned c, unsigned d) {
	return (table[a >> 24] & 0xff00u) << 16 | (table[b >> 16 & 255] & 0xff00u) << 8 | (table[c >> 8 & 255] & 0xff00u) |
		(table[d & 255] >> 8 & 0xffu);
}

// encrypt makes the two words of one block of the key stream. Round keys have the first byte on top.
DEVICE void encrypt(word *to, const unsigned *table, const unsigned *keys, word first, word number) {
	unsigned a = reversed((unsigned)first) ^ keys[0], b = reversed((unsigned)(first >> 32)) ^ keys[1];
	unsigned c = (unsigned)(number >> 32) ^ keys[2], d = (unsigned)number ^ keys[3];
	for (int r = 4; r < 56; r += 4) {
		unsigned e = mixed(table, a, b, c, d) ^ keys[r], f = mixed(table, b, c, d, a) ^ keys[r + 1];
		unsigned g = mixed(table, c, d, a, b) ^ keys[r + 2], h = mixed(table, d, a, b, c) ^ keys[r + 3];
		a = e, b = f, c = g, d = h;
	}
	unsigned e = last(table, a, b, c, d) ^ keys[56], f = last(table, b, c, d, a) ^ keys[57];
	unsigned g = last(table, c, d, a, b) ^ keys[58], h = last(table, d, a, b, c) ^ keys[59];
	to[0] = (word)reversed(e) | (word)reversed(f) << 32;
	to[1] = (word)reversed(g) | (word)reversed(h) << 32;
}

// A layer of the ziggurat: see scaledLayer and layersOf in the sampler.
struct layer { word scaled, inner, width, floor, height; };

// sampler holds the numbers of sampler.Normal.
struct sampler { const layer *layers; word half, mask, edge; int shift; double std; };

DEVICE double signed_as(word size, word w) { return (double)(w >> (below - 1) & 1 ? -(long)size : (long)size); }

// fast reports whether a word alone decides a draw.
DEVICE int fast(const sampler *s, word w, double *steps) {
	const layer *l = &s->layers[w & (layers - 1)];
	word low = high(w >> below << below, l->scaled) + s->half;
	*steps = signed_as(low >> s->shift, w);
	return w < l->inner << below && (low & s->mask) < s->edge;
}

// exponential_of returns e⁻ˣ for 0 ≤ x < 700, with an error below 2⁻⁴⁶.
DEVICE double exponential_of(double x) {
	double k = __builtin_rint(x * 1.4426950408889634);
	double r = __builtin_fma(k, 0.6931471805599453, -x); // −x = −k ln 2 + r
	double sum = 1;
	for (int n = 18; n > 0; n--) sum = __builtin_fma(sum, r / n, 1);
	return sum * __builtin_bit_cast(double, (word)(1023 - (long)k) << 52);
}

// slack bounds the errors of both sides of a comparison with the curve, here and on the CPU.
#define SLACK 0x1p-38

// under reports whether a height within a layer lies under the curve: 1, 0, or −1 if that is not
// certain.
DEVICE int under(const layer *l, word number, word position, word height) {
	double span, left, tall;
	if (number >= 9) { // the chord decides nearly all cases
		double p = (double)position * 0x1p-54, inner = (double)l->inner * 0x1p-54;
		span = (1 - inner) * (1 + inner), left = (1 - p) * (1 + p);
		tall = (double)height * 0x1p-64 * span;
		if (tall < left - 1.0 / 64 * span - SLACK) return 1;
		if (tall > left + 0x1p-20 * span + SLACK) return 0;
	}
	double x = (double)position * 0x1p-54 * (double)l->width * 0x1p-60;
	double y = (double)l->floor * 0x1p-62 + (double)height * 0x1p-64 * (double)l->height * 0x1p-62;
	double curve = exponential_of(x * x / 2);
	return y < curve - SLACK ? 1 : y > curve + SLACK ? 0 : -1;
}

// reader reads the words that follow a word, as far as they are made.
struct reader { const word *words; int at, end; };

DEVICE word read(reader *r) {
	word w = r->words[r->at % (2 * buffer)];
	if (r->at < r->end) r->at++; // a draw that reads so far is not certain: see resolve
	return w;
}

// tail tries a draw beyond tailStart: an exponential number by von Neumann's comparisons, whose
// height under the curve is then compared. It returns 1 for a draw, 0 for none, and −1 if that is not
// certain.
DEVICE int tail(const sampler *s, reader *r, word *steps) {
	const double start = 4236460091310 * 0x1p-40;
	word first;
	int whole = 0;
	for (;; whole++) {
		first = read(r);
		word a = first, b = read(r);
		int length = 1;
		for (; b < a && r->at < r->end; length++) a = b, b = read(r);
		if (a == b || r->at >= r->end) return -1;
		if (length % 2 == 1) break;
	}
	double e = whole + (double)first * 0x1p-64, x = e / start;
	double v = (double)read(r) * 0x1p-64, curve = exponential_of(x * x / 2);
	if (v > curve + SLACK) return 0;
	if (!(v < curve - SLACK)) return -1;
	double slope = s->std / start, z = slope * e + (s->std * start + 0.5);
	double slack = z * 0x1p-47 + slope * 0x1p-61, k = __builtin_floor(z - slack);
	if (k != __builtin_floor(z + slack) || !(k < 0x1p51)) return -1;
	*steps = (word)(long)k;
	return 1;
}

// attempt makes the attempt that begins with a word that does not decide a draw alone. It returns 1
// for a draw, 0 for none, and −1 if that is not certain.
DEVICE int attempt(const sampler *s, reader *r, double *steps) {
	word w = read(r), number = w & (layers - 1), position = w >> below, k = 0;
	const word far = 16877549459219012; // sampler.tailFrom
	const layer *l = &s->layers[number];
	int is = -1;
	if (position >= l->inner && number == 0 && position > far) {
		is = tail(s, r, &k);
	} else if (position >= l->inner && !(number == 0 && position == far)) {
		is = under(l, number, position, read(r));
		word low = high(position << below, l->scaled) + s->half;
		if (is == 1 && (low & s->mask) >= s->edge) is = -1;
		k = low >> s->shift;
	}
	*steps = signed_as(k, w);
	return r->at < r->end ? is : -1;
}

// draw_noise fills steps with noise in steps of the grid. A block of threads draws a chunk of
// coordinates, from its own stream of words. counters holds the block of each stream's next word.
// status is set to the number of buffers that the CPU would have made for the chunk, or to −1 if a
// draw was not certain; the chunk is then undefined.
KERNEL(256) draw_noise(double *steps, int *status, const unsigned *keys, const word *counters, const layer *list,
	word half, word mask, word edge, int shift, double std, long dim, long chunk) {
	SHARED unsigned table[256], round_keys[60];
	SHARED word words[2 * buffer];
	SHARED word flags[buffer / 8]; // a byte for each word that does not decide a draw alone
	SHARED int from[most], to[most], lost[most], events, skip, over, certain;
	SHARED long made;
	sampler s = {list, half, mask, edge, shift, std};
	int t = (int)thread();
	unsigned char *rare = (unsigned char *)flags;
	table[t] = round_table((unsigned)t);
	if (t < 60) round_keys[t] = reversed(keys[t]);
	for (long c = block(); c * chunk < dim; c += blocks()) {
		long n = dim - c * chunk < chunk ? dim - c * chunk : chunk;
		double *out = steps + c * chunk;
		if (t == 0) made = 0, skip = 0, certain = 1;
		BARRIER();
		encrypt(words + 2 * t, table, round_keys, counters[2 * c], counters[2 * c + 1] + t);
		long b = 0;
		for (; made < n && certain; b++) {
			int base = b % 2 * buffer, next = buffer - base;
			encrypt(words + next + 2 * t, table, round_keys, counters[2 * c], counters[2 * c + 1] + (b + 1) * 256 + t);
			double own[2];
			for (int i = 0; i < 2; i++) rare[2 * t + i] = !fast(&s, words[base + 2 * t + i], &own[i]);
			BARRIER();
			if (t == 0) { // draws that need several words, in order
				int cursor = skip, away = 0;
				events = 0;
				for (int q = skip; q < buffer; q++) {
					if (q % 8 == 0 && flags[q / 8] == 0) q += 7;
					if (!rare[q] || q < cursor) continue;
					long at = made + q - skip - away;
					if (at >= n) break;
					reader r = {words, base + q, base + 2 * buffer};
					double value;
					int is = events < most ? attempt(&s, &r, &value) : -1;
					if (is < 0) {
						certain = 0;
						break;
					}
					if (is) out[at] = value;
					from[events] = q;
					to[events] = cursor = r.at - base;
					lost[events++] = away += cursor - q - is;
				}
				over = cursor > buffer ? cursor - buffer : 0;
			}
			BARRIER();
			int away = 0, e = 0;
			for (int i = 0; i < 2; i++) {
				int q = 2 * t + i;
				for (; e < events && to[e] <= q; e++) away = lost[e];
				long at = made + q - skip - away;
				if (q >= skip && !(e < events && from[e] <= q) && at < n) out[at] = own[i];
			}
			BARRIER();
			if (t == 0) {
				made += buffer + over - skip - (events ? lost[events - 1] : 0);
				skip = over;
			}
			BARRIER();
		}
		if (t == 0) status[c] = certain ? (int)(b + (skip > 0)) : -1;
		BARRIER();
	}
}

// noisy_sum adds the sum in whole units to noise in steps of the grid, and sets the units to zero.
// by is the size of a unit in steps. See sampler.RoundToGrid for the rounding.
KERNEL(256) noisy_sum(double *steps, int *units, double by, double grid, long dim) {
	EACH(n, dim) {
		double x = (double)units[n] * by;
		x = x < -0x1p51 ? -0x1p51 : x > 0x1p51 ? 0x1p51 : x;
		steps[n] = ((x + 0x1.8p52) - 0x1.8p52 + steps[n]) * grid;
		units[n] = 0;
	}
}

// adam_of_sum makes one step of Adam, as device.Adam.MoveSum does, and moves the average, if there is
// one.
KERNEL(256) adam_of_sum(float *p, const double *g, double scale, float *m, float *v, float *average, float mix,
	long count, float beta1, float rest1, float beta2, float rest2, float step, float root, float eps) {
	EACH(n, count) {
		float x = (float)(scale * g[n]), mean = fma32(rest1, x, beta1 * m[n]);
		float square = fma32(rest2, x * x, beta2 * v[n]);
		m[n] = mean;
		v[n] = square;
		float moved = p[n] - step * mean / fma32(root, __builtin_sqrtf(square), eps);
		p[n] = moved;
		if (average) average[n] += mix * (moved - average[n]);
	}
}
