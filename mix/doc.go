// Package mix publishes mixtures of records under differential privacy: the system of Lee, Kim,
// Lee, Suh and Ramchandran, "Synthesizing Differentially Private Datasets using Random Mixing"
// (ISIT 2019), with a tighter guarantee.
//
// A mixture is the sum of about ℓ records drawn at random, plus noise, divided by ℓ. The number ℓ
// is public and is called the mixture degree. A record is added as one vector of its features and
// its one-hot label. T mixtures are released, each of a fresh sample.
//
//	Config ── Plan: chooses degree and noise and prices them, before any record is read
//	Plan   ── Fit:  releases the mixtures        (Stream: the same in constant memory)
//	Model  ── holds only released rows, which may be exported, trained on and shared
//
// Plan and generator are those of package synth, which documents how a run is paid for, observed
// and resumed from a checkpoint. gen.Model().(*mix.Model) is the part that belongs to this system.
// If an interruption loses mixtures, the release has fewer rows, and estimates use the rows that
// exist.
//
// # The sampling determines the guarantee
//
// The type of a [Sampling] fixes the neighbouring relation. [Poisson] is for add/remove.
// [WithoutReplacement] and [PoissonReplaceOne] are for replace-one, under which the number of
// records is public. A budget with another relation is an error.
//
// # Where this differs from the paper
//
// Theorem 1 takes the width of a coordinate's range as its sensitivity, although records are
// assumed to have norm 1, and composes with a bound on Rényi divergences. This package clips
// records to a public norm, with the features and the label of a record as one vector, and prices T
// mixtures with the privacy curve of the sampled Gaussian. For the same ε its noise is three to
// eight times smaller. [PaperTheorem1] computes the paper's number, for comparison only.
//
// The package releases sums, never means. The number of records in a Poisson sample is private, so
// the divisor is the public degree instead.
//
// Two variants are not in the paper. [Config.ByClass] mixes only records of the same class; classes
// are disjoint parts of the records. [Centers] first releases mean records, for a small part of the
// budget, and then mixes the records' deviations from them, which are shorter and need less noise.
//
// # Records from mixtures
//
// [Model.Rows] returns the released rows. The generator turns them into records. If the mixed
// records are vectors or images, the rows themselves are returned, clamped to the domain. A mixture
// of table rows or of sets is not a table row or a set, and rounding it to one would give an
// average record. For tables and sets the generator therefore draws new records, from class means
// and a factor analysis of the rows. Levels and items are drawn by their probabilities, and numbers
// within their bounds. Projected records of any kind are returned as vectors.
//
// # Learning from mixtures
//
// Everything in this package that takes a [Rows] uses released numbers only, so it is
// post-processing: [Linear] (the variant of stochastic gradient descent of Theorem 2, which
// subtracts the known effect of the noise), [Trainer] (soft-label training of any classifier),
// [Moments] (means and covariances of the classes, from which labelled records are drawn),
// [Denoise] and [Project].
//
// # Defaults
//
// If [Config.Nominal] is set, rules choose every field that is zero. They depend only on the
// schema, the budget and that number:
//
//   - the sampling is Poisson, with the relation of the budget;
//   - the number of mixtures is Nominal, at most 60,000, and if there are classes, each mixture is
//     of one class;
//   - the clip norm is the largest norm of a record, for images .32 of it, for sets the norm of 12
//     items;
//   - [Centers] gets .15 of ε and .72 of the clip norm.
//
// The plan chooses the degree, as it does without Nominal.
package mix
