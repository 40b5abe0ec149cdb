// Package draft drafts the schema of a table for a person to review. [FromPublic] copies bounds and
// levels from rows that are public, for free; [Config] estimates them from private records, at a
// price: the bounds of numbers, and the levels that occur.
//
// A schema is public, so everything in it that comes from the records is a release. The
// caller declares candidates, a schema as wide as necessary: bounds that no record can
// leave, every level that the caller can name. Levels that no caller declares cannot be
// found. One noisy histogram over all columns together then locates the records. The
// result is a narrower schema for a person to review, paid for on a ledger.
//
// Known bounds and levels, or a draft from public rows, cost nothing and are better.
//
// Source: bounds from a noisy histogram of geometric bins are those of Wilson,
// Zhang, Lam, Desfontaines, Simmons-Marengo and Gipson 2020, Differentially
// Private SQL with Bounded User Contribution (approximate bounds), with Gaussian
// noise, all columns in one release, and sums over runs of bins in addition to the bins.
package draft
