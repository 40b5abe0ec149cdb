// Package gan trains generative adversarial networks under differential privacy. It is the system
// of Zhang, Ji and Wang, "Differentially Private Releasing via Deep Generative Model" (dp-GAN,
// 2018), corrected so that the guarantee holds, with improvements from later work.
//
// A critic learns to distinguish records from generated ones (fakes), and a generator learns to
// make fakes that the critic accepts. Only the critic sees records: its steps are private
// gradient descent, and the generator learns from released critics only.
//
//	Config ── Plan: noise and price, before any record is read
//	Plan   ── Fit:  trains, spends; package synth documents what all plans share
//	Model  ── the model of a synth.Generator: released state only
//
// # What one record can change
//
// Under Wasserstein the fake and the interpolate of the gradient penalty belong to the record
// and are drawn from the record's key, and the gradient of all three parts is clipped as one:
// fakes cost nothing extra. Under Logistic and Hinge fakes are separate: their gradient is a
// function of released parameters and public randomness, and is added after the noise. No layer
// of a critic mixes records.
//
// With labels, critic and generator are conditional: the label is a part of the record, and its
// fake has the same. This is DP-CGAN (Torkzadehmahani, Kairouz and Paten 2019) with sound
// accounting.
//
// # Where this differs from the paper
//
// Parameter groups are not disjoint records: the paper composes them in parallel (Theorem 4.1)
// although one record is in all of them, or charges each as if it had a separate batch. Here all
// groups of a step are one release of one Poisson-sampled batch with one noise multiplier, spread
// over the groups for the least total noise ([sgd.Groups]). At the paper's setting for MNIST (σ =
// 1.086, five groups, a claimed ε of 4) the reading without extra cost takes 257,766 steps by the
// accountant of the time, and its true ε is 34.5.
//
// Noise is added once to the sum of a batch, not to each gradient; batches are Poisson samples with
// a public probability; the whole run is reserved before its first step, so the budget is never
// exceeded.
//
// # Public data
//
// Records that are really public may warm up both networks, set clip norms and group parameters
// (Algorithms 2 and 3). They cost nothing, and the guarantee does not cover them. Public records
// that share storage with the private ones are an error. Without public records, clip norms come
// from sgd's private policies. With [Config.Follows] the public records are synthetic ones, of an
// earlier system on the same ledger: see package sequence.
//
// # Marginals of tables
//
// [Marginals] spends a part of the budget on one release: how the values of every column are
// distributed in every class. The rest is post-processing. The critic sees a number by its rank,
// the generator starts at the released distributions and is reset to them at the end, and classes
// are drawn with the released frequencies. With [Config.Drawn] the critic sees fakes with
// drawn levels.
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
//	steps         T = (.35·s)²/parameters, from 100 to 4,000, and at most as many as take 4 minutes
//	sampling      batches of 2·s/√T, from 64 to 1,000: the noise multiplier stays above 1 or so
//	clip          sgd.Normalize: no norm to choose
//	tables        Marginals with .6 of ε, Logistic, Drawn, Adam at 5e-4 and 1e-4, 5 critic steps
//	others        Wasserstein, Adam at 1e-3 for both, 2 critic steps for each of the generator
//	average       .99
//
// A Penalty selects Wasserstein; [Marginals].Off releases none. docs/defaults.md derives the
// numbers from measurements on generated data.
package gan
