// Package evaluate measures how good synthetic records are by comparing them with real ones. It
// compares distributions of columns, pairs and groups of columns, and computes maximum mean
// discrepancy and clustering accuracy. It trains classifiers on synthetic records and tests them on
// real ones. [Review] computes all measures that apply to the records in one call. Package
// report/evaluate/classify has the classifiers. [Queries] measures the error of counting queries on
// sets, and [Statistics] compares frequencies, pairs and sizes.
//
// Each measure is reported together with a reference: the same measure of held-out real records, or
// of classifiers trained on real records.
//
// Guarantee: none. Its functions read real records without noise and without a ledger, so their
// results are private statistics that no ε covers. The text and JSON forms of every result say so.
// Parts of a result, such as [Compared] and [ColumnShape], are plain numbers without this caveat.
// Showing a result to people other than the owner of the data is a release, and so is choosing a
// model by it.
package evaluate
