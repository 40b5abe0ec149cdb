// Package classify trains classifiers on labelled records and tests them: naive
// Bayes, discriminants, linear models, trees and their ensembles, neural networks.
// They serve to judge synthetic records; package evaluate compares what they learn
// from synthetic records with what they learn from real ones.
//
// A [Method] is any of these or a user-defined one, see [NewClassifier]. Training
// follows the seed alone, whatever the number of cores.
//
// Areas under curves come in two conventions, on scores and on hard predictions,
// which differ by ten points and more; see [Classification].
//
// Guarantee: none. Training is ordinary: no clipping, no noise, no ledger. A
// classifier remembers the records that it was trained on, and a [Classification] is
// a statistic of the records that it was tested on; it says so where it prints itself
// and in its JSON form.
package classify
