// Package report makes one page about the quality of synthetic records and the protection of the
// real ones: the guarantee in words, the bill, each column real and synthetic, scores of pairs,
// groups, sets, images and classifiers, and what an attacker can learn from the generator.
//
//	r, err := report.Compute(ctx, report.Input{Generator: gen, Real: train, HeldOut: test},
//		report.Settings{})
//	err = r.WriteHTML(w)          // one self-contained file, without scripts
//	text, err := json.Marshal(r)  // the same numbers; JSONSchema describes them
//
// [Released] makes a page of released numbers only, which may be published. A plan of package
// report/fidelity releases fidelity figures with noise, paid for on a ledger, for such a page.
//
// Guarantee: none for what [Compute] returns. It reads real records without noise and without a
// ledger: showing its page or its JSON to people other than the owner of the records is a release.
// The page and the JSON say so. The result of [Released] is post-processing of what the generator
// and the plan released, and has their guarantee.
//
// Scores that SDMetrics has too have the same names and definitions; see package evaluate/tabular.
package report
