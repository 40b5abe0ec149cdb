// Package report makes one page about the quality of synthetic records and the protection of the
// real ones. The page has the guarantee in words, the bill, each column real and synthetic, and
// scores of pairs, groups, sets, images and classifiers. It also states how much an attacker can
// learn from the generator.
//
//	r, err := report.Compute(ctx, report.Input{Generator: gen, Real: train, HeldOut: test},
//		report.Settings{})
//	err = r.WriteHTML(w)          // one self-contained file, without scripts
//	text, err := json.Marshal(r)  // the same numbers; JSONSchema describes them
//
// [Released] makes a page of released numbers only, which may be published. A plan of package
// report/fidelity releases fidelity figures with noise, paid for on a ledger, for such a page.
//
// Guarantee: none for the result of [Compute]. Compute reads real records without noise and without
// a ledger: showing its page or its JSON to people other than the owner of the records is a
// release. The page and the JSON say so. The result of [Released] is post-processing of the
// releases of the generator and the plan, and has their guarantee.
//
// Scores of SDMetrics have the same names and definitions here; see package report/tabular.
package report
