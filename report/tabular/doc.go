// Package tabular compares columns of records: their shapes, their pairs, groups of them, and
// counting queries about them.
//
// [Quality] has the names and definitions of SDMetrics (KSComplement, TVComplement,
// CorrelationSimilarity, ContingencySimilarity and the scores of its quality report). Tests compare
// it with version 0.32 of that library to 1e-6. If SDMetrics has no figure, such as for the
// correlation with a constant column, the score is NaN.
//
// Guarantee: none. Its functions read real records without noise and write to no ledger, so their
// results are statistics of private data, and no ε covers them. The text and JSON forms of
// [Quality], [Shape], [Pair] and [Histogram] say so. A [Share], a part of a Histogram, has no such
// caveat.
package tabular
