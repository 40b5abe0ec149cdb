// Package devicetest is the conformance suite for device backends. Every backend must pass
//
//	func TestConformance(t *testing.T) { devicetest.Run(t, backend) }
//
// The suite compares each method with a reference in float64. It uses random shapes and strides,
// shapes that do not fill whole vectors, empty matrices, the aliasing that the interface allows,
// and NaN among the numbers. Operands are views into larger matrices whose margins hold sentinels.
// The suite thus detects methods that write outside their destination.
//
// Tolerances are bounds on rounding errors, not tuned numbers. For example, the error of a sum of k
// products may be (k+8)·2⁻²⁴ times the sum of the absolute values of its terms.
package devicetest
