// Package sgd trains networks by stochastic gradient descent under differential privacy (DP-SGD).
// Every step takes a Poisson sample of the records, or its part of a random allocation, clips each
// example's gradient, adds Gaussian noise to the sum and moves the parameters. The noise may be
// correlated with that of earlier steps (Config.Bands).
//
// It can be used alone, with a user-defined network, a ledger and a loop.
//
//	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: 3000, Optimizer: sgd.Adam(1e-3)}
//	cfg, err := cfg.Calibrate(budget)
//	trainer, err := sgd.New(cfg, network, ledger.New(budget))
//	for step, err := range trainer.Steps(ctx, data) { … }
//
// Guarantee: each step is one Poisson-subsampled Gaussian on the ledger, or each epoch one random
// allocation, or each round of steps with correlated noise one banded sum. It is recorded before
// its noise is drawn, and the whole run is reserved before the first record is read. Parameters
// after every step are released values: using them costs no privacy.
//
// The guarantee holds in the arithmetic that runs. Clipped gradients are rounded to whole units of
// a fixed-point number and added without error. So one record changes the sum by its own rounded
// gradient and nothing else. Noise is sampled exactly on a grid, and the noise class is "exact".
// Networks whose gradients implement models.FixedGradients compute these sums at the speed of
// float32 products. The networks of package models do this. For other networks, gradients are
// computed record by record, and their norms are measured. On a device with separate memory that is
// not a device.FixedSummer with both promises, sums are float32 and the class is "real".
//
// Source: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang, "Deep
// Learning with Differential Privacy", 2016.
package sgd
