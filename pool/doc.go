// Package pool runs several systems on one ledger, each on a part of the budget, and draws records
// from all of them.
//
//	run, err := pool.Config{Budget: budget}.Within(
//		func(b accountant.Budget) (synth.Plan, error) {
//			return synth.PlanOf(baselines.AIM{Tables: baselines.Tables{
//				Schema: schema, Budget: b, Nominal: n}}.Plan())
//		},
//		func(b accountant.Budget) (synth.Plan, error) {
//			return synth.PlanOf(merf.Config{Schema: schema, Budget: b, Nominal: n}.Plan())
//		})
//	plan, err := run.Plan()
//	gen, err := plan.Fit(ctx, data)
//
// Systems make different errors. The model of AIM keeps chosen tables of two or three columns and
// misses other dependencies; a network that learns mean features keeps some of all dependencies and
// blurs them. In a pool the errors of one system are diluted by the other's records, and the noise
// of two releases is independent. This is often worth more than the budget that each system lacks.
//
// Guarantee: all stages of all systems are reserved on the ledger in one transaction before the
// first draw, and composed at the pool's δ. Each system depends on the records only through its own
// releases. All plans must have the pool's relation. The share of a system among the synthetic
// records is public.
//
// A checkpoint holds the states of all systems.
package pool
