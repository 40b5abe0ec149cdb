// Package evaluate measures how good synthetic records are by comparing them
// with real ones: distributions of columns, pairs and groups of columns, maximum
// mean discrepancy, clustering accuracy, and classifiers trained on one and tested on
// the other. [Review] does all that fits the records in one call. Package
// evaluate/classify has the classifiers, package evaluate/itemsets counting queries
// and frequent combinations for sets.
//
// Each measure stands beside the same of held-out real records, or of classifiers
// trained on real ones, since without that no number says how good is good.
//
// Guarantee: none. Its functions read real records without noise and write to no
// ledger, so their results are statistics of private data like any other: no ε
// covers them. Every result says so where it prints itself and in its JSON form.
// Showing one to anybody but the owner of the data is a release of its own, and
// so is choosing a model by it.
package evaluate
