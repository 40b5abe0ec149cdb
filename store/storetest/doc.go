// Package storetest tests the contract of ledger stores. Every backend passes
//
//	func TestContract(t *testing.T) { storetest.Run(t, subject) }
//
// and, for backends that outlive a process,
//
//	func TestKill(t *testing.T) { storetest.Kill(t, subject, *kills) }
//
// The first half tests journals through their interface: what Append compares and guarantees, where
// Read begins, and what a trimmed journal still contains. The second half tests ledgers on the
// backend, several on one journal, as in several processes.
package storetest
