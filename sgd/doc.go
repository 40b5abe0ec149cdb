// Package sgd trains networks by stochastic gradient descent under differential
// privacy (DP-SGD): every step takes a Poisson sample of the records, clips each
// example's gradient, adds Gaussian noise to the sum and moves the parameters.
//
// It is complete in itself: a user-defined network, a ledger and a loop are all
// it takes.
//
//	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: 3000, Optimizer: sgd.Adam(1e-3)}
//	cfg, err := cfg.Calibrate(budget)
//	trainer, err := sgd.New(cfg, network, accountant.NewLedger(budget))
//	for step, err := range trainer.Steps(ctx, data) { … }
//
// Guarantee: each step is one Poisson-subsampled Gaussian on the ledger, written
// there before its noise is drawn, and the whole run is reserved before the first
// record is read. Parameters after every step are released values: everything
// done with them is free.
//
// The promise holds in the arithmetic that runs. Clipped gradients are added in fixed
// point, so that one record changes the sum by its own whole units and by nothing
// else; noise is sampled exactly on a grid; the noise class is "exact". Networks whose
// gradients are models.FixedGradients, as those of package models are on the CPU, have
// such sums at the speed of float32 products. The gradients of all others are taken
// record by record, and their norms measured. On a device with memory of its own and
// without a device.FixedSummer sums are float32 and the class is "real".
//
// Source: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang, "Deep
// Learning with Differential Privacy", 2016.
package sgd
