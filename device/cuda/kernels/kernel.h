// Definitions for all kernels: in CUDA C for a device and, with FAKE_DEVICE, in plain C++ for a
// host that simulates a device.
//
// Blocks are one-dimensional. Each argument has at most eight bytes. A matrix is a pointer and a
// stride; sizes and strides are in elements. Every sum of floating-point numbers has a fixed order,
// so results repeat. Only whole numbers are added with atomics, since their sum has no order.
#pragma once

#ifdef FAKE_DEVICE

// The driver in testdata/fake runs the threads of a block one after another; a barrier switches to
// the next thread.
struct fake_position { unsigned thread, threads, block, blocks, row; };
extern fake_position fake_at;
void fake_barrier();

#define KERNEL(threads) extern "C" void
#define DEVICE static inline
#define SHARED static
#define CONSTANT static const
#define BARRIER() fake_barrier()
#define ADD_WHOLE(to, n) (*(to) += (n))
#define UNROLL
#define LOAD_QUAD(to, from) for (int n = 0; n < 4; n++) (to)[n] = (from)[n]

DEVICE long thread() { return fake_at.thread; }
DEVICE long threads() { return fake_at.threads; }
DEVICE long block() { return fake_at.block; }
DEVICE long blocks() { return fake_at.blocks; }
DEVICE long block_row() { return fake_at.row; }

#else

#define KERNEL(threads) extern "C" __attribute__((global)) __attribute__((launch_bounds(threads))) void
#define DEVICE static inline __attribute__((device))
#define SHARED static __attribute__((shared))
#define CONSTANT static __attribute__((constant)) const
#define BARRIER() __syncthreads()
#define ADD_WHOLE(to, n) __atomic_fetch_add(to, n, __ATOMIC_RELAXED)
#define UNROLL _Pragma("unroll")
// LOAD_QUAD loads four adjacent numbers from shared memory at once.
#define LOAD_QUAD(to, from) \
	asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" \
		: "=f"((to)[0]), "=f"((to)[1]), "=f"((to)[2]), "=f"((to)[3]) \
		: "l"((__attribute__((address_space(3))) const float *)(from)) : "memory")

DEVICE long thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE long threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE long block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE long blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE long block_row() { return __nvvm_read_ptx_sreg_ctaid_y(); }

#endif

// EACH runs n over [0, total), divided among all threads of all blocks.
#define EACH(n, total) for (long n = block() * threads() + thread(); n < (total); n += blocks() * threads())

// lanes is the number of threads that process a row together.
enum { lanes = 32 };
