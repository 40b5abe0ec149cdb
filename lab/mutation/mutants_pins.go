package main

// pinMutants returns faults that change what a run results in, but no guarantee and no quality that
// another test measures. Only a result that is held to its bits shows them.
func pinMutants() []mutant {
	in := func(folder, name, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, "Pins"), Old: old,
			New: new, Why: why}
	}
	return []mutant{
		in("merf", "steps decrease one step late", "float64(step)/float64(t.g.Steps)",
			"float64(step-1)/float64(t.g.Steps)", "a release no longer trains the same generator"),
		in("kmeans", "centres are shrunk as if noise had been averaged",
			"u.variance[k] * float64(u.dim) * s * s", "float64(u.dim) * s * s",
			"centres keep noise that memory has not averaged away"),
		in("internal/marginal", "coarse groups begin at their first record",
			"middle := sum + max(held[group], 0)/2", "middle := sum",
			"coarse tables measure unequal groups"),
		in("mix", "mixtures are whitened too far", "f := math.Sqrt(float64(degree))",
			"f := math.Sqrt(float64(degree + 1))",
			"learners get inputs of another scale than records have"),
		in("tables", "trends have another prior", "precision.At(k, k)+1/priorVariance",
			"precision.At(k, k)+2/priorVariance", "predicted numbers are drawn too near their mean"),
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
