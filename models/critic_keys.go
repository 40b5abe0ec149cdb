package models

// KeyedCode fills dst with standard Gaussian numbers that depend on key alone. They are the codes
// of fakes that belong to one record. They are not privacy noise, which comes from package
// mechanism.
func KeyedCode(dst []float32, key uint64) { keyedNormals(dst, key) }

// KeyedShare returns a uniform number in [0, 1) that depends on key alone. It is independent of the
// numbers of KeyedCode.
func KeyedShare(key uint64) float32 {
	s := newStream(key, 0x6d6978, 0)
	return float32(s.next()>>40) * 0x1p-24
}
