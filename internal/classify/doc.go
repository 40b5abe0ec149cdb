// Package classify trains the classifiers that package compose needs: logistic regression, and
// dense and convolutional networks. It also holds what these share with the further methods of
// report/evaluate/classify, its public form.
//
// Guarantee: none. Training is ordinary: no clipping, no noise, no ledger.
package classify
