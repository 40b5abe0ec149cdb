// Package augment chooses by a private measurement how synthetic images are changed after they are
// drawn, such as by small distortions or a stretch of the contrast.
//
// Classifiers that learn from distorted digits recognise real digits better. With other images the
// same distortion does harm. The right change cannot be found from synthetic images alone, and no
// guarantee would cover a choice by plain results on private images. This package makes the choice
// private:
//
//   - The other system, for example of package merf or labelling, releases its generator.
//   - For every candidate, a classifier learns from changed synthetic images. It costs no privacy.
//   - The number of private records that a classifier recognises is its utility, and the
//     exponential mechanism chooses a candidate. This is one event on the ledger.
//
// Guarantee: the stages of the other system and the choice are reserved on the ledger in one
// transaction before the first draw, and composed at the whole budget's δ. One record changes every
// utility by at most 1 under both relations: its presence adds at most 1 to the number of
// recognised records, and its replacement changes the number by at most 1. The classifiers and the
// candidates are computed from released and public values. A classifier scores every record by
// itself, on the CPU, which promises that a record's scores do not depend on other records. Only
// the index of the chosen candidate is released; the counts are not.
//
// A run that is interrupted between the choice and its release has spent the choice and lost its
// result. If it is resumed, it uses the first candidate. If the generator of the other system fails
// to draw records, the run fails before the choice, but the other system's stages are spent. If the
// context is cancelled while a classifier learns, the run ends when this classifier is complete,
// and nothing is chosen.
//
// Source: McSherry and Talwar 2007 for the choice.
package augment
