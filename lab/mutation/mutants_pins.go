package main

// pinMutants returns faults in what the pins hold: only unequal or repeated settings show them.
func pinMutants() []mutant {
	in := func(folder, name, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, "TestPins"),
			Old: old, New: new, Why: why}
	}
	return []mutant{
		in("accountant", "a sum for one δ is used for another",
			"u.sum.Aim().Epsilon == b.Epsilon && u.sum.Aim().Delta == b.Delta",
			"u.sum.Aim().Epsilon == b.Epsilon", "a price is that of a larger δ"),
		in("accountant", "parts inside parts move as they are",
			"if len(v.Moving) > 0 {\n\t\t\tv.Parts = v.Moving\n\t\t}\n", "",
			"a record that joins an inner part pays the price of one that stays"),
		in("ledger", "every window counts what the first does",
			"windows[0].event(j.time()), windows[1:]", "windows[0].event(j.time()), windows",
			"a longer window allows what only a shorter one leaves"),
		in("mechanism", "later epochs have the steps of the first",
			"if begun%t.steps == 0 && (t.fresh || begun == 0) {", "if begun == 0 {",
			"a record's steps of all epochs are drawn once and priced as if anew"),
		in("records", "every later row is the second of its parent",
			"before[k], numbers[k] = int32(k-1), numbers[k-1]+1", "before[k], numbers[k] = int32(k-1), 2",
			"a model learns that sequences have two places"),
	}
}
