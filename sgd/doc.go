// Package sgd trains networks by stochastic gradient descent under differential
// privacy (DP-SGD): every step takes a Poisson sample of the records, clips each
// example's gradient, adds Gaussian noise to the sum and moves the parameters.
//
// It is complete in itself: a network of one's own, a ledger and a loop are all
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
// Source: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang, "Deep
// Learning with Differential Privacy", 2016.
package sgd
