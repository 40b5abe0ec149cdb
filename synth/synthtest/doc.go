// Package synthtest tests the requirements on every system: its plans print, are priced and can be
// read back, fits are paid for in one transaction and hold nothing private, runs resume from their
// checkpoints, generators draw valid records, and hostile files are errors. It is to systems what
// device/devicetest is to backends.
//
//	func TestSystem(t *testing.T) {
//		synthtest.Run(t, synthtest.Subject{System: mysystem.System(), Plan: smallPlan})
//	}
package synthtest
