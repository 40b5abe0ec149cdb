// Package synthtest tests the requirements on every system: plans print, state their price and can
// be read back; fits are paid for in one transaction, and their results hold nothing private; runs
// resume from their checkpoints; generators draw valid records; hostile files result in errors.
// Package device/devicetest does the same for backends.
//
//	func TestSystem(t *testing.T) {
//		synthtest.Run(t, synthtest.Subject{System: mysystem.System(), Plan: smallPlan})
//	}
package synthtest
