// Package evaluate measures how good synthetic records are by comparing them
// with real ones: distributions of columns, pairs and groups of columns, maximum
// mean discrepancy, clustering accuracy, and classifiers trained on one and tested on
// the other. [Review] computes all measures that apply to the records in one call. Package
// evaluate/classify has the classifiers, package evaluate/itemsets counting queries
// and frequent combinations for sets.
//
// Each measure is reported together with that of held-out real records, or of
// classifiers trained on real ones, as a reference.
//
// Guarantee: none. Its functions read real records without noise and without a ledger,
// so their results are private statistics that no ε covers. Every result that a function
// returns says so in its text and JSON forms. Plain numbers that are parts of one, such as
// [Compared] and [ColumnShape], do not when they are written by themselves. Showing a result
// to people other than the owner of the data is a release, and so is choosing a model by it.
package evaluate
