// Package selection chooses among the synthetic records of another system by a private classifier.
//
// The classifier is a linear one of fixed public features, such as [rff.Scattering] of images,
// trained by package sgd. A generator of package merf, gan or mix draws records with labels, and
// of these the labelling keeps the records that the classifier gives their own label. Blends of two
// classes and records under a wrong label are left out.
//
// Guarantee: the stages of the other system and the classifier's steps are reserved on the ledger
// in one transaction before the first draw, and composed at the whole budget's δ. The classifier
// is released, so choosing by it any number of times costs nothing. Under replace-one every event
// is that of its own plan under replace-one; plans of another relation are refused.
//
// A draw ends, whatever the classifier says: at most [Config.Tries] records are generated in the
// place of one, and if none of them is accepted, the one whose label the classifier finds most
// probable is taken. Each record keeps the class that it was drawn for, so that a labelling has the
// class proportions of the other system. [Model.Agreement] states for every class how many records
// are accepted at the first try.
//
// A checkpoint holds the classifier's training and the state of the other system.
//
// Source: Tramèr and Boneh 2021 for the classifier.
package labelling
