package main

// poolMutants returns faults in running several systems on one ledger, each on a part of the
// budget.
func poolMutants() []mutant {
	const in = "pool"
	refused := at(in, "Refusals")
	return []mutant{
		{Name: "pool/only the first system is paid for", In: in, Tests: at(in, "Together"),
			Old: "for _, part := range c.parts() {\n\t\tlist = append(list, part.Stages()...)",
			New: "for i, part := range c.parts() {\n\t\tif i > 0 {\n\t\t\tbreak\n\t\t}\n" +
				"\t\tlist = append(list, part.Stages()...)",
			Why: "the other systems' releases are on no ledger"},
		{Name: "pool/plans of another relation", In: in, Tests: refused,
			Old: "k.OK(p.Budget().Relation == c.Budget.Relation,", New: "k.OK(true,",
			Why: "noise for add-or-remove-one is half of what replace-one needs"},
		{Name: "pool/persons count as rows", In: in, Tests: refused,
			Old: `k.Add(records.RefusePersons(path+".Schema", p.Schema()))`, New: "",
			Why: "a system that joins persons' rows may have been checked for single rows only"},
		{Name: "pool/a state is lost", In: in, Tests: at(in, "Contract/checkpoints"),
			Old: "states[i] = f\n", New: "states[0], states[i] = nil, f\n",
			Why: "a resumed run starts a system again, with fewer steps left"},
		{Name: "internal/bundle/states are exchanged", In: "internal/bundle",
			Tests: at(in, "Contract/checkpoints"),
			Old:   "s[i] = &synth.File{", New: "s[n-1-i] = &synth.File{",
			Why: "a resumed system continues from another system's state"},
		{Name: "pool/a plan can be changed by its configuration", In: in,
			Tests: at(in, "ConfigurationsAreCopies"),
			Old:   "return p.config.copied()", New: "return p.config",
			Why: "a plan runs without one of the systems that it was priced for"},
		{Name: "pool/shares are rounded again", In: in, Tests: at(in, "PlansReadBackAreTheSame"),
			Old: "if math.Abs(sum-1) < 1e-12 {", New: "if sum == 1 {",
			Why: "a plan that is read has another digest, so its checkpoint is refused and paid for again"},
	}
}
