// Package merf makes labelled synthetic records from one private release. It is the system of
// Harder, Adamczewski and Park, "DP-MERF: Differentially Private Mean Embeddings with Random
// Features for Practical Privacy-Preserving Data Generation" (AISTATS 2021), corrected so that the
// guarantee holds.
//
// Every record is mapped to features of bounded norm (package rff). What is released is, for each
// class, the noisy sum of its records' features and its noisy count: one Gaussian release, whatever
// the number of classes. A generator is then trained until the mean features of its own records are
// those of the release, at no further cost.
//
//	Config    ── Plan:  the noise and the whole bill, before any record is read
//	Plan      ── Embed: reserves, sums, releases; Fit: trains a generator as well
//	Embedding ── released: save it, share it, Train any number of generators against it
//	Model     ── the model of a generator: sample it by class or by noisy proportions
//
// # Where this differs from the paper
//
// Classes are disjoint, so the matrix of all classes' sums and their counts is one release and not
// one for each class. Its sensitivity is that of the records' features, for columns of every kind;
// categories are one-hot, since integer codes break the stated sensitivity several times over. Sums
// are released, never means: dividing by the number of records comes after, by a noisy count with a
// floor or by a size declared public. Length scales come from the schema or from the caller, never
// from private records.
//
// The paper's auto-encoder variant trains its encoder on private records without noise and then
// clips the decoder's gradients. One record then changes every other record's gradient, so nothing
// bounds the sum, and the variant is not offered. Encoded uses an encoder trained on public
// records instead.
//
// # Defaults
//
// Every field has a default. With [Config.Nominal] = n, defaults depend on the schema and on the
// signal s = n/σ₁, where σ₁ is the noise of one release that costs all of ε; k is the number of
// classes.
//
//	tables        rff.Pairs, of columns alone where k·√features/s is above .15 for pairs of them
//	images        rff.PatchesFor (in colour rff.Rule) and a ConvDecoder
//	others        rff.Rule
//	features      (s/16k)², from 200 to the least of 10,000 (images: 4,000) and 50 per coordinate
//	networks      one; images: six, whose steps compare 1,000 features
//	steps         2,000, or as many as take 5 minutes; images: as many as take 4 for all
//	              networks, from 2,000 to 10,000 each
//
// docs/defaults.md derives the numbers.
package merf
