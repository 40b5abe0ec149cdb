// Package ledger decides who may spend what: it holds budgets, checks each request before anything
// is spent, and states the guarantee. Package accountant computes the prices.
//
// A [Ledger] counts everything reserved on one set of protected records. [New] returns one in
// memory. A [Store] keeps ledgers durably, for one process or for many. Each protected data set has
// one ledger with a name.
//
//	ledgers := ledger.Dir("/var/lib/ledgers")
//	l, err := ledgers.Create(ctx, "patients-2026", ledger.Terms{Budget: budget})
//	…
//	l, err := ledgers.Open(ctx, "patients-2026") // in any process, at any time
//	gen, err := plan.FitOn(ctx, l, data)
//
// Guarantee: a reservation is durable before the call that makes it returns without an error. Noise
// is drawn under durable reservations only. The reservations of all processes together never cost
// more than the budget, even after crashes, races, retries and restarts.
//
// A ledger's history is a list of lines, chained by their hashes. A [Backend] keeps such lists. The
// backend of [Dir] keeps them in files. The backend of [Memory] keeps them in memory, for tests.
// Other modules keep them in databases. Package ledgertest tests whether a backend keeps its
// contract.
package ledger
