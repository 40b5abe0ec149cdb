// Package labelling uses a private classifier to choose among the synthetic records of another
// system, or to label them.
//
// The classifier is a linear function of fixed public features, such as [rff.Scattering] of images,
// and is trained by package sgd. The other system, for example of package merf, gan or mix, draws
// records with labels. The rule [Keep] keeps the records to which the classifier gives their own
// label. It leaves out blends of two classes and records with a wrong label. The rule [Relabel]
// gives every record the label that the classifier finds most probable.
//
// Guarantee: the stages of the other system and the classifier's steps are reserved on the ledger
// in one transaction before the first draw. They are composed at the whole budget's δ. The
// classifier is released, so using it any number of times costs no privacy. Under replace-one, both
// parts are priced under replace-one. Plans of another relation are refused.
//
// Every draw ends, because [Config.Tries] bounds the number of records generated for each returned
// record. If none of them is accepted, the draw takes the record for whose label the classifier has
// the largest margin. The option [synth.OnAccepted] reports the number of these records at the end
// of a draw. It is computed from released values, so it is public. [Model.Agreement] states, for
// every class, the fraction of records that are accepted at the first try.
//
// A checkpoint holds the classifier's training and the state of the other system.
//
// Source: Tramèr and Boneh 2021 for the classifier.
package labelling
