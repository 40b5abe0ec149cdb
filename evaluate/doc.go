// Package evaluate measures how good synthetic records are by comparing them
// with real ones: clustering accuracy, counting queries, and classifiers trained
// on one and tested on the other.
//
// Guarantee: none. Its functions read real records without noise and write to no
// ledger, so their results are statistics of private data like any other: no ε
// covers them. Every result says so where it prints itself and in its JSON form.
// Showing one to anybody but the owner of the data is a release of its own, and
// so is choosing a model by it.
package evaluate
