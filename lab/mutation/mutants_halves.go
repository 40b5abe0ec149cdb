package main

// halvesMutants returns faults in the release of counts of numbers in intervals of all lengths, and
// in the mapping between numbers and ranks.
func halvesMutants() []mutant {
	const in = "internal/marginal"
	sensitivity := at(in, "HalvesSensitivity")
	return []mutant{
		{Name: "internal/marginal/halves: replacing costs like adding", In: in, Tests: sensitivity,
			Old: "sum += 4 + 2*max(d-1, 0)", New: "sum += d",
			Why: "a replaced record changes two differences in most levels"},
		{Name: "internal/marginal/halves: the split changes by one", In: in, Tests: sensitivity,
			Old: "sum += 4 + 2*max(d-1, 0)", New: "sum += 2 + 2*max(d-1, 0)",
			Why: "where two records part, a difference changes by 2"},
		{Name: "internal/marginal/halves: the number of records is free", In: in, Tests: sensitivity,
			Old: "return sum + 1", New: "return sum",
			Why: "the released number of records has too little noise"},
		{Name: "internal/marginal/halves: the first level is free", In: in, Tests: sensitivity,
			Old: "levels = max(levels, n.level+1)", New: "levels = max(levels, n.level)",
			Why: "a record changes one difference more than the noise covers"},
		{Name: "internal/marginal/halves: a record counts twice", In: in, Tests: at(in, "Halves"),
			Old: "differences[i] += share", New: "differences[i] += 2 * share",
			Why: "a record changes each difference by 2"},
		{Name: "internal/marginal/columns: other columns' levels say that a number is missing", In: in,
			Tests: at(in, "CodesOfSomeColumns"),
			Old:   "for len(places) > 0 && int(places[0]) < a.Block.Offset {", New: "for false {",
			Why: "numbers after a column of levels are counted as missing"},
		{Name: "compose/ranks: the counts are free", In: "compose", Tests: at("compose", "RanksTogether"),
			Old: "return slices.Concat(before, f.partStages(), after)",
			New: "_ = before\n\treturn slices.Concat(f.partStages(), after)",
			Why: "the counts are on no ledger"},
		{Name: "compose/ranks: persons count as rows", In: "compose", Tests: at("compose", "RankSchema"),
			Old: "k.Add(records.RefusePersons(path, s))", New: "",
			Why: "a person with many rows changes the counts by more than the noise covers"},
		{Name: "compose/ranks: failed records look sound", In: "compose",
			Tests: at("compose", "RecordOnly"),
			Old:   "return records.Failed(d.Data)", New: "return false",
			Why: "the other system releases sums of records that could not be read"},
		{Name: "compose/ranks: records replace their predecessors", In: "compose",
			Tests: at("compose", "RecordOnly"), Old: "row := b.Dense.Row(i)",
			New: "row := b.Dense.Row(i / 2)",
			Why: "a record's ranks depend on the other records that are read with it"},
	}
}
