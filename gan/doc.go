// Package gan trains generative adversarial networks under differential privacy: the system of
// Zhang, Ji and Wang, "Differentially Private Releasing via Deep Generative Model" (dp-GAN, 2018),
// in a form whose guarantee holds, with what later work found to help.
//
// A critic learns to tell records from fakes, a generator to make fakes that it cannot tell. Only
// the critic sees records: its steps are private gradient descent, and everything the generator
// learns, it learns from released critics.
//
//	Config ── Plan: noise and the whole bill, before any record is read
//	Plan   ── Fit:  trains, spends; package synth says what all plans have in common
//	Model  ── what a synth.Generator of this system holds: released state only
//
// # What one record can change
//
// Under Wasserstein the fake and the interpolate of the gradient penalty belong to the record,
// drawn from a key of its own, and the gradient of all three parts is clipped as one: fakes are
// never charged. Under Logistic and Hinge fakes are outside: their gradient is a function of
// released parameters and public randomness, and is added after the noise. No layer of a critic
// mixes records.
//
// With labels, critic and generator are conditional: the label is a part of the record, and its
// fake has the same. That is DP-CGAN (Torkzadehmahani, Kairouz and Paten 2019) with a sound
// account.
//
// # Where this differs from the paper
//
// Parameter groups are not disjoint records: the paper composes them in parallel (Theorem 4.1)
// although one record is in all of them, or charges each as if its batch were its own. Here all
// groups of a step are one release of one Poisson-sampled batch with one noise multiplier, spread
// over the groups for the least total noise ([sgd.Groups]). At the paper's setting for MNIST (σ =
// 1.086, five groups, a claimed ε of 4) the reading without extra cost takes 257 766 steps by the
// accountant of the time, and its true ε is 34.5.
//
// Noise is added once to the sum of a batch, not to each gradient; batches are Poisson samples with
// a public probability; the whole run is reserved before its first step, so the budget is asked
// before and never overshot.
//
// # Public data
//
// Records that are really public may warm up both networks, set clip norms and group parameters
// (Algorithms 2 and 3). They cost nothing, and the guarantee says nothing about them. A run refuses
// records that share storage with its private ones. Without any, clip norms come from sgd's private
// policies.
package gan
