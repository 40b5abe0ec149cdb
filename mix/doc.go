// Package mix publishes mixtures of records under differential privacy: the system of Lee, Kim,
// Lee, Suh and Ramchandran, "Synthesizing Differentially Private Datasets using Random Mixing"
// (ISIT 2019), in a form whose guarantee is tight.
//
// A mixture is the sum of about ℓ records drawn at random, features and one-hot label together,
// plus noise, divided by the public ℓ. T of them are released, each of a fresh sample; ℓ is the
// mixture degree.
//
//	Config ── Plan: degree, noise and the whole bill, before any record is read
//	Plan   ── Fit:  draws the mixtures, spends        (Stream: the same in constant memory)
//	Model  ── released rows only: export them, train on them, share them
//
// Plan and generator are those of package synth, which says how a run is paid for, watched and
// taken up again from a checkpoint; gen.Model().(*mix.Model) is what only this system has. Mixtures
// that an interruption lost are left out: the release has fewer rows, and every estimate counts
// those there are.
//
// # How records are drawn decides what is promised
//
// A [Sampling] is bound to one neighbouring relation by its type, so that the two cannot be
// confused: [Poisson] is for add/remove, [WithoutReplacement] and [PoissonReplaceOne] are for
// replace-one, where the number of records is public. A budget of another relation is refused.
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
// a small part of the budget, and mixes deviations from them, which are shorter, so that the same
// noise hides them better.
//
// # Records from mixtures
//
// [Model.Rows] is the raw release. The generator makes records of it: vectors and images are the
// rows themselves, moved into the domain. A mixture of rows of a table, or of sets, is no such row;
// rounded to one it would be a blurred average. Tables and sets are therefore drawn again, from
// class means and a factor analysis of the rows: levels and items by their probabilities, numbers
// within their bounds. Projected records, of whatever kind, are vectors and stay vectors.
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
// only: the Poisson sampling of the budget's relation, as many mixtures as records and 60,000 at
// most, of one class each where there are classes; the largest norm of a record for clip norm
// (images: .32 of it, sets: that of 12 items); [Centers] with .15 of ε and .72 of the clip norm.
// The degree is the plan's to choose as ever.
package mix
