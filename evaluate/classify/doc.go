// Package classify trains classifiers on labelled records and tests them: naive
// Bayes, discriminants, linear models, trees and their ensembles, neural networks.
// They serve to evaluate synthetic records: package evaluate compares classifiers
// trained on synthetic records with classifiers trained on real ones.
//
// A [Method] is any of these or a user-defined one, see [NewClassifier]. Training
// depends on the seed only, not on the number of cores.
//
// Areas under curves come in two conventions, on scores and on hard predictions, which differ by
// ten points or more; see [Classification].
//
// Guarantee: none. Training is ordinary: no clipping, no noise, no ledger. A classifier depends on
// its training records. A [Classification] is a statistic of the test records; its text and JSON
// forms say so. [Scores], [Ranking] and [ROCPoint] are plain numbers without this caveat.
package classify
