// A device simulated by the host: the part of CUDA's driver that package cuda uses.
// Kernels are the package's own sources, compiled as C++. The simulation is stricter than a real
// driver: new memory is filled with NaN, copies must stay inside one allocation, and every call
// must have a context.
//
// FAKE_CUDA_DEVICES is the number of devices (default 1). FAKE_CUDA_BYTES is the size of their
// memory (default: no limit). With FAKE_CUDA_BACKWARDS=1, blocks and the threads of a block run
// from the last to the first. A kernel that lacks a barrier gives wrong results in one of the two
// orders. FAKE_CUDA_TRACE names a file to which every launch, with its arguments as whole numbers, and
// every copy is written. Kernels do not run then, and numbers mean nothing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "../../kernels/math.h"

namespace adam_file {
#include "../../kernels/adam.cu"
}
namespace blocks_file {
#include "../../kernels/blocks.cu"
}
namespace columns_file {
#include "../../kernels/columns.cu"
}
namespace elementwise_file {
#include "../../kernels/elementwise.cu"
}
namespace features_file {
#include "../../kernels/features.cu"
}
namespace images_file {
#include "../../kernels/images.cu"
}
namespace noise_file {
#include "../../kernels/noise.cu"
}
namespace products_file {
#include "../../kernels/products.cu"
}
namespace rows_file {
#include "../../kernels/rows.cu"
}
namespace sparse_file {
#include "../../kernels/sparse.cu"
}

fake_position fake_at;

namespace {

// Errors of the driver, by their numbers.
enum { success = 0, invalid_value = 1, out_of_memory = 2, no_device = 100, invalid_device = 101, invalid_image = 200,
	invalid_context = 201, not_found = 500, illegal_address = 700 };

std::mutex lock;

FILE *const trace = getenv("FAKE_CUDA_TRACE") ? fopen(getenv("FAKE_CUDA_TRACE"), "w") : nullptr;

int setting(const char *name, long otherwise) {
	const char *value = getenv(name);
	return value ? atol(value) : otherwise;
}

// --- kernels

template <class... A, size_t... I> void unpack(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
	kernel(*static_cast<A *>(arguments[I])...);
}

template <class... A> constexpr size_t count(void (*)(A...)) { return sizeof...(A); }

template <auto kernel> void enter(void **arguments) {
	unpack(kernel, arguments, std::make_index_sequence<count(kernel)>());
}

template <class... A, size_t... I> void write(void (*)(A...), void **arguments, std::index_sequence<I...>) {
	(fprintf(trace, " %ld", sizeof(A) == 8 ? *(long *)arguments[I] : (long)*(int *)arguments[I]), ...);
}

template <auto kernel> void record(void **arguments) {
	write(kernel, arguments, std::make_index_sequence<count(kernel)>());
}

struct kernel {
	const char *name;
	void (*enter)(void **);
	void (*record)(void **);
	bool barriers; // threads wait for each other
	size_t arguments;
};

#define K(file, name, barriers) \
	{#name, enter<file##_file::name>, record<file##_file::name>, barriers, count(file##_file::name)}

const kernel kernels[] = {
	K(adam, adam, false), K(sparse, add_rows, false), K(elementwise, apply, false), K(elementwise, axpy, false),
	K(elementwise, bias_apply, false), K(blocks, block_grams, true), K(blocks, block_products, true),
	K(images, col2im, false), K(columns, column_slopes, true), K(columns, column_spreads, true),
	K(columns, column_sums, true), K(features, cos_sin, false), K(elementwise, fill, false),
	K(blocks, finish_grams, false), K(columns, finish_means, false), K(blocks, finish_products, false),
	K(columns, finish_scales, false), K(columns, finish_slopes, false), K(columns, finish_sums, false),
	K(elementwise, gradient, false), K(images, im2col, false), K(elementwise, multiply, false),
	K(columns, normalize, false), K(columns, normalize_gradient, false), K(rows, row_dots, true),
	K(elementwise, scale_all, false), K(elementwise, scale_rows, false), K(rows, softmax, true),
	K(elementwise, subtract, false), K(images, up_sample, false), K(images, up_sample_gradient, false),
	K(noise, adam_of_sum, false), K(noise, draw_noise, true), K(noise, noisy_sum, false),
	K(products, fixed_large, true), K(products, fixed_lists, false), K(products, fixed_rows, false),
	K(products, fixed_small, true), K(products, product_large, true), K(products, product_small, true),
	K(products, scale_odd, false), K(products, thin_product, true),
};

// If a kernel has barriers, the threads of a block are coroutines that take turns in order.
struct coroutine { ucontext_t at; std::vector<char> stack; bool done; };

std::vector<coroutine> team;
ucontext_t conductor;
unsigned current;
const kernel *playing;
void **playing_arguments;

const bool backwards = setting("FAKE_CUDA_BACKWARDS", 0);

// turn returns the thread or block that runs after n others.
unsigned turn(unsigned n, unsigned all) { return backwards ? all - 1 - n : n; }

void play() {
	playing->enter(playing_arguments);
	team[current].done = true;
	swapcontext(&team[current].at, &conductor);
}

void run_team(unsigned threads) {
	if (team.size() < threads) team.resize(threads);
	for (unsigned t = 0; t < threads; t++) {
		coroutine &c = team[t];
		c.stack.resize(64 << 10);
		c.done = false;
		getcontext(&c.at);
		c.at.uc_stack.ss_sp = c.stack.data();
		c.at.uc_stack.ss_size = c.stack.size();
		c.at.uc_link = nullptr;
		makecontext(&c.at, play, 0);
	}
	for (unsigned left = threads; left > 0;) {
		unsigned ended = 0;
		for (unsigned n = 0; n < threads; n++) {
			unsigned t = turn(n, threads);
			if (team[t].done) continue;
			current = fake_at.thread = t;
			swapcontext(&conductor, &team[t].at);
			ended += team[t].done;
		}
		if (ended != 0 && ended != left) {
			fprintf(stderr, "fake: in %s, threads of one block do not meet at the same barriers\n", playing->name);
			abort();
		}
		left -= ended;
	}
}

void run_block(unsigned threads) {
	if (playing->barriers) {
		run_team(threads);
		return;
	}
	for (unsigned n = 0; n < threads; n++) {
		fake_at.thread = turn(n, threads);
		playing->enter(playing_arguments);
	}
}

// --- memory

std::map<uintptr_t, size_t> allocations;
size_t allocated;

bool inside(uint64_t at, size_t bytes) {
	auto next = allocations.upper_bound(at);
	if (next == allocations.begin()) return false;
	auto it = std::prev(next);
	return at + bytes <= it->first + it->second;
}

struct module { std::string ptx; };

thread_local void *context;
int the_context;
int retained; // number of times that the context was retained

} // namespace

void fake_barrier() { swapcontext(&team[current].at, &conductor); }

#define API extern "C" __attribute__((visibility("default"))) int
#define LOCKED() std::lock_guard<std::mutex> held(lock); if (context != &the_context) return invalid_context

API cuInit(unsigned) { return setting("FAKE_CUDA_DEVICES", 1) > 0 ? success : no_device; }

API cuDriverGetVersion(int *version) {
	*version = 12060;
	return success;
}

API cuDeviceGetCount(int *n) {
	*n = setting("FAKE_CUDA_DEVICES", 1);
	return success;
}

API cuDeviceGet(int *device, int ordinal) {
	*device = ordinal;
	return ordinal >= 0 && ordinal < setting("FAKE_CUDA_DEVICES", 1) ? success : invalid_device;
}

API cuDeviceGetName(char *name, int room, int) {
	snprintf(name, room, "fake");
	return success;
}

API cuDevicePrimaryCtxRetain(void **made, int) {
	std::lock_guard<std::mutex> held(lock);
	retained++;
	*made = &the_context;
	return success;
}

API cuDevicePrimaryCtxRelease_v2(int) {
	std::lock_guard<std::mutex> held(lock);
	return retained-- > 0 ? success : invalid_context;
}

API cuCtxSetCurrent(void *wanted) {
	std::lock_guard<std::mutex> held(lock);
	if (wanted && (wanted != &the_context || retained < 1)) return invalid_context;
	context = wanted;
	return success;
}

API cuCtxSynchronize() {
	LOCKED();
	return success;
}

API cuMemAlloc_v2(uint64_t *at, size_t bytes) {
	LOCKED();
	long limit = setting("FAKE_CUDA_BYTES", 0);
	if (limit && allocated + bytes > (size_t)limit) return out_of_memory;
	void *p = malloc(bytes);
	memset(p, trace ? 0 : 0xff, bytes);
	allocations[(uintptr_t)p] = bytes;
	allocated += bytes;
	*at = (uintptr_t)p;
	return success;
}

API cuMemGetInfo_v2(size_t *spare, size_t *all) {
	LOCKED();
	long limit = setting("FAKE_CUDA_BYTES", 0);
	*all = limit ? limit : 1L << 34;
	*spare = *all > allocated ? *all - allocated : 0;
	return success;
}

API cuMemFree_v2(uint64_t at) {
	LOCKED();
	auto it = allocations.find(at);
	if (it == allocations.end()) return invalid_value;
	allocated -= it->second;
	allocations.erase(it);
	free((void *)at);
	return success;
}

API cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
	LOCKED();
	if (!inside(to, bytes)) return illegal_address;
	if (trace) fprintf(trace, "up %zu\n", bytes);
	memcpy((void *)to, from, bytes);
	return success;
}

API cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
	LOCKED();
	if (!inside(from, bytes)) return illegal_address;
	memcpy(to, (void *)from, bytes);
	if (trace) {
		static double other = 0;
		other++; // what comes back is never the same twice
		for (size_t i = 0; i < bytes / 8; i++) ((double *)to)[i] = other;
		fprintf(trace, "down %zu\n", bytes);
		fflush(trace);
	}
	return success;
}

API cuMemsetD32_v2(uint64_t at, unsigned v, size_t n) {
	LOCKED();
	if (!inside(at, 4 * n)) return illegal_address;
	for (size_t i = 0; i < n; i++) ((unsigned *)at)[i] = v;
	return success;
}

API cuModuleLoadData(void **loaded, const void *image) {
	LOCKED();
	std::string ptx = (const char *)image;
	if (ptx.find(".version") == std::string::npos) return invalid_image;
	*loaded = new module{ptx};
	return success;
}

// cuModuleGetFunction finds a kernel that exists in the PTX and here, with equal numbers of
// arguments.
API cuModuleGetFunction(void **function, void *in, const char *name) {
	LOCKED();
	const std::string &ptx = ((module *)in)->ptx;
	size_t begin = ptx.find(".entry " + std::string(name) + "(");
	if (begin == std::string::npos) return not_found;
	size_t end = ptx.find(")", begin), arguments = 0;
	for (size_t at = begin; (at = ptx.find(".param", at + 1)) < end;) arguments++;
	for (const kernel &k : kernels)
		if (strcmp(k.name, name) == 0) {
			if (k.arguments != arguments) return invalid_image;
			*function = (void *)&k;
			return success;
		}
	return not_found;
}

API cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
	unsigned, void *, void **arguments, void **) {
	LOCKED();
	if (x < 1 || y < 1 || y > 65535 || z != 1 || threads < 1 || threads > 1024 || ty != 1 ||
		tz != 1) return invalid_value;
	playing = (const kernel *)function;
	playing_arguments = arguments;
	if (trace) {
		fprintf(trace, "%s %u %u %u", playing->name, x, y, threads);
		playing->record(arguments);
		fprintf(trace, "\n");
		return success;
	}
	fake_at.threads = threads;
	fake_at.blocks = x;
	for (unsigned row = 0; row < y; row++)
		for (unsigned n = 0; n < x; n++) {
			fake_at.block = turn(n, x);
			fake_at.row = row;
			run_block(threads);
		}
	return success;
}
