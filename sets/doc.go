// Package sets has private synthesisers for sets of items that train no network. They are simple
// systems, and serve as baselines for networks. Each has a plan, a ledger and a guarantee like any
// other system.
//
//	Independent  noisy item counts, items drawn independently
//	MWEM         multiplicative weights with the exponential mechanism over a domain that is fixed
//	             beforehand
//
// # MWEM's domain
//
// MWEM (Hardt, Ligett and McSherry 2012) has a weight for every possible record. Hundreds of items
// have too many subsets, so here the domain is fixed in advance, from public numbers only. Records
// are truncated to MaxItems items (12, as in the DPGM papers' comparison). If the universe has at
// most 131,072 sets of up to MaxItems items, all of them are the domain. Otherwise it is 32,768
// sets drawn once from a public seed, with sizes uniform on 1 … MaxItems and items uniform on the
// universe.
//
// The workload is 1,000 queries "how many records have any of these items", in five classes of
// length up to the schema's largest record. It has its own seed: an evaluation asks queries of the
// same kind, but not the queries of the workload. MWEM runs 50 rounds. Each round selects the query
// with the worst answer by the exponential mechanism and measures it with Laplace noise of the same
// ε. It then updates the weights ten times with all measurements so far. The accountant composes
// the rounds exactly instead of adding up their ε, so MWEM has less noise than with the analysis in
// its paper.
//
// Synthetic records are drawn from the final weights.
//
// # Defaults
//
// Every field has a default. If [Common.Nominal] is set and the schema allows m items,
// Independent uses 3·√m items of a record, at most 40. The noise of every count grows with this
// number. The measurements are in docs/studies/sets.md.
package sets
