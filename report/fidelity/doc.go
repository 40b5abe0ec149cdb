// Package fidelity releases figures of how good synthetic records are, with noise and on a ledger,
// so that they may be published: how far each column's distribution is off, and how often
// classifiers that learnt from synthetic records are right about real ones.
//
//	plan, err := fidelity.Config{Schema: s, Budget: budget}.Plan()      // reads no record
//	out, err := fidelity.Release(ctx, plan, real, synthetic, ledger)   // reserves, then reads
//
// All figures are functions of one joint Gaussian release of counts.
package fidelity
