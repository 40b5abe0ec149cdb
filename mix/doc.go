// Package mix publishes mixtures of records under differential privacy: the system of Lee, Kim,
// Lee, Suh and Ramchandran, "Synthesizing Differentially Private Datasets using Random Mixing"
// (ISIT 2019), with a tighter guarantee.
//
// A mixture is the sum of about ℓ records drawn at random, features and one-hot label together,
// plus noise, divided by the public ℓ, the mixture degree. T mixtures are released, each of a fresh
// sample.
//
//	Config ── Plan: degree, noise and every price, before any record is read
//	Plan   ── Fit:  releases the mixtures        (Stream: the same in constant memory)
//	Model  ── released rows only: to export, to train on, to share
//
// Plan and generator are those of package synth, which documents how a run is paid for, observed
// and resumed from a checkpoint; gen.Model().(*mix.Model) is this system's own part. Mixtures lost
// to an interruption are left out: the release has fewer rows, and estimates use the rows that
// exist.
//
// # The sampling determines the guarantee
//
// The type of a [Sampling] fixes the neighbouring relation: [Poisson] is for add/remove,
// [WithoutReplacement] and [PoissonReplaceOne] are for replace-one, where the number of
// records is public. A budget of another relation is an error.
//
// # Where this differs from the paper
//
// Theorem 1 uses the width of every coordinate's range as its sensitivity, although records are
// assumed to have norm 1, and composes by a bound on Rényi divergences. Here records are clipped to
// a public norm, features and label of a record are one vector of bounded norm, and T mixtures are
// priced by the privacy curve of the sampled Gaussian itself. The noise is three to eight times
// smaller for the same ε. [PaperTheorem1] computes the paper's number, for comparison only.
//
// Sums are released, never means: with Poisson samples the number of records in a mixture is
// private, and the divisor is the public degree.
//
// Two variants are not in the paper. [Config.ByClass] mixes records of one class; classes are
// disjoint parts of the records. [Centers] releases mean records first, with a small part of the
// budget, and mixes deviations from them, which are shorter and need less noise.
//
// # Records from mixtures
//
// [Model.Rows] returns the released rows. The generator turns them into records. If the mixed
// records are vectors or images, the rows themselves are returned, clamped to the domain. A mixture
// of table rows or of sets is not a table row or a set, and rounding it to one would give an
// average record. For tables and sets new records are therefore drawn, from class means and a
// factor analysis of the rows: levels and items by their probabilities, numbers within their
// bounds. Projected records of any kind are vectors.
//
// # Learning from mixtures
//
// Everything in this package that takes a [Rows] works on released numbers only and is
// post-processing: [Linear] (the variant of stochastic gradient descent of Theorem 2, which
// subtracts the known effect of the noise), [Trainer] (soft-label training of any classifier),
// [Moments] (means and covariances of the classes, from which labelled records are drawn),
// [Denoise] and [Project].
//
// # Defaults
//
// If [Config.Nominal] is set, rules choose every field that is zero. They depend on the schema, the
// budget and that number only: the Poisson sampling of the budget's relation; Nominal mixtures, at
// most 60,000, each of one class if there are classes; as clip norm the largest norm of a record
// (for images .32 of it, for sets the norm of 12 items); [Centers] with .15 of ε and .72 of the
// clip norm. The plan chooses the degree, as without Nominal.
package mix
