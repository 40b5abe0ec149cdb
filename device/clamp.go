package device

import "sync"

// onHost returns the fastest kernels of this machine, for operations on host memory without a
// backend.
var onHost = sync.OnceValue(fastest)

// Clamp sets dst[i] to src[i] clamped to [lo, hi], for every i. NaN becomes lo, and −0 becomes 0.
//
// Shapes: dst is at least as long as src. It must begin where src begins or not overlap src.
func Clamp(dst, src []float32, lo, hi float32) { onHost().clamp(dst[:len(src)], src, lo, hi) }

// Threshold sets dst[i] to 1 if src[i] is at least t, and to 0 otherwise, for every i. NaN gives 0.
//
// Shapes: see Clamp.
func Threshold(dst, src []float32, t float32) { onHost().threshold(dst[:len(src)], src, t) }
