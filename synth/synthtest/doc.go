// Package synthtest tests the requirements on every system. Plans print, state their price and can
// be read back. Fits are paid for in one transaction, and their results hold nothing private. Runs
// resume from their checkpoints. Generators draw valid records. Hostile files result in errors.
// Package device/devicetest does the same for backends.
//
//	func TestSystem(t *testing.T) {
//		synthtest.Run(t, synthtest.Subject{System: mysystem.System(), Plan: smallPlan})
//	}
package synthtest
