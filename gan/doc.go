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
//
// # Marginals of tables
//
// [Marginals] spends a part of the budget on one release: how the values of every column are
// distributed in every class. What follows is free. The critic sees a number by its rank, the
// generator begins at the released distributions and is set back to them at the end, and classes
// come as often as they were released. With [Config.Drawn] the critic is shown fakes whose levels
// are drawn.
//
// # Defaults
//
// [Config.Nominal] sets every zero field, by rules that use the schema, the budget and that
// number only. The signal is s = n/σ₁, where σ₁ is the noise of one release that costs all of ε;
// marginals with a share a of ε leave √(1−a²) of it to the critic. Then
//
//	critic        one layer, the widest of 16 to 256 (tables: 64) whose gradient, times √1000 steps,
//	              has noise below .35·s
//	generator     two layers of twice that width, at least 64; codes of 16 (tables) or 32
//	steps         T = (.35·s)²/parameters, from 100 to 4,000, and to what is done in 4 minutes
//	sampling      batches of 2·s/√T, from 64 to 1,000: the noise multiplier stays above 1 or so
//	clip          sgd.Normalize: no norm to choose
//	tables        Marginals with .6 of ε, Logistic, Drawn, Adam at 5e-4 and 1e-4, 5 critic steps
//	others        Wasserstein, Adam at 1e-3 for both, 2 critic steps for each of the generator
//	average       .99
//
// A Penalty asks for Wasserstein, [Marginals].Off for none. docs/defaults.md shows the grids of
// made-up data that the numbers come from.
package gan
