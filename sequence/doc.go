// Package sequence carries out two systems one after the other on one ledger: what the first
// releases is public from then on, and the second starts from it.
//
//	first, err := merf.Config{Schema: schema, Budget: half, Nominal: n}.Plan()
//	run, err := sequence.Config{Budget: budget, First: first}.Within(
//		func(b accountant.Budget) (synth.Plan, error) {
//			return gan.Config{Schema: schema, Budget: b, Nominal: n, Follows: true}.Plan()
//		})
//	plan, err := run.Plan()
//	gen, err := plan.Fit(ctx, data)
//
// The first system's budget is its own; Within gives the second what is left of the whole. A
// sequence is a plan like any other, and may itself come first in another one. Its stages are those
// of both systems, under names that begin with the place and the system.
//
// Synthetic records of the first generator, drawn with a public seed, are the public records of
// the second system: package gan warms up on them and takes clip norms from them (Follows), package
// dpgm trains its networks on them before it meets a record. Of what else the first system has
// computed the second learns nothing.
//
// Guarantee: all stages of both systems are reserved on the ledger in one transaction before the
// first draw, and composed at the sequence's δ. The second system depends on the records through
// its own releases and through the first system's generator, which is released, alone: adaptive
// composition covers that. Under replace-one every event is that of its own plan under
// replace-one; plans of another relation are refused.
//
// A checkpoint holds the states of both systems. A run that was stopped in the second one draws
// nothing of the first again: it makes the same generator from its state and the same records from
// the seed.
package sequence
