// Package store keeps privacy ledgers durably, for one process or many: one named ledger for each
// protected data set.
//
//	ledgers := store.Dir("/var/lib/ledgers")
//	ledger, err := ledgers.Create(ctx, "patients-2026", accountant.Terms{Budget: budget})
//	…
//	ledger, err := ledgers.Open(ctx, "patients-2026") // in any process, at any time
//	gen, err := plan.FitOn(ctx, ledger, data)
//
// Guarantee: a reservation is durable before the call returns without an error; noise is drawn
// under durable reservations only; the reservations of all processes together never cost more than
// the budget, whatever crashes, races, retries or restarts happen.
//
// A ledger's history is a list of lines, chained by their hashes. A [Backend] keeps such lists:
// [Dir] in files, [Memory] in memory for tests, and other modules in databases. Package storetest
// tests the contract of backends.
package store
