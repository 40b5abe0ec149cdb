// Package ledgertest tests whether a backend of ledgers keeps its contract. Every backend has the
// test
//
//	func TestContract(t *testing.T) { ledgertest.Run(t, subject) }
//
// and, if its journals outlive a process, also the test
//
//	func TestKill(t *testing.T) {
//		ledgertest.Kill(t, subject, ledgertest.Load{Kills: 12, Processes: 4, Reservations: 60})
//	}
//
// The first half of Run tests journals through their interface: the comparisons and guarantees of
// Append, the beginning of Read, and the content of a trimmed journal. The second half tests
// ledgers on the backend. There it opens one journal several times, as several processes would.
package ledgertest
