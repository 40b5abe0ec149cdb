// Package store keeps privacy ledgers durably, for one process or for many. Each protected data set
// has one ledger with a name.
//
//	ledgers := Dir("/var/lib/ledgers")
//	ledger, err := ledgers.Create(ctx, "patients-2026", Terms{Budget: budget})
//	…
//	ledger, err := ledgers.Open(ctx, "patients-2026") // in any process, at any time
//	gen, err := plan.FitOn(ctx, ledger, data)
//
// Guarantee: a reservation is durable before the call that makes it returns without an error. Noise
// is drawn under durable reservations only. The reservations of all processes together never cost
// more than the budget, even after crashes, races, retries and restarts.
//
// A ledger's history is a list of lines, chained by their hashes. A [Backend] keeps such lists. The
// backend of [Dir] keeps them in files. The backend of [Memory] keeps them in memory, for tests.
// Other modules keep them in databases. Package storetest tests whether a backend keeps its
// contract.
package ledger
