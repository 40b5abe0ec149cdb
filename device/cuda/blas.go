//go:build cuda && cgo

package cuda

// This file is a binding to cuBLAS. The binding of package cu is not usable here. It hides the
// handle, which is needed to set the mathematics mode, and it takes Go slices, whereas these
// matrices are in device memory.

/*
#cgo linux CFLAGS: -I/usr/local/cuda/include -I/opt/cuda/include
#cgo linux LDFLAGS: -L/usr/local/cuda/lib64 -L/opt/cuda/lib64 -lcublas
#include <stdint.h>
#include <cublas_v2.h>

// Device addresses are integers here, because they are not Go pointers.
static int multiply(cublasHandle_t h, int transA, int transB, int m, int n, int k,
	float alpha, uintptr_t a, int lda, uintptr_t b, int ldb, float beta, uintptr_t c, int ldc) {
	cublasOperation_t opA = transA ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasOperation_t opB = transB ? CUBLAS_OP_T : CUBLAS_OP_N;
	return cublasSgemm(h, opA, opB, m, n, k, &alpha, (const float *)a, lda,
		(const float *)b, ldb, &beta, (float *)c, ldc);
}
*/
import "C"

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

// blas is a handle of cuBLAS. It uses the default stream of the context that was current when it
// was created.
type blas struct{ handle C.cublasHandle_t }

// blasStatus is the number of a cuBLAS error.
type blasStatus int

func (s blasStatus) Error() string { return fmt.Sprintf("cuBLAS status %d", int(s)) }

func blasError(s C.int) error {
	if s == C.CUBLAS_STATUS_SUCCESS {
		return nil
	}
	return blasStatus(s)
}

// newBLAS creates a handle whose products use all bits of their operands. The rows in a clipped sum
// must be the rows whose norms were measured.
func newBLAS() (*blas, error) {
	var b blas
	if err := blasError(C.int(C.cublasCreate(&b.handle))); err != nil {
		return nil, &Error{"cuBLAS", err}
	}
	if err := blasError(C.int(C.cublasSetMathMode(b.handle, C.CUBLAS_PEDANTIC_MATH))); err != nil {
		b.close()
		return nil, &Error{"cuBLAS' mathematics mode", err}
	}
	return &b, nil
}

func (b *blas) close() { C.cublasDestroy(b.handle) }

// multiply sets the m×n matrix C, stored by rows, to α op(A) op(B) + β C. cuBLAS expects matrices
// stored by columns, so it sees A, B and C transposed, and computes Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ.
func (b *blas) multiply(transA, transB bool, m, n, k int, alpha float32, x, y device.Matrix,
	beta float32,
	out device.Matrix) {
	check("cuBLAS product",
		blasError(C.multiply(b.handle, flag(transB), flag(transA), C.int(n), C.int(m), C.int(k),
			C.float(alpha), C.uintptr_t(address(y)), leading(y), C.uintptr_t(address(x)), leading(x),
			C.float(beta), C.uintptr_t(address(out)), leading(out))))
}

func flag(yes bool) C.int {
	if yes {
		return 1
	}
	return 0
}

// leading returns the distance between rows. cuBLAS requires it to be at least the number of
// columns, but the Stride of a single row may be less.
func leading(m device.Matrix) C.int { return C.int(max(m.Stride, m.Cols)) }
