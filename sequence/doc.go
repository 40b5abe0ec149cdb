// Package sequence carries out two systems one after the other on one ledger. The releases of the
// first are public, and the second starts from them.
//
//	first, err := merf.Config{Schema: schema, Budget: half, Nominal: n}.Plan()
//	run, err := sequence.Config{Budget: budget, First: first}.Within(
//		func(b accountant.Budget) (synth.Plan, error) {
//			return gan.Config{Schema: schema, Budget: b, Nominal: n, Follows: true}.Plan()
//		})
//	plan, err := run.Plan()
//	gen, err := plan.Fit(ctx, data)
//
// The first system has its own budget; Within gives the second system the rest of the whole budget.
// A sequence is a plan like any other, and may itself be the first system of another sequence. Its
// stages are the stages of both systems. Their names begin with the place and the name of the
// system.
//
// Synthetic records of the first generator, drawn with a public seed, are the public records of the
// second system. Package gan warms up on them and takes clip norms from them (Follows). Package
// dpgm trains its networks on them before it reads a record. The second system gets nothing else
// from the first.
//
// Guarantee: all stages of both systems are reserved on the ledger in one transaction before the
// first draw, and composed at the sequence's δ. The second system depends on the records only
// through its own releases and through the first system's generator, which is released; adaptive
// composition covers this. Both plans must have the sequence's relation: under replace-one, their
// events are events under replace-one.
//
// A checkpoint holds the states of both systems. A run that was stopped in the second system does
// not repeat the draws of the first system. It makes the same generator from the first system's
// state, and the same records from the seed.
package sequence
