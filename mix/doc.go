// Package mix publishes mixtures of records under differential privacy. It implements the system of
// Lee, Kim, Lee, Suh and Ramchandran, "Synthesizing Differentially Private Datasets using Random
// Mixing" (ISIT 2019), with a tighter guarantee.
//
// A mixture is the sum of about ℓ records drawn at random, plus noise, divided by ℓ. The number ℓ
// is public and is called the mixture degree. Each record is added as one vector, which consists of
// its features and its one-hot label. The release has T mixtures, each of a fresh random sample.
//
//	Config ── Plan: chooses degree and noise, and prices the run before any record is read
//	Plan   ── Fit:  releases the mixtures        (Stream: the same in constant memory)
//	Model  ── holds only released rows, which may be exported, trained on and shared
//
// Package synth documents plans and generators: how a run is paid for, observed and resumed from a
// checkpoint. The model of this system is gen.Model().(*mix.Model). If an interruption loses
// mixtures, the release has fewer rows, and estimates use only the remaining rows.
//
// # The sampling determines the guarantee
//
// The type of the [Sampling] determines the neighbouring relation. [Poisson] is for add/remove.
// [WithoutReplacement] and [PoissonReplaceOne] are for replace-one, under which the number of
// records is public. A budget with a different relation is an error.
//
// # Where this differs from the paper
//
// Theorem 1 of the paper uses the width of each coordinate's range as its sensitivity, although the
// paper assumes records of norm 1. It composes the T mixtures with a bound on Rényi divergences.
// This package clips records to a public norm and treats the features and the label of a record as
// one vector. It prices the T mixtures with the privacy curve of the sampled Gaussian. For the same
// ε the noise of this package is three to eight times smaller: noise of .27 on the means of 64 of
// 60,000 records costs ε = 10 by the theorem, and 1.1 by the curve.
//
// The package adds noise to sums, never to means. The number of records in a Poisson sample is
// private, so every sum is divided by the public degree instead.
//
// Two variants are not in the paper. [Config.ByClass] mixes only records of the same class.
// Mixtures of different classes then use disjoint sets of records. [Centers] first releases mean
// records for a small part of the budget. It then mixes the records' deviations from these means;
// the deviations are shorter and need less noise.
//
// # Records from mixtures
//
// Records are vectors or images. [Model.Rows] returns the released rows, and the generator returns
// them as records, clamped to the domain. Projected records are returned as vectors. Tables and
// sets are refused: a mixture of table rows is not a table row, and a mixture of sets is not a set.
//
// # Learning from mixtures
//
// Every learner in this package uses released rows only and is therefore post-processing. [Trainer]
// trains any classifier on soft labels. [Moments] has the means and covariances of the classes,
// from which labelled records can be drawn. [Denoise] and [Project] prepare rows for learning.
//
// # Defaults
//
// If [Config.Nominal] is set, rules choose every field that is zero. The rules depend only on the
// schema, the budget and Nominal:
//
//   - the sampling is the Poisson sampling of the budget's relation;
//   - the number of mixtures is Nominal, but at most 60,000, and if there are classes, each mixture
//     is of one class;
//   - the clip norm is the largest norm of a record (for grey images 0.32 of it, for colour images
//     0.58 of it);
//   - [Centers] gets 0.15 of ε, and deviations are clipped to 0.72 of the clip norm.
//
// The plan chooses the degree, with or without Nominal.
package mix
