package device

import "sync"

// onHost returns the best kernels of this machine, for operations on host memory without a
// backend.
var onHost = sync.OnceValue(fastest)

// Clamp sets every number of dst to that of src, clamped to [lo, hi]. NaN becomes lo, and −0
// becomes 0.
//
// Shapes: dst is at least as long as src. It is the same slice or does not overlap it.
func Clamp(dst, src []float32, lo, hi float32) { onHost().clamp(dst[:len(src)], src, lo, hi) }

// Threshold sets every number of dst to 1 where that of src is at least t, and to 0 elsewhere, NaN
// included.
//
// Shapes: as for Clamp.
func Threshold(dst, src []float32, t float32) { onHost().threshold(dst[:len(src)], src, t) }
