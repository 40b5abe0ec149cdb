// Package dpgm learns a mixture of generative networks under differential privacy: the system of
// Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private Mixture of Generative Neural
// Networks" (ICDM 2017, TKDE 2019), corrected so that the guarantee holds.
//
// Records are clustered by private k-means, on random Fourier features or on the records
// themselves. Then one network per cluster is trained by private gradient descent. The released
// networks, weighted by the released noisy cluster sizes, are a generator of synthetic records.
//
//	Config ── Plan: every noise multiplier and every price, before any record is read
//	Plan   ── Fit:  clusters, trains, spends; package synth documents what all plans share
//	Model  ── released state only: this system's part of a generator
//
// # Where this differs from the papers
//
// In each step, Algorithm 1 chooses one cluster with probability |Dₛ|/|D| and accounts as if a
// record were then sampled with probability L/|D|. The exact sizes are private, and which network
// has changed is visible, so the true rate is L/|Dₛ| and the stated ε is too small by a factor of
// about √k or more. Here every step samples the whole data set with one public probability and
// routes each sampled record to the network of its own cluster. All k networks take a noised step.
// Routing is a function of the record and of released centres, so one record changes one block of
// the stacked gradient, and a step is exactly one Poisson-subsampled Gaussian, whatever k is.
//
// The papers model bits. Here a row of a table is a vector in its encoded form
// ([records.Schema.Blocks]): networks compute the probabilities of a column's levels by softmax and
// numbers by sigmoid, levels are drawn, and every synthetic row is valid under the schema. Labels
// are not modelled.
//
// Clusters are weighted by their noisy sizes, never by exact ones, and the caller
// chooses how many records are generated.
//
// # Defaults
//
// If [Config.Nominal] is set, rules choose every field that is zero. They depend on the schema, the
// budget and that number n alone. The signal is s = n/σ₁, where σ₁ is the noise of one release that
// costs all of ε.
//
//	sets          one network; [Marginals] with .95 of ε where there are fewer than 200 records an
//	              item, otherwise .8 (with clusters .6), of √(n/items) items a record, at least 5;
//	              a VAE of 8 to 64 units; batches of 1,000, clip norm 5, Adam at .003·√(1000/T)
//	few items     below 64 items: s/2000 clusters, at most 32, found in 12 iterations with .3 of ε,
//	              in 100 random features at most
//	images        s/700 clusters, at most 10, of rff.Strokes, by up to 2.5 centres for each (one for
//	              s/670), found in 10 iterations with .3 of ε; training as for others
//	others        s/1000 clusters, at most 10, found in 20 iterations with .15 of ε, in random
//	              features as many as leave a centre's noise below .4 of its norm, 50 to 800;
//	              a VAE of 16 to 256 units, samples of a fifth of the records, clip norm 1,
//	              momentum .9 at rate .3
//	steps         T = (.35·s)²/(parameters of a cluster's network), at most 1,000 (sets) or 150
//
// [Marginals].Off switches marginals off. docs/defaults.md explains the numbers.
package dpgm
