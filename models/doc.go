// Package models holds the networks that privgen trains: variational autoencoders, restricted
// Boltzmann machines, multilayer perceptrons and convolutional networks.
//
// The package is pure matrix arithmetic, without noise, clipping or ledger. A network computes its
// per-example gradients in factored form, and the training code uses their norms and weighted sums.
// Package sgd trains privately, and report/evaluate/classify without privacy. The matrix with one
// row of parameters for each example is never formed.
//
// Consider a dense layer with input aᵢ and back-propagated delta δᵢ. The gradient of example i is
// the outer product aᵢδᵢᵀ for the weights, together with δᵢ for the bias. So its squared norm is
// (‖aᵢ‖²+1)·‖δᵢ‖². A weighted sum of gradients is one matrix product after scaling rows (Goodfellow
// 2015, "Efficient Per-Example Gradient Computations").
//
// A convolution applies one matrix at many places. Let A hold the patches and D the deltas of one
// record, with one row for each place; the record's gradient is AᵀD. Norms come from this product
// or, where that is cheaper, from the Gram matrices of A and D (Rochette, Manoel and Tramel 2019).
// They are rounded up, so they are upper bounds even where terms cancel. The weighted sum is one
// product over all places of all records. A ConvDecoder may normalise over its batch, so it is a
// Generator only and not a Network.
//
// [Build] makes a network from the computation of one record's loss, whatever its layers. All
// networks of the package except RBM consist of the same units.
//
// Four kinds of networks differ in how they use the records. A [Density] models how records are
// distributed and is trained on them privately (VAE, RBM). A [Generator] turns codes into records
// and never sees a private record. It is trained against something already released or protected,
// such as an embedding or a critic (MLP, ConvDecoder). A [Critic] sees records and a generator's
// fakes, and is trained privately (MLP, CNN). A [Classifier] predicts classes (MLP, CNN). The first
// three are built from public descriptions that can be saved: [DensityArchitecture],
// [GeneratorArchitecture], [CriticArchitecture]. Package privgen has its own type of generator, the
// result of a whole system; it holds a Density or a Generator of this package.
//
// A Critic scores records, and a generator learns from the scores of its fakes. The critic's
// gradient penalty is itself a function of a gradient. Where activations are piecewise linear, the
// gradient of one record's penalty is still one outer product in each layer: a tangent, propagated
// forward, times the ordinary delta. Record, fake and penalty are then three rows, whose Gram
// matrices give norms. Smooth activations have second derivatives, so a critic with them has a
// fourth row.
//
// Any type that implements the small interfaces Network and Gradients can be used in place of this
// package's networks.
package models
