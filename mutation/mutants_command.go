package main

// commandMutants are faults in the command line: in what it may spend and publish.
func commandMutants() []mutant {
	const command = "cmd/privgen"
	return []mutant{
		{Name: "cmd/privgen/a ledger of a wrong name is made", In: command,
			Tests: at(command, "^TestMistakes$"),
			Old:   "if !w.make {", New: "if false {",
			Why: "a slip of the pen begins a new budget for the same records"},
		{Name: "cmd/privgen/a fit keeps no checkpoint", In: command, Tests: at(command, "KilledFit"),
			Old: "if j.checkpoint != \"\" {\n\t\topts", New: "if false {\n\t\topts",
			Why: "what a kill loses is paid for again"},
		{Name: "cmd/privgen/a generator is replaced unasked", In: command,
			Tests: at(command, "GeneratorsAreNotReplaced"),
			Old:   "if exists(j.out) && !j.force && ", New: "if false && ",
			Why: "what was paid for is gone"},
		{Name: "cmd/privgen/plans are compared that do not fit together", In: command,
			Tests: at(command, "ComparisonIsAllOrNothing"),
			Old:   "if len(stages) > 0 {", New: "if false {",
			Why: "half of the comparison is paid for, and cannot be finished"},
		{Name: "cmd/privgen/a broken budget verifies", In: command, Tests: at(command, "WithinItsBudget"),
			Old: "r.Spent.Upper <= r.Budget", New: "true",
			Why: "a ledger that promises more than it has passes for sound"},
		{Name: "cmd/privgen/what is left is too much", In: command, Tests: at(command, "WhatIsLeft"),
			Old: "if good {\n\t\t\thi = middle", New: "if !good {\n\t\t\thi = middle",
			Why: "less noise is named than fits"},
		{Name: "cmd/privgen/persons are asked for, and rows are protected", In: command,
			Tests: at(command, "TestPersonsOfSeveralRows"),
			Old:   "if l.person != \"\" && s.RowsPerPerson() == 0 {", New: "if false {",
			Why: "a guarantee for one row is taken for one for all rows of a person"},
	}
}
