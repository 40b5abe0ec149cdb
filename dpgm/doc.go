// Package dpgm learns a mixture of generative networks under differential privacy. It implements
// the system of Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private Mixture of
// Generative Neural Networks" (ICDM 2017, TKDE 2019). Corrections make the guarantee hold.
//
// Records are first clustered by private k-means, on random Fourier features or on the records
// themselves. Private gradient descent then trains one network per cluster. The released networks,
// weighted by the released noisy cluster sizes, generate synthetic records.
//
//	Config ── Plan: chooses noise multipliers and prices the run before any record is read
//	Plan   ── Fit: clusters, trains and spends; see package synth
//	Model  ── this system's part of a generator; holds released state only
//
// # Where this differs from the papers
//
// In each step, Algorithm 1 of the paper chooses one cluster with probability |Dₛ|/|D|, and its
// accounting assumes that a record is then sampled with probability L/|D|. But the exact sizes are
// private, and an observer can see which network has changed. The true sampling rate is therefore
// L/|Dₛ|, and the stated ε is too small by a factor of about √k or more. In this package every step
// samples the whole data set with one public probability. It routes each sampled record to the
// network of the record's cluster, and all k networks take a noisy step. Routing is a function of
// the record and of released centres, so a record changes only one block of the stacked gradient. A
// step is therefore exactly one Poisson-subsampled Gaussian for every k.
//
// The papers model bits. This package also models rows of tables in encoded form
// ([records.Schema.Blocks]). Networks compute the probabilities of a column's levels by softmax,
// and numbers by sigmoid. Levels are then drawn, so every synthetic row is valid under the schema.
// Labels are not modelled.
//
// Clusters are weighted by their noisy sizes, never by exact sizes. The caller chooses how many
// records are generated.
//
// # Defaults
//
// If [Config.Nominal] is set, rules choose every field that is zero. The rules depend only on the
// schema, the budget and n = Nominal. The signal is s = n/σ₁, where σ₁ is the noise multiplier of a
// single release that spends the whole budget.
//
//	sets          one network; [Marginals] with 0.95 of ε if there are fewer than 200 records per
//	              item, otherwise 0.8 (with clusters 0.6); sets are scaled down to √(n/items)
//	              items, at least 5; a VAE of 8 to 64 units; batches of 1,000, clip norm 5,
//	              Adam at rate 0.003·√(1000/T)
//	few items     below 64 items: s/2000 clusters, at most 32, found in 12 iterations with 0.3 of ε
//	              in at most 100 random features
//	images        s/700 clusters, at most 10, in features of rff.Strokes, with s/670 centres, at
//	              most 2.5 per cluster, found in 10 iterations with 0.3 of ε; trained like others
//	others        s/1000 clusters, at most 10, found in 20 iterations with 0.15 of ε, in 50 to 800
//	              random features, so many that a centre's noise is at most 0.4 of its norm;
//	              a VAE of 16 to 256 units, samples of 13,333 records but 2 to 20 % of all,
//	              clip norm 1, momentum 0.9 at rate 0.3
//	steps         T = (0.35·s)²/(parameters of a cluster's network), at most 1,000 (sets) or 150
//
// [Marginals].Off switches marginals off. docs/defaults.md explains the numbers.
package dpgm
