// Package storetest tests the contract of ledger stores. Every backend passes
//
//	func TestContract(t *testing.T) { storetest.Run(t, subject) }
//
// and, for backends that outlive a process,
//
//	func TestKill(t *testing.T) { storetest.Kill(t, subject, *kills) }
//
// The first half drives journals by their interface: what Append compares and promises, what Read
// begins with, what a trimmed journal still tells. The second half drives ledgers over the backend,
// several on one journal, as processes have them.
package storetest
