// Package draft drafts the schema of a table for a person to review. [FromPublic] copies bounds and
// levels from public rows, at no cost in privacy. [Config] describes an estimate of the same from
// private records, which costs privacy.
//
// A schema is public, so everything in it that comes from the records is a release. The caller
// declares candidates: a schema with bounds that no record can leave, and with every level that the
// caller can name. Levels that the candidates lack are found in columns with open levels only,
// which are hashed columns with an other level. One noisy histogram over all columns together then
// locates the records, and an accountant.SparseHistogram finds the texts of open columns. The
// result is a narrower schema for a person to review. Its price is charged to a ledger.
//
// Known bounds and levels, or a draft from public rows, cost no privacy and are better.
//
// Source: Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo and Gipson 2020, Differentially Private
// SQL with Bounded User Contribution (approximate bounds from a noisy histogram of geometric bins).
// There are three differences: the noise is Gaussian, all columns are in one release, and runs of
// bins are tested in addition to single bins.
package draft
