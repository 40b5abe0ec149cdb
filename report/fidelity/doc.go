// Package fidelity releases figures about the quality of synthetic records, with noise and on a
// ledger. The figures may be published. They are the error of each column's distribution, and the
// accuracy on real records of classifiers trained on synthetic ones.
//
//	plan, err := fidelity.Config{Schema: s, Budget: budget}.Plan()      // reads no record
//	out, err := fidelity.Release(ctx, plan, real, records.DeclarePublic(synthetic), ledger)
//
// All figures are computed from one joint Gaussian release of counts.
package fidelity
