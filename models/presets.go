package models

// PaperVAE returns the variational autoencoder of the DPGM papers: one hidden layer of
// 200 rectifiers in encoder and decoder, two latent coordinates, trained by Adam.
//
// Source: Acs, Melis, Castelluccia and De Cristofaro, "Differentially Private
// Mixture of Generative Neural Networks", ICDM 2017 and TKDE 2019, section 6.1.
// The papers leave the learning rate, Adam's decay rates, the initial weights and
// the output bias open.
func PaperVAE() VAE { return VAE{Hidden: []int{200}, Latent: 2, Activation: ReLU} }
