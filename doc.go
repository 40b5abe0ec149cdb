// Package privgen trains generative models under differential privacy and releases generators of
// synthetic records.
//
// Five nouns carry it. A schema states what a record may hold; it is public. A budget states ε, δ
// and the neighbouring relation. A plan is a system's configuration with its price, computed before
// any record is read. A ledger adds up what has been spent on the same records. A generator is what
// a run releases: drawing, saving and sharing it cost nothing more.
//
//	schema, err := records.NewSchema(records.Integer("age", 17, 90),
//		records.Label("income", "<=50K", ">50K"))
//	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5} // add or remove one record
//	plan, err := privgen.MERF(schema, budget).Nominal(30_000).Plan()
//	fmt.Println(plan)                // the price of every stage
//	gen, err := plan.Fit(ctx, table) // the only call that reads records
//	rows, err := gen.Sample(ctx, 30_000)
//	fmt.Println(gen.Guarantee())
//
// The systems are [DPGM] (Acs et al. 2019), [MERF] (Harder et al. 2021), [GAN] (Zhang et al. 2018)
// and [Mix] (Lee et al. 2019); [AIM] and [MST] for tables; [MWEM] and [Independent] for sets of
// items. Each has defaults that follow from the schema, the budget and a public number of records,
// and [Recommend] returns the plans that suit the records, best first. Systems can be combined: see
// package compose.
//
// Guarantee: a [ledger.Guarantee] states ε, δ, the relation, the unit, every release, and what
// is not covered. Every ε is the upper end of a computed interval, and a configuration without a
// known sound analysis is refused.
package privgen
