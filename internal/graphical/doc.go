// Package graphical fits discrete distributions of many attributes to noisy marginals, and draws
// from them. It is arithmetic on released numbers: no privacy, no ledger, no records.
//
//	Domain   the number of values of each attribute
//	Tree     a junction tree: the cliques that a set of marginals needs
//	Model    a distribution that factors along a tree: Fit, Marginal, Given, Draw
//
// A model is exp(Σ θ_c) over the cliques of a tree. Beliefs are passed in log space, so that no
// product underflows: every clique holds the law of its attributes given those that it shares with
// its parent.
//
// Fitting minimises the squared distance from the measured marginals, each divided by its noise, by
// mirror descent with momentum (McKenna, Sheldon and Miklau, "Graphical-model based estimation and
// inference for differential privacy", 2019). Of all distributions with the fitted marginals the
// model is the one of largest entropy.
package graphical
