// Package baselines holds private synthesisers without networks: of sets, to compare generative
// networks with, and of tables, the graphical models AIM and MST. Each has a plan, a ledger and a
// guarantee like any other system.
//
//	AIM          tables of a few columns that the model misses most, measured one after another
//	MST          pairs of columns along a tree
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
// # Tables
//
// AIM and MST see a row as a list of codes. Levels, flags and whole numbers of at most 128 values
// have a code for each value; other numbers have 126 cells of equal width between their public
// bounds, on the scale on which the schema encodes them, and a code for each bound; a missing value
// is a code. One joint release counts the codes of all columns. By what it says, codes are merged
// into groups: numbers into ranges that hold one of Bins equal parts of the records or reach over
// two of Bins parts of the values, a value that is frequent by itself stays alone, and rare levels
// go together. A class is never merged. Tables of two or three columns are of groups; rows are
// drawn from the fitted model, then a code within each group by the first release, then a number
// uniformly within its cell. So every generated row is one of the schema's.
//
// Rows are drawn in pools of 1,024 to 65,536, stratified: every row follows the model, and the
// counts within a pool vary less than those of independent draws.
//
// The fitted tables have at most Cells cells together, which bounds memory and time; candidates
// that need more are not chosen. At most 5,000 tables are candidates: of wide schemas pairs with
// the class, then pairs of columns that are close in the schema, and triples with the class or
// none.
//
// # Defaults
//
// Every field has a default. With [Common.Nominal] Independent uses 3·√m items of a record, at most
// 40, where the schema allows m: the noise of every count grows with the longest record. With
// [Tables.Nominal] Bins is √(s/30), between 4 and 32, s being the number of records divided by the
// noise of one release that costs the whole budget; docs/studies/marginals.md has the measurements.
package baselines
