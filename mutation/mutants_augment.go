package main

// augmentMutants returns faults in the private choice of changes of synthetic images.
func augmentMutants() []mutant {
	const in = "augment"
	one := at(in, "OneRecord|ScoresDoNot|Unlabelled")
	return []mutant{
		{Name: "augment/the choice is free", In: in, Tests: at(in, "Harmful|Contract$/bill"),
			Old: "return append(c.inner().Stages(), synth.Stage{Purpose: PurposeChoice, Count: 1,\n" +
				"\t\tEvent: accountant.ExponentialMechanism{Epsilon: c.epsilon()}})",
			New: "return c.inner().Stages()",
			Why: "the choice is on no ledger"},
		{Name: "augment/the other system gets the whole budget", In: in,
			Tests: at(in, "PlanStates|Harmful"),
			Old:   "rest.Epsilon -= own.epsilon()\n", New: "",
			Why: "nothing is left for the choice"},
		{Name: "augment/plans of another relation", In: in, Tests: at(in, "Refusals"),
			Old: "k.OK(c.Of.Budget().Relation == c.Budget.Relation,", New: "k.OK(true,",
			Why: "noise for add-or-remove-one is half of what replace-one needs"},
		{Name: "augment/a record counts twice", In: in, Tests: one,
			Old: "\t\t\tn++\n", New: "\t\t\tn += 2\n",
			Why: "a record changes a utility by 2"},
		{Name: "augment/missing labels match", In: in, Tests: one,
			Old: "if i < len(named) && named[i] == label {",
			New: "if i >= len(named) || named[i] == label {",
			Why: "records are counted that were not recognised"},
		{Name: "augment/the best is chosen", In: in, Tests: at(in, "Random"),
			Old: "if s.chosen, err = grant.Exponential(utilities); err != nil {",
			New: "for i, u := range utilities {\n\t\tif u > utilities[s.chosen] {\n\t\t\ts.chosen = i\n\t\t}\n" +
				"\t}\n\tif _, err = grant.Exponential(utilities); err != nil {",
			Why: "the choice has no noise"},
		{Name: "augment/a lost choice is made again", In: in, Tests: at(in, "Contract$/checkpoints"),
			Old: "if a.Remaining() == 0 {\n\t\treturn nil",
			New: "if false {\n\t\treturn nil",
			Why: "an interrupted run asks for a choice that it has spent"},
		{Name: "augment/the end of the other system is not kept", In: in, Tests: at(in, "LoseNothing"),
			Old: "if err := r.Save(); err != nil { // the last state of the other system",
			New: "if err := error(nil); err != nil {",
			Why: "an interrupted run has paid for releases that it no longer has"},
		{Name: "augment/classifiers of private records", In: in, Tests: at(in, "DoNotLearn"),
			Old: "if records.Overlap(chunk, r.Data) {", New: "if false {",
			Why: "a record changes the classifiers, and so any number of counts"},
		{Name: "augment/an ended context is a bad score", In: in, Tests: at(in, "EndedLearning"),
			Old: "if ended := ctx.Err(); ended != nil {", New: "if ended := ctx.Err(); false {",
			Why: "a choice between classifiers of which one was not trained"},
		{Name: "augment/changes are not applied", In: in, Tests: at(in, "Applied"),
			Old: "return m.Chosen().Apply(rows,", New: "return (Candidate{}).Apply(rows,",
			Why: "samples are not what was chosen"},
		{Name: "augment/the other system's count is lost", In: in, Tests: at(in, "ChangesFit"),
			Old: ", Unaccepted: of.Unaccepted}", New: "}",
			Why: "a draw of records that the classifier rejected looks like any other"},
		{Name: "augment/the second system of a sequence", In: in, Tests: at(in, "Refusals"),
			Old: "if r.Follows() {", New: "if false {",
			Why: "the records of the first system are paid for and not used"},
	}
}
