package main

// commandMutants returns faults in the command line: in its limits on spending and on publishing.
func commandMutants() []mutant {
	const command = "cmd/privgen"
	return []mutant{
		{Name: "cmd/privgen/a ledger of a wrong name is made", In: command,
			Tests: at(command, "^TestMistakes$"),
			Old:   "if !w.make {", New: "if false {",
			Why: "a typing error begins a new budget for the same records"},
		{Name: "cmd/privgen/unreadable records are fitted", In: command,
			Tests: at(command, "NothingIsSpent"),
			Old:   "float64(c.Strays) > share*float64(c.Cells)", New: "false && float64(c.Strays) > share",
			Why: "the whole budget is spent on columns of constants"},
		{Name: "cmd/privgen/a fit keeps no checkpoint", In: command, Tests: at(command, "KilledFit"),
			Old: "if j.checkpoint != \"\" {\n\t\topts", New: "if false {\n\t\topts",
			Why: "releases that a killed process loses are paid for again"},
		{Name: "cmd/privgen/a generator is replaced unasked", In: command,
			Tests: at(command, "GeneratorsAreNotReplaced"),
			Old:   "if exists(j.out) && !j.force && ", New: "if false && ",
			Why: "a generator that was paid for is lost"},
		{Name: "cmd/privgen/plans are compared that do not fit together", In: command,
			Tests: at(command, "ComparisonIsAllOrNothing"),
			Old:   "if len(stages) > 0 {", New: "if false {",
			Why: "half of a comparison is paid for that cannot be finished"},
		{Name: "cmd/privgen/a broken budget verifies", In: command, Tests: at(command, "WithinItsBudget"),
			Old: "r.Spent.Upper <= r.Budget", New: "true",
			Why: "a ledger that has spent more than its budget is reported as sound"},
		{Name: "cmd/privgen/what is left is too much", In: command, Tests: at(command, "WhatIsLeft"),
			Old: "if good {\n\t\t\thi = middle", New: "if !good {\n\t\t\thi = middle",
			Why: "the command names less noise than the budget allows"},
		{Name: "cmd/privgen/persons are asked for, and rows are protected", In: command,
			Tests: at(command, "TestPersonsOfSeveralRows"),
			Old:   "if l.person != \"\" && s.RowsPerPerson() == 0 {", New: "if false {",
			Why: "a guarantee for one row is taken for one that covers all rows of a person"},
	}
}
