// Package dpgm learns a mixture of generative networks under differential privacy: the system of
// Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private Mixture of Generative Neural
// Networks" (ICDM 2017, TKDE 2019), in a form whose guarantee holds.
//
// Records are clustered by private k-means, in a space of random Fourier features or as they are;
// then one network per cluster is trained by private gradient descent; the released networks,
// weighted by the released noisy cluster sizes, are a generator of synthetic records.
//
//	Config ── Plan: every noise multiplier and the whole bill, before any record is read
//	Plan   ── Fit:  clusters, trains, spends; what every plan does is package synth's
//	Model  ── released state only: the generator's part that is this system's own
//
// # Where this differs from the papers
//
// Algorithm 1 picks one cluster a step with probability |Dₛ|/|D| and accounts as if a record were
// then sampled with probability L/|D|. The exact sizes are private, and which network moved is
// visible, so the true rate is L/|Dₛ| and the stated ε is too small by about √k or more. Here every
// step samples the whole data set with one public probability and routes each sampled record to the
// network of its own cluster; all k networks take a noised step. Routing is a function of the
// record and of released centres, so one record touches one block of the stacked gradient, and a
// step is exactly one Poisson-subsampled Gaussian, whatever k is.
//
// The papers model bits. A row of a table is a vector in its encoded form here
// ([records.Schema.Blocks]): networks state the probabilities of a column's levels by
// softmax and numbers by sigmoid, levels are drawn, and every synthetic row is one that
// the schema holds. Labels are not modelled.
//
// Clusters are weighted by their noisy sizes, never by exact ones, and how many
// records are generated is the caller's choice.
package dpgm
