// Package merf makes labelled synthetic records from one private release. It implements the system
// of Harder, Adamczewski and Park, "DP-MERF: Differentially Private Mean Embeddings with Random
// Features for Practical Privacy-Preserving Data Generation" (AISTATS 2021), with corrections
// without which the guarantee would not hold.
//
// Every record is mapped to features of bounded norm (package rff). For each class, the noisy sum
// of its records' features and its noisy count are released. All classes together are a single
// Gaussian release. A generator is then trained until the mean features of its records match the
// released means. Training costs no privacy.
//
//	Config    ── Plan: chooses the noise and prices the run before any record is read
//	Plan      ── Embed: reserves, sums, releases; Fit: does the same and trains a generator
//	Embedding ── the release: save it, share it, Train any number of generators against it
//	Model     ── a trained generator: draws records of one class, or of all in noisy proportions
//
// # Where this differs from the paper
//
// Classes are disjoint, so the sums and counts of all classes form one release, not one release for
// each class. The noise covers the features of columns of every kind. Categories are one-hot,
// because integer codes would exceed the paper's stated sensitivity several times over. Noise is
// added to sums, never to means. A sum is divided afterwards, by a noisy count with a lower limit
// or by a public number of records. Length scales come from the schema or from the caller, never
// from private records.
//
// This package does not offer the paper's auto-encoder variant. That variant trains its encoder on
// private records without noise and then clips the decoder's gradients. One record can then change
// the gradient of every other record, so the sensitivity of the sum is not bounded. [Encoded] uses
// an encoder trained on public records instead.
//
// # Defaults
//
// Only Schema and Budget are always required. If [Config.Nominal] = n is given, fields that are
// zero get defaults, which depend on the schema and on the signal s = n/σ₁. Here σ₁ is the noise
// multiplier of a single release that spends the whole budget, and k is the number of classes.
//
//	tables        rff.Pairs, unless k·√features/s exceeds 0.15 or there are over 200,000 features;
//	              then with 6 knots, unless it exceeds 0.1 or there are too many features; then of
//	              order 1 (single columns)
//	images        rff.PatchesFor (rff.Rule in colour or with a side below 8 pixels); a ConvDecoder
//	              if both sides are multiples of 4
//	others        rff.Rule
//	features      (s/16k)², at least 200, at most 10,000 (images: 4,000) and 50 per coordinate
//	networks      one; images: six, with 1,000 features compared in each step
//	steps         2,000, or as many as fit in 5 minutes if that is fewer; images: as many as fit in
//	              85 s for all networks together, from 1,000 to 10,000 for each
//
// docs/defaults.md shows the measurements behind these numbers.
package merf
