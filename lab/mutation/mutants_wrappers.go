package main

// wrapperMutants returns faults in values that contain other values: events in events, data in
// structures, copies of records, and allowances beside ledgers.
func wrapperMutants() []mutant {
	slack := at("accountant", "WrappersKeep|SmallDeltas")
	return []mutant{
		{Name: "accountant/a direction forgets the δ of its event", In: "accountant", Tests: slack,
			Old: "return slackOf([]term{{a.within, 1}})", New: "return 0",
			Why: "a record that moves between parts loses everything free of charge"},
		{Name: "accountant/the best of runs forgets their δ", In: "accountant", Tests: slack,
			Old: "|| !(e < math.Inf(1) && lost <= 0) {", New: "|| !(e < math.Inf(1) && lost <= 1) {",
			Why: "a curve that ends above zero becomes a pure event"},
		{Name: "accountant/sums of pure events round to nearest", In: "accountant",
			Tests: at("accountant", "SumsAreRounded|WholeBudget"),
			Old:   "	if missing > 0 {", New: "	if false {",
			Why: "ten uses of 0.1 cost less than they may reveal"},
		{Name: "sgd/an allowance of any ledger", In: "sgd", Tests: at("sgd", "AllowancesOfTheirLedger"),
			Old: "k.OK(a.On(t.ledger),", New: "k.OK(true,",
			Why: "noise for one relation is charged under the other"},
		{Name: "kmeans/an allowance of any ledger", In: "kmeans", Tests: at("kmeans", ""),
			Old: "k.OK(a == nil || a.On(ledger),", New: "k.OK(true,",
			Why: "noise for one relation is charged under the other"},
		{Name: "records/the same value is other records", In: "records",
			Tests: at("records", "PublicOverlaps"),
			Old:   "if reflect.ValueOf(a).Comparable() && a == b {", New: "if false {",
			Why: "the private records themselves are accepted as public"},
		{Name: "records/a wrapper has no unit", In: "records", Tests: at("records", "WrappersKeep"),
			Old: "inner, ok := embedded(d)", New: "inner, ok := d, false",
			Why: "users are charged as records"},
		{Name: "records/persons in a wrapper are rows", In: "records",
			Tests: at("records", "WrappersKeep"),
			Old:   "around = !persons && d.Schema().RowsPerPerson() > 0", New: "around = false",
			Why: "one more row of a person replaces another"},
	}
}
