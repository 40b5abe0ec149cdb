package main

// limitMutants returns faults of a search for lines that no test of their own package noticed:
// refusals at their limits, and errors that are not passed on.
func limitMutants() []mutant {
	in := func(folder, name, run, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, run),
			Old: old, New: new, Why: why}
	}
	return []mutant{
		in("synth", "a use that was refused", "UsesThatAreNotSpent",
			"	}\n	return spend()\n}\n\n// errOver", "	}\n	_ = spend()\n	return nil\n}\n\n// errOver",
			"a use is drawn that the ledger has refused"),
		in("synth", "a use that was refused without a checkpoint", "UsesThatAreNotSpent",
			"	if r.keeper == nil {\n		return spend()\n	}",
			"	if r.keeper == nil {\n		_ = spend()\n		return nil\n	}",
			"a use is drawn that the ledger has refused"),
		in("synth", "stages without uses", "StagesAtTheirLimits",
			"k.OK(s.Count > 0, path+\"Count\"", "k.OK(s.Count >= 0, path+\"Count\"",
			"a stage is planned that costs nothing"),
		in("synth", "types within a plan", "PlansAreIdentified",
			"h := hashed{Plan: j, Types: p.types(), Lines: []hashedLine{}}",
			"h := hashed{Plan: j, Lines: []hashedLine{}}",
			"a run resumes with a network of another type"),
		in("synth", "a ninth share", "KeptReleasesAtTheirLimits",
			"kept.Made > shares", "kept.Made > shares+1", "a mean is taken for less noisy than it is"),
		in("synth", "units of records", "UnitsOfRecords",
			"		if err != nil {\n			return err\n		}\n	}\n	if j, ok := p.work.(Judge); ok {",
			"		_ = err\n	}\n	if j, ok := p.work.(Judge); ok {",
			"rows of users are charged as records"),
		in("internal/marginal", "counts for nobody", "ReleasesStateTheirEffect",
			"		if err := counter.Add(ctx, r.Data); err != nil {\n			return 0, nil, err\n		}\n",
			"		_ = counter.Add(ctx, r.Data)\n",
			"counts of some of the records are released for all"),
		in("internal/marginal", "cells that are too many", "MostPartsOfADivision",
			"total > MostParts {", "false {", "a resumed run divides more cells than were planned"),
		in("records", "slices of sets of persons", "SlicesOfPersonsOfEveryKind",
			"	case *SetTable:\n		out.rows = own.Slice(int(first), int(last))\n	}\n	return &Persons",
			"	}\n	return &Persons",
			"a slice of persons has no rows"),
		in("records", "items of long lines", "ItemsOfLongLines",
			"if itemAt < len(fields) && fault != tooLong {", "if itemAt < len(fields) {",
			"a person has items of a line that was cut"),
		in("compose", "parts without a budget", "BudgetsWithoutParts",
			"	if !(own.Upper > 0) {\n", "	if false {\n", "a part is planned for ε = 0"),
		in("compose", "the levels of a part", "PartsSeeTheirOwnLevels",
			"copy(dst[to.Width-from.Width+levels:], src[levels:])", "copy(dst[levels:], src[levels:])",
			"the other level of a record is taken for one that was not found"),
	}
}
