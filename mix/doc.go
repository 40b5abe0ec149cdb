// Package mix publishes mixtures of records under differential privacy: the system of Lee, Kim,
// Lee, Suh and Ramchandran, "Synthesizing Differentially Private Datasets using Random Mixing"
// (ISIT 2019), with a tighter guarantee.
//
// A mixture is the sum of about ℓ records drawn at random, features and one-hot label together,
// plus noise, divided by the public ℓ. T of them are released, each of a fresh sample; ℓ is the
// mixture degree.
//
//	Config ── Plan: degree, noise and the whole bill, before any record is read
//	Plan   ── Fit:  draws the mixtures, spends        (Stream: the same in constant memory)
//	Model  ── released rows only: export them, train on them, share them
//
// Plan and generator are those of package synth, which documents how a run is paid for, observed
// and resumed from a checkpoint; gen.Model().(*mix.Model) is this system's own part. Mixtures lost
// to an interruption are left out: the release has fewer rows, and estimates use the rows that
// exist.
//
// # How records are drawn decides what is promised
//
// The type of a [Sampling] fixes the neighbouring relation: [Poisson] is for add/remove,
// [WithoutReplacement] and [PoissonReplaceOne] are for replace-one, where the number of
// records is public. A budget of another relation is an error.
//
// # Where this differs from the paper
//
// Theorem 1 takes the width of every coordinate's range for the sensitivity, although records were
// assumed to have norm 1, and composes by a bound on Rényi divergences. Here records are clipped to
// a public norm, features and label of a record are one vector of that norm, and T mixtures are
// priced by the curve of the sampled Gaussian itself. The noise is three to eight times smaller for
// the same ε. [PaperTheorem1] computes the paper's number, for comparison only.
//
// Sums are released, never means: with Poisson samples the number of records in a mixture is
// private, and the divisor is the public degree.
//
// Two variants in the same frame are the library's own. [Config.ByClass] mixes records of one
// class, the classes being disjoint parts of the records. [Centers] releases mean records first, on
// a small part of the budget, and mixes deviations from them, which are shorter and need less
// noise.
//
// # Records from mixtures
//
// [Model.Rows] is the raw release. The generator makes records of it: vectors and images are the
// rows themselves, moved into the domain. A mixture of table rows or of sets is not such a record,
// and rounded to one it would be a blurred average. For tables and sets new records are therefore
// drawn, from class means and a factor analysis of the rows: levels and items by their
// probabilities, numbers within their bounds. Projected records of any kind are vectors.
//
// # Learning from mixtures
//
// Everything in this package that takes a [Rows] works on released numbers only and is
// post-processing: [Linear] (the variant of stochastic gradient descent of Theorem 2, which
// subtracts the noise's known share), [Trainer] (soft-label training of any classifier), [Moments]
// (means and covariances of the classes, from which labelled records are drawn), [Denoise] and
// [Project].
//
// # Defaults
//
// [Config.Nominal] sets every zero field, by rules that use the schema, the budget and that number
// only: the Poisson sampling of the budget's relation, as many mixtures as records, at most
// 60,000, of one class each if there are classes; the largest norm of a record for clip norm
// (images: .32 of it, sets: that of 12 items); [Centers] with .15 of ε and .72 of the clip norm.
// The plan chooses the degree, as without Nominal.
package mix
