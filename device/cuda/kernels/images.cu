// Windows over images, and doubled images. Every number of a result is computed by one thread.
#include "math.h"

// im2col copies the patch that the window sees at each place to one row of patches. A patch has
// size²·channels numbers.
KERNEL(256) im2col(float *patches, long patch_stride, const float *images, long image_stride, long count, long height,
	long width, long channels, long size, long step, long pad, long down, long across) {
	long patch = size * size * channels;
	EACH(n, count * down * across * patch) {
		long row = n / patch, at = n - row * patch, image = row / (down * across),
			place = row - image * (down * across);
		long c = at % channels, x = at / channels % size, y = at / channels / size;
		y += place / across * step - pad;
		x += place % across * step - pad;
		int inside = y >= 0 && y < height && x >= 0 && x < width;
		patches[row * patch_stride + at] = inside ? images[image * image_stride + (y * width + x) * channels + c] : 0;
	}
}

// col2im sets a pixel to the sum of its values in the windows that see it, in order.
KERNEL(256) col2im(float *images, long image_stride, const float *patches, long patch_stride, long count, long height,
	long width, long channels, long size, long step, long pad, long down, long across) {
	long length = height * width * channels;
	EACH(n, count * length) {
		long image = n / length, at = n - image * length, c = at % channels, x = at / channels % width,
			y = at / channels / width;
		float sum = 0;
		for (long ky = size - 1; ky >= 0; ky--) {
			long top = y + pad - ky, row = top / step;
			if (top < 0 || top % step || row >= down) continue;
			for (long kx = size - 1; kx >= 0; kx--) {
				long left = x + pad - kx, col = left / step;
				if (left < 0 || left % step || col >= across) continue;
				sum += patches[((image * down + row) * across + col) * patch_stride + (ky * size + kx) * channels + c];
			}
		}
		images[image * image_stride + at] = sum;
	}
}

// farther returns the neighbour of small pixel p/2 on the side of large pixel p; edges are
// repeated.
DEVICE long farther(long p, long n) {
	long q = p & 1 ? p / 2 + 1 : p / 2 - 1;
	return q < 0 ? 0 : q >= n ? n - 1 : q;
}

// share returns the weight of small pixel p in large pixel q.
DEVICE float share(int bilinear, long q, long p, long n) {
	if (!bilinear) return q / 2 == p ? 1 : 0;
	return (q / 2 == p ? 0.75f : 0) + (farther(q, n) == p ? 0.25f : 0);
}

KERNEL(256) up_sample(float *large, long large_stride, const float *small, long small_stride, long count, long height,
	long width, long channels, int bilinear) {
	long length = 4 * height * width * channels;
	EACH(n, count * length) {
		long image = n / length, at = n - image * length, c = at % channels, x = at / channels % (2 * width),
			y = at / channels / (2 * width);
		const float *from = small + image * small_stride + c;
		float v = from[(y / 2 * width + x / 2) * channels];
		if (bilinear) {
			long far_y = farther(y, height), far_x = farther(x, width);
			float here = 0.75f * v + 0.25f * from[(far_y * width + x / 2) * channels];
			float there = 0.75f * from[(y / 2 * width + far_x) * channels];
			there += 0.25f * from[(far_y * width + far_x) * channels];
			v = 0.75f * here + 0.25f * there;
		}
		large[image * large_stride + at] = v;
	}
}

// up_sample_gradient sums up, for each small pixel, at most four large pixels in each direction.
KERNEL(256) up_sample_gradient(float *small, long small_stride, const float *large, long large_stride, long count,
	long height, long width, long channels, int bilinear) {
	long length = height * width * channels;
	EACH(n, count * length) {
		long image = n / length, at = n - image * length, c = at % channels, x = at / channels % width,
			y = at / channels / width;
		const float *from = large + image * large_stride + c;
		float sum = 0;
		for (long v = 2 * y - 1; v <= 2 * y + 2; v++) {
			if (v < 0 || v >= 2 * height) continue;
			float weight = share(bilinear, v, y, height);
			if (weight == 0) continue;
			for (long u = 2 * x - 1; u <= 2 * x + 2; u++) {
				if (u < 0 || u >= 2 * width) continue;
				float both = weight * share(bilinear, u, x, width);
				if (both != 0) sum += both * from[(v * 2 * width + u) * channels];
			}
		}
		small[image * small_stride + at] = sum;
	}
}
