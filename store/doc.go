// Package store keeps privacy ledgers for years, for one process or for many: one ledger for each
// protected data set, by name.
//
//	ledgers := store.Dir("/var/lib/ledgers")
//	ledger, err := ledgers.Create(ctx, "patients-2026", accountant.Terms{Budget: budget})
//	…
//	ledger, err := ledgers.Open(ctx, "patients-2026") // in any process, at any time
//	gen, err := plan.FitOn(ctx, ledger, data)
//
// Guarantee: a reservation that was answered without an error is durable before the answer; noise
// is drawn under durable reservations only; what is set aside in all processes together never costs
// more than the budget, whatever crashes, races, retries or restarts happen.
//
// What happens to a ledger is a list of lines, chained by their hashes. A [Backend] keeps such
// lists: [Dir] in files, [Memory] for tests, and other modules in databases. Package storetest is
// the contract that every backend passes.
package store
