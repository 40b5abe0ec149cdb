package main

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -lopenblas
#include <time.h>
#include <cblas.h>

static double thread_seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void sgemm(int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
		const float *b, int ldb, float beta, float *c, int ldc, int times) {
	for (int i = 0; i < times; i++)
		cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
			m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// Twelve independent chains keep the multiply-add units of a core busy. Returns the flops of one
// round.
static double peak256(long times) {
	__asm__ volatile(
		"vxorps %%xmm0, %%xmm0, %%xmm0\n\t"
		"vxorps %%xmm1, %%xmm1, %%xmm1\n\t"
		"vxorps %%xmm2, %%xmm2, %%xmm2\n\t"
		"vxorps %%xmm3, %%xmm3, %%xmm3\n\t"
		"vxorps %%xmm4, %%xmm4, %%xmm4\n\t"
		"vxorps %%xmm5, %%xmm5, %%xmm5\n\t"
		"vxorps %%xmm6, %%xmm6, %%xmm6\n\t"
		"vxorps %%xmm7, %%xmm7, %%xmm7\n\t"
		"vxorps %%xmm8, %%xmm8, %%xmm8\n\t"
		"vxorps %%xmm9, %%xmm9, %%xmm9\n\t"
		"vxorps %%xmm10, %%xmm10, %%xmm10\n\t"
		"vxorps %%xmm11, %%xmm11, %%xmm11\n\t"
		"vxorps %%xmm12, %%xmm12, %%xmm12\n\t"
		"vxorps %%xmm13, %%xmm13, %%xmm13\n\t"
		"vxorps %%xmm14, %%xmm14, %%xmm14\n\t"
		"vxorps %%xmm15, %%xmm15, %%xmm15\n\t"
		"1:\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm0\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm1\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm2\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm3\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm4\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm5\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm6\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm7\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm8\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm9\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm10\n\t"
			"vfmadd231ps %%ymm14, %%ymm15, %%ymm11\n\t"
			"dec %0\n\t"
			"jnz 1b\n\t"
			"vzeroupper"
		: "+r"(times) : : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			"xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
	return 2.0 * 8 * 12;
}

static double peak512(long times) {
	__asm__ volatile(
		"vxorps %%xmm0, %%xmm0, %%xmm0\n\t"
		"vxorps %%xmm1, %%xmm1, %%xmm1\n\t"
		"vxorps %%xmm2, %%xmm2, %%xmm2\n\t"
		"vxorps %%xmm3, %%xmm3, %%xmm3\n\t"
		"vxorps %%xmm4, %%xmm4, %%xmm4\n\t"
		"vxorps %%xmm5, %%xmm5, %%xmm5\n\t"
		"vxorps %%xmm6, %%xmm6, %%xmm6\n\t"
		"vxorps %%xmm7, %%xmm7, %%xmm7\n\t"
		"vxorps %%xmm8, %%xmm8, %%xmm8\n\t"
		"vxorps %%xmm9, %%xmm9, %%xmm9\n\t"
		"vxorps %%xmm10, %%xmm10, %%xmm10\n\t"
		"vxorps %%xmm11, %%xmm11, %%xmm11\n\t"
		"vxorps %%xmm12, %%xmm12, %%xmm12\n\t"
		"vxorps %%xmm13, %%xmm13, %%xmm13\n\t"
		"vxorps %%xmm14, %%xmm14, %%xmm14\n\t"
		"vxorps %%xmm15, %%xmm15, %%xmm15\n\t"
		"1:\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm0\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm1\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm2\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm3\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm4\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm5\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm6\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm7\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm8\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm9\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm10\n\t"
			"vfmadd231ps %%zmm14, %%zmm15, %%zmm11\n\t"
			"dec %0\n\t"
			"jnz 1b\n\t"
			"vzeroupper"
		: "+r"(times) : : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			"xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
	return 2.0 * 16 * 12;
}

static int has512(void) { return __builtin_cpu_supports("avx512f"); }
*/
import "C"

// threadSeconds returns the processor time of the current thread, which other programs do not
// affect.
func threadSeconds() float64 { return float64(C.thread_seconds()) }

func setThreads(n int) { C.openblas_set_num_threads(C.int(n)) }

func openblasName() string {
	return C.GoString(C.openblas_get_config()) + ", " + C.GoString(C.openblas_get_corename())
}

// openblas runs a product several times in one call into C.
func openblas(p *problem, times int) {
	C.sgemm(truth(p.transA), truth(p.transB), C.int(p.m), C.int(p.n), C.int(p.k), 1,
		(*C.float)(&p.a.Data[0]), C.int(p.a.Stride), (*C.float)(&p.b.Data[0]), C.int(p.b.Stride), 0,
		(*C.float)(&p.c.Data[0]), C.int(p.c.Stride), C.int(times))
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// peakRate returns the largest rate of floating-point operations of one core, in GFLOP/s.
func peakRate() float64 {
	best := 0.0
	for range 7 {
		start := threadSeconds()
		flops := 2_000_000 * float64(C.peak256(2_000_000))
		best = max(best, flops/(threadSeconds()-start)/1e9)
		if C.has512() != 0 {
			start = threadSeconds()
			flops = 2_000_000 * float64(C.peak512(2_000_000))
			best = max(best, flops/(threadSeconds()-start)/1e9)
		}
	}
	return best
}
