package device

import "sync"

// onHost returns the best kernels of this machine, for operations on host memory without a
// backend.
var onHost = sync.OnceValue(fastest)

// Clamp writes every number of src clamped to [lo, hi] into dst. NaN becomes lo, −0 becomes 0.
//
// Shapes: dst is at least as long as src, and the same slice or one that does not overlap it.
func Clamp(dst, src []float32, lo, hi float32) { onHost().clamp(dst[:len(src)], src, lo, hi) }

// Threshold writes 1 for every number of src that is at least t, and 0 for others, including NaN.
//
// Shapes: those of Clamp.
func Threshold(dst, src []float32, t float32) { onHost().threshold(dst[:len(src)], src, t) }
