// Package synthtest tests what is asked of every system: that its plans print, price and read back,
// that fits are paid for in one transaction and hold nothing private, that runs go on from their
// checkpoints, that generators draw valid records, and that hostile files are errors. It is to
// systems what device/devicetest is to backends.
//
//	func TestSystem(t *testing.T) {
//		synthtest.Run(t, synthtest.Subject{System: mysystem.System(), Plan: smallPlan})
//	}
package synthtest
