// Package classify trains classifiers on labelled records and tests them: naive
// Bayes, discriminants, linear models, trees and their ensembles, neural networks.
// They serve to evaluate synthetic records: package evaluate compares classifiers
// trained on synthetic records with classifiers trained on real ones.
//
// A [Method] trains one kind of classifier. Users can define their own methods; see
// [NewClassifier]. For the same records and seed, training gives the same classifier on any number
// of cores.
//
// There are two conventions for the area under a curve: it is computed from the classifier's scores
// or from its predicted classes only. The two areas can differ by 0.1 or more; see
// [Classification].
//
// Guarantee: none. Training is ordinary: no clipping, no noise, no ledger. A classifier depends on
// its training records. A [Classification] is a statistic of the test records. Its text and JSON
// forms warn that it is not private. [Scores], [Ranking] and [ROCPoint] are plain numbers without
// this warning.
package classify
