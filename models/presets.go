package models

// PaperVAE returns the variational autoencoder of the DPGM papers: one hidden layer of
// 200 rectifiers in encoder and decoder, two latent coordinates, trained by Adam.
//
// Source: Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private
// Mixture of Generative Neural Networks", ICDM 2017 and TKDE 2019, section 6.1.
// The papers leave the learning rate, Adam's decay rates, the initial weights and
// the output bias open.
func PaperVAE() VAE { return VAE{Hidden: []int{200}, Latent: 2, Activation: ReLU} }

// PaperRBM returns the restricted Boltzmann machine of the DPGM papers: 200 hidden units, weights
// from N(0, 0.01²), biases zero, persistent contrastive divergence (with learning rate 0.01). Its
// gradients have large norms, about 140 before training. So with a fixed clip norm C, the size of a
// step depends on C times the learning rate.
//
// Source: the papers of PaperVAE. They leave the number of chains open; here it is 100.
func PaperRBM() RBM { return RBM{Hidden: 200, Chains: 100, Sweeps: 1, WeightStd: 0.01} }
