//go:build cuda && cgo

package cuda

// cu has a binding of its own to cuBLAS, but one that hides the handle, without which the
// mathematics mode cannot be set, and that takes slices, which memory of a device is not.

/*
#cgo linux CFLAGS: -I/usr/local/cuda/include -I/opt/cuda/include
#cgo linux LDFLAGS: -L/usr/local/cuda/lib64 -L/opt/cuda/lib64 -lcublas
#include <stdint.h>
#include <cublas_v2.h>

// Addresses of a device are numbers here, since they are no pointers to Go.
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

// blas is cuBLAS on the default stream of the context that was current when it was made.
type blas struct{ handle C.cublasHandle_t }

// blasStatus is an error of cuBLAS, by its number.
type blasStatus int

func (s blasStatus) Error() string { return fmt.Sprintf("cuBLAS status %d", int(s)) }

func blasError(s C.int) error {
	if s == C.CUBLAS_STATUS_SUCCESS {
		return nil
	}
	return blasStatus(s)
}

// newBLAS asks for products whose operands keep all their bits: a row of a clipped sum must be the
// row whose norm was measured.
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

// multiply sets the m×n matrix C, by rows, to α op(A) op(B) + β C. cuBLAS reads matrices by
// columns: it is told to compute the transpose, from the transposes that it takes A and B for.
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

// leading is the distance of rows. A single row may state a lesser one than it is long.
func leading(m device.Matrix) C.int { return C.int(max(m.Stride, m.Cols)) }
