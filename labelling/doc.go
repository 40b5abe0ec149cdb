// Package labelling chooses among the synthetic records of another system by a private classifier,
// or gives them its labels.
//
// The classifier is a linear one of fixed public features, such as [rff.Scattering] of images,
// trained by package sgd. The other system, such as that of package merf, gan or mix, draws records
// with labels. By the rule [Keep] those records are kept that the classifier gives their own label,
// and blends of two classes and records under a wrong label are left out; by the rule [Relabel]
// every record gets the label that it finds most probable.
//
// Guarantee: the stages of the other system and the classifier's steps are reserved on the ledger
// in one transaction before the first draw, and composed at the whole budget's δ. The classifier
// is released, so asking it any number of times costs nothing. Under replace-one every event is
// that of its own plan under replace-one; plans of another relation are refused.
//
// A draw ends, whatever the classifier says: [Config.Tries] bounds how many records are generated
// in the place of one, and if none of them is accepted, the one whose wanted label the classifier
// finds most probable is taken. [Model.Agreement] states for every class how many records are
// accepted at the first try.
//
// A checkpoint holds the classifier's training and the state of the other system.
//
// Source: Tramèr and Boneh 2021 for the classifier.
package labelling
