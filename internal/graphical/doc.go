// Package graphical fits discrete distributions of many attributes to noisy marginals, and draws
// from them. It reads released numbers only, so it needs no ledger and sees no records.
//
//	Domain   the number of values of each attribute
//	Tree     a junction tree: the cliques that a set of marginals needs
//	Model    a distribution that factors along a tree: Fit, Marginal, Given, Draw
//
// A model is proportional to exp(Σ θ_c) over the cliques of a tree. Messages are passed in log
// space, so no product underflows. Every clique holds the conditional distribution of its
// attributes given the attributes that it shares with its parent.
//
// Fitting minimises the squared distance from the measured marginals, each divided by its noise.
// The method is mirror descent with momentum (McKenna, Sheldon and Miklau, "Graphical-model based
// estimation and inference for differential privacy", 2019). Among all distributions with the
// fitted marginals, the model has the largest entropy.
package graphical
