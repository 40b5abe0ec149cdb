package main

// placeMutants returns faults in code of several places: parts of a ledger, directions of a move,
// handles of a journal, and remembered uses of another relation.
func placeMutants() []mutant {
	in := func(folder, name, run, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, run),
			Old: old, New: new, Why: why}
	}
	return []mutant{
		in("accountant", "inner choices move the other way", "InnerChoices",
			"w.choice[j] = oneWayTerms(list, add)", "w.choice[j] = oneWayTerms(list, !add)",
			"a record that moves out of one of several parts pays for joining it"),
		in("ledger", "noise of skipped lines", "HandlesThatSkip",
			"		for _, c := range f.notes {\n			en.note(c)\n		}\n", "",
			"the stated noise class is not the actual one"),
		in("ledger", "noise of parts", "PartsAreOf",
			"named.Purpose, partMark, i+1, p.N), classes)",
			"named.Purpose, partMark, i+1, p.N),\n				map[NoiseClass]bool{})",
			"the stated noise class is not the actual one"),
		in("ledger", "late reservations of parts", "UsesAnywhere",
			"en.late = en.late || l.shared.root.spending", "en.late = en.late || l.spending",
			"the guarantee does not except what was chosen after a release"),
		in("ledger", "reservations after a use in a part", "UsesAnywhere",
			"	p.ledger.shared.root.spending = true", "	p.ledger.spending = true",
			"the guarantee does not except what was chosen after a release"),
		in("ledger", "marks of parts", "PartsAreOf",
			"if root := l.shared.root; root.notPrivate == \"\" {", "if root := l; root.notPrivate == \"\" {",
			"a run with test noise passes for private"),
		in("ledger", "uses leave a window early", "NoWindowHolds",
			"u.Step == now && u.Event == key && u.Count", "u.Event == key && u.Count",
			"more is used within a window than its limit"),
		in("privacytest", "the heaviest record of low bounds", "PairsDifferIn",
			"if math.Abs(lo) > math.Abs(hi) {", "if lo > hi {",
			"pairs do not differ by as much as records can"),
		in("privacytest", "persons with too many rows", "PairsDifferIn",
			"[]int{1, most, 10 * most}", "[]int{1, most}",
			"nothing tests that persons of many rows are cut"),
		in("synth", "releases of parts are as wide as planned", "KilledRun",
			"sum := r.keeper.release(r.full(purpose))\n	if sum == nil {\n		return 1",
			"sum := r.keeper.release(purpose)\n	if sum == nil {\n		return 1",
			"what an interruption lost is not in the stated noise of a part"),
	}
}
