package main

// poolMutants returns faults in running several systems on one ledger, each on a part of the
// budget.
func poolMutants() []mutant {
	const in = "compose"
	refused := at(in, "PoolRefusals")
	return []mutant{
		{Name: "compose/pool: only the first system is paid for", In: in, Tests: at(in, "PoolTogether"),
			Old: "list = append(list, part.Stages()...)",
			New: "list = append(list, part.Stages()...)\n\t\t\tbreak",
			Why: "the other systems' releases are on no ledger"},
		{Name: "compose/pool: all systems draw each class", In: in, Tests: at(in, "ClassOfSomeSystems"),
			Old: `none.Path == "synth.OfClass" &&`, New: "false &&",
			Why: "a generator that is paid for draws nothing if a classifier asks for a class"},
		{Name: "compose/pool: plans of another relation", In: in, Tests: refused,
			Old: "k.OK(p.Budget().Relation == relation,", New: "k.OK(true,",
			Why: "noise for add-or-remove-one is half of what replace-one needs"},
		{Name: "compose/pool: persons count as rows", In: in, Tests: refused,
			Old: `k.Add(records.RefusePersons(path+".Schema", p.Schema()))`, New: "",
			Why: "a system that joins persons' rows may have been checked for single rows only"},
		{Name: "compose/pool: a state is lost", In: in, Tests: at(in, "PoolContract/checkpoints"),
			Old: "r.states[i] = f\n", New: "r.states[0], r.states[i] = nil, f\n",
			Why: "a resumed run starts a system again, with fewer steps left"},
		{Name: "compose/pool: states are exchanged", In: in,
			Tests: at(in, "PoolContract/checkpoints"),
			Old:   "r.states[i] = &synth.File{", New: "r.states[len(r.states)-1-i] = &synth.File{",
			Why: "a resumed system continues from another system's state"},
		{Name: "compose/pool: shares are rounded again", In: in, Tests: at(in, "PlansReadBackAreTheSame"),
			Old: "if math.Abs(sum-1) < 1e-12 {", New: "if sum == 1 {",
			Why: "a plan that is read has another digest, so its checkpoint is refused and paid for again"},
	}
}
