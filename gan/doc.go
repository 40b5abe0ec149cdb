// Package gan trains generative adversarial networks under differential privacy. It implements the
// system of Zhang, Ji and Wang, "Differentially Private Releasing via Deep Generative Model"
// (dp-GAN, 2018). Corrections make the guarantee hold, and improvements come from later work.
//
// A critic learns to distinguish real records from generated records (fakes), and a generator
// learns to make fakes that the critic accepts. Only the critic sees real records. Its steps are
// private gradient descent, and the generator learns only from released critics.
//
//	Config ── Plan: chooses the noise and prices the run before any record is read
//	Plan   ── Fit: trains and spends; see package synth
//	Model  ── the model of a synth.Generator; holds released state only
//
// # What one record can change
//
// Each record has its own fake, and an interpolate of both for the gradient penalty. They are drawn
// from the record's key. The gradients of the three parts are clipped together, so fakes cost no
// additional privacy. No layer of a critic mixes records.
//
// With labels, critic and generator are conditional: the label is a part of the record, and the
// record's fake has the same label. This is DP-CGAN (Torkzadehmahani, Kairouz and Paten 2019) with
// correct accounting.
//
// # Where this differs from the paper
//
// The paper composes groups of parameters in parallel (Theorem 4.1), although every record
// contributes to all groups. Elsewhere it charges each group as if it had a separate batch. In this
// package all groups of a step are one release of one Poisson-sampled batch, with one noise
// multiplier. The noise is divided among the groups such that the total noise is smallest
// ([sgd.Groups]). Consider the paper's setting for MNIST: σ = 1.086, five groups and a claimed ε of
// 4. If groups cost nothing extra, that ε permits 257,766 steps by the accountant used at the time;
// the true ε of these steps is 34.5.
//
// Noise is added once to the sum of a batch, not to each gradient. Batches are Poisson samples with
// a public probability. The whole run is reserved before its first step, so the budget is never
// exceeded.
//
// # Public data
//
// Records that are truly public have three uses. They can train both networks before the private
// steps (a warm start), determine clip norms, and group parameters (Algorithms 2 and 3 of the
// paper). Their use costs no privacy, and the guarantee does not cover them. The
// caller declares them public ([records.DeclarePublic]). It is an error if they are known to be the
// private records. Without public records, clip norms can come from the private policies of package
// sgd.
//
// # Defaults
//
// If [Config.Nominal] = n is set, rules choose every field that is zero. The rules depend only on
// the schema, the budget and n. The signal is s = n/σ₁, where σ₁ is the noise multiplier of a
// single release that spends the whole budget. Then
//
//	critic        one layer of 16 to 256 units, the widest whose gradient, with 1,000 steps, has
//	              noise below 0.35·s
//	generator     two layers of twice that width, at least 64; codes of 32 numbers
//	steps         T = (0.35·s)²/parameters, from 100 to 4,000, and at most 4 minutes of steps
//	sampling      batches of 2·s/√T, from 64 to 1,000: noise multipliers are about 1 or more
//	clip          sgd.Normalize, which needs no clip norm
//	optimisers    Adam at 1e-3 for both, 2 critic steps per generator step
//	average       0.99
//
// docs/defaults.md derives the numbers from measurements on generated data.
package gan
