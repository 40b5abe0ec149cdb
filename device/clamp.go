package device

import "sync"

// onHost are the best kernels of this machine, for what is done to host memory before any backend
// sees it.
var onHost = sync.OnceValue(fastest)

// Clamp writes every number of src moved into [lo, hi]. It is total: NaN becomes lo, −0 becomes 0.
//
// Shapes: dst is at least as long as src, and the same slice or one that does not overlap it.
func Clamp(dst, src []float32, lo, hi float32) { onHost().clamp(dst[:len(src)], src, lo, hi) }

// Threshold writes 1 where a number of src reaches t and 0 elsewhere, NaN included.
//
// Shapes: those of Clamp.
func Threshold(dst, src []float32, t float32) { onHost().threshold(dst[:len(src)], src, t) }
