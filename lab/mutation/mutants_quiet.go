package main

// quietMutants returns faults that change few results: in remembered values, in sums that others
// compute, at probabilities near 1 and in rows that no usual file has.
func quietMutants() []mutant {
	in := func(folder, name, run, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, run),
			Old: old, New: new, Why: why}
	}
	return []mutant{
		in("accountant", "a use of another δ", "RememberedUses",
			"fmt.Sprintf(\"%b %b %s\", aim.Epsilon, aim.Delta, a.key())",
			"fmt.Sprintf(\"%b %s\", aim.Epsilon, a.key())",
			"a ledger pays what a use costs another ledger"),
		in("accountant", "likely samples are rounded down", "RatesNearOne",
			"max(a.q, min(toPower(a.q, k), mostRounded)),", "min(toPower(a.q, k), mostRounded),",
			"the price is that of a rarer sample"),
		in("accountant", "opposite rows of many steps cost as in one", "LoudOpposite",
			"-float64(l.n)*math.Log1p(-a.q)*(1+8*ulp)", "-math.Log1p(-a.q)*(1+8*ulp)",
			"δ of likely samples with little noise is above its upper end"),
		in("mechanism", "an effect that is no number", "DrawsThatNoEvent",
			"if !(effect > 0) || effect >", "if effect <= 0 || effect >",
			"noise of unknown relative size is drawn under the event's price"),
		in("kmeans", "sums of other processes are exact", "WithoutPromises",
			"mechanism.NewPartial(id, p.Schema, c, isReal(be))",
			"mechanism.NewPartial(id, p.Schema, c, false)",
			"the stated noise class is not the actual one"),
		in("models", "an item listed twice in a row", "SparseNormCounts",
			"if items[i] <= items[i-1] {", "if items[i] < items[i-1] {",
			"the norm of a record's gradient is too small"),
		in("synth", "inexact sums of a part", "PartsNote",
			"if r.real[purpose] {", "if r.real[r.full(purpose)] {",
			"the stated noise class is not the actual one"),
		in("synth", "rows of a person are not stated", "GuaranteesOfPersons",
			"	g.RowsPerUnit = r.program.schema.RowsPerPerson()\n", "",
			"the guarantee does not say how many rows of a person it covers"),
		in("ledger", "another file of the same length", "ReadersFollow",
			"	same, err := j.file.Current(j.path)\n	return err == nil && same\n", "	return true\n",
			"lines after a restored copy are not in the stated guarantee"),
		in("records", "keys with a colon", "RootContributes",
			`fmt.Fprintf(&b, "%d:%s", len(key), key)`, `fmt.Fprintf(&b, "%s:", key)`,
			"rows of one root are read as another's"),
		in("records", "lines without all keys", "LinesThatCannot",
			"		if fault != readable {\n			return false, nil\n		}\n		length",
			"		if fault == tooLong {\n			return false, nil\n		}\n		length",
			"one row of a file ends the process"),
		in("privacytest", "replays in one order", "InBothOrders",
			"		if turn%2 == 1 {", "		if turn%2 == 2 {",
			"a comparison with the true sum on one side is not found"),
	}
}
