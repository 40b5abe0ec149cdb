// Package baselines holds simple private synthesisers of sets, to compare generative networks with.
// Each has a plan, a ledger and a guarantee like any other system.
//
//	Independent  noisy item counts, items drawn independently
//	Tree         noisy counts of items and pairs, a Chow–Liu tree, ancestral sampling
//	MWEM         multiplicative weights with the exponential mechanism over a domain that is sampled
//	             beforehand
//
// # MWEM's domain
//
// MWEM (Hardt, Ligett and McSherry 2012) keeps a weight for every possible record. Subsets of
// hundreds of items are too many, so its domain here is fixed beforehand, from public numbers
// alone: records are cut to MaxItems items (12, as in the DPGM papers' comparison); if the universe
// has at most 131,072 sets of up to so many items, all of them are the domain; otherwise it is
// 32,768 sets drawn once from a public seed, sizes uniform on 1 … MaxItems and items uniform on the
// universe. Its workload are 1,000 queries "how many have any of these items", of five length
// classes and of lengths up to the schema's largest record, from a seed of their own: the class of
// queries that it is judged by, and not the same queries. It makes 50 rounds; each selects the
// query with the worst answer by the exponential mechanism, measures it with Laplace noise of the
// same ε, and goes over all measurements made so far ten times. Rounds are composed exactly, by the
// accountant, and not by adding up their ε: that gives MWEM less noise than its paper's own
// analysis would.
//
// Synthetic records are drawn from the final weights.
//
// # Defaults
//
// Every field has a default. With [Common.Nominal] Independent uses 3·√m items of a record, at most
// 40, where the schema allows m: the noise of every count grows with the longest record.
package baselines
