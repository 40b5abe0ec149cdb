// Package judge holds what all judgements of synthetic records share: marks of results that are not
// private, selections of records, and checks of settings. It also trains classifiers: logistic
// regression, and dense and convolutional networks. Package report/evaluate/classify is the public
// form of these, and has further methods.
//
// Guarantee: none. Training is ordinary: no clipping, no noise, no ledger.
package judge
