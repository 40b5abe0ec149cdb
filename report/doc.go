// Package report says in one page how good synthetic records are and what protects the real ones:
// the guarantee in words, the bill, each column real beside synthetic, the scores of pairs, groups,
// sets, images and classifiers, and what an attacker can make of the generator.
//
//	r, err := report.Compute(ctx, report.Input{Generator: gen, Real: train, HeldOut: test},
//		report.Settings{})
//	err = r.WriteHTML(w)          // one self-contained file, without scripts
//	text, err := json.Marshal(r)  // the same numbers; JSONSchema describes them
//
// [Released] makes a page of released numbers alone, which may be published. A plan of package
// report/fidelity releases fidelity figures with noise, paid for on a ledger, for such a page.
//
// Guarantee: none for what [Compute] returns. It reads real records without noise and writes to no
// ledger: showing its page or its JSON to anybody but the owner of the records is a release of its
// own. The page and the JSON say so once. What [Released] returns is post-processing of what the
// generator and the plan released, and has their guarantee.
//
// Names and definitions of scores are those of SDMetrics where it has them; see package
// evaluate/tabular.
package report
