// Package devicetest is the conformance suite of device backends: every backend passes
//
//	func TestConformance(t *testing.T) { devicetest.Run(t, backend) }
//
// It compares each method with a float64 reference on random shapes and strides, on odd edges and
// empty matrices, with the aliasing that the interface allows, and with NaN among the numbers.
// Operands are views into larger matrices whose margins hold sentinels: a method that writes
// outside its destination is found out.
//
// Tolerances are rounding bounds, not tuned numbers: a sum of k products may be off by (k+8)·2⁻²⁴
// times the sum of the magnitudes of its terms.
package devicetest
