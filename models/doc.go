// Package models holds networks and their per-example gradients, without noise, clipping or ledger.
// Package sgd trains networks privately, and report/evaluate/classify without privacy.
//
// # Networks of callers
//
// [Build] makes a network from the computation of one record's loss:
//
//	net, err := models.Build(device.CPU(), 784, 1, func(x models.Value) models.Loss {
//		h := x.Shape(28, 28, 1).Conv(models.Convolution{Maps: 16, Size: 8, Stride: 2, Pad: 3})
//		h = h.Apply(device.ReLU).MaxPool(models.Convolution{Size: 2})
//		return h.Shape(1, 1, 13*13*16).Dense(10).CrossEntropy()
//	})
//
// The methods of [Value] are the operations. Each depends on one record only, so sgd can train
// every such network privately; predictions, norms, exact sums, cores, devices and groups of
// parameters follow from the computation. An operation without parameters that is missing can be
// written as an [Op]. Package modelstest checks operations, and networks that are written by hand:
// any type that implements the small interfaces [Network] and [Gradients] can be trained.
//
// # Networks of the systems
//
// A [Density] models how records are distributed and is trained on them privately ([VAE], [RBM]). A
// [Generator] turns codes into records and never sees a private record ([MLP], [ConvDecoder]). It
// is trained against something already released or protected, such as an embedding or a critic, and
// may normalise over its batch. A [Critic] sees records and a generator's fakes, and is trained
// privately ([MLP], [CNN]). A [Classifier] predicts classes. They are built from public
// descriptions that can be saved: [DensityArchitecture], [GeneratorArchitecture],
// [CriticArchitecture]. Package privgen has its own type of generator, the result of a whole
// system; it holds a Density or a Generator of this package.
package models
