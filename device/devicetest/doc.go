// Package devicetest is the conformance suite for device backends. Every backend passes
//
//	func TestConformance(t *testing.T) { devicetest.Run(t, backend) }
//
// The suite compares each method with a reference in float64, on random shapes and strides, for
// shapes that do not fill whole vectors, for empty matrices, with the aliasing that the interface
// allows, and with NaN among the numbers. Operands are views into larger matrices whose margins
// hold sentinels, so that the suite detects methods that write outside their destination.
//
// Tolerances are bounds on rounding errors, not tuned numbers: the error of a sum of k products may
// be (k+8)·2⁻²⁴ times the sum of the magnitudes of its terms.
package devicetest
