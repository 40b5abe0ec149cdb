// Package quantiles lets another system see the numbers of a table as ranks. It first releases
// noisy counts of the numbers, column by column. Then it replaces every number by its rank among
// these counts, on the scale of a normal distribution, and the other system is fitted to the
// result. The other system's synthetic numbers are mapped back, so that each column has the
// released distribution.
//
// A network learns a column easily if its values are spread as in a normal distribution. It blurs a
// value that many records share, and it misses a column of which most records lie in a small part
// of the bounds, such as amounts with a few very large values. Both disappear in ranks, and the
// mapping back restores them.
//
//	counts of numbers ── released ──┐
//	records ── ranks ── Of ── synthetic ranks ── synthetic records
//
// Numbers, whole numbers, durations, and moments without calendar parts are mapped. Levels, missing
// values and classes stay as they are.
//
// Guarantee: the counts are one Gaussian release of differences between halves of intervals
// (marginal.Halves, which states what a record changes). A record's ranks depend on the record and
// on released counts only, so the other system's guarantee holds for records. Both are on one
// ledger. The mapping back depends on released counts and on synthetic records of the other system.
//
// Source: the transform by a column's distribution function is the probability integral transform.
// Li, Xiong and Jiang, "Differentially Private Synthesization of Multi-Dimensional Data using
// Copula Functions", 2014, release noisy marginals and model dependence on the transformed scale.
package quantiles
