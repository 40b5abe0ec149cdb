package main

// sequenceMutants returns faults in running two systems on one ledger: in the knowledge of the
// second system, and in payments.
func sequenceMutants() []mutant {
	const in = "sequence"
	told := at(in, "SecondSees|PrivateRecords|WarmRecords")
	paid := at(in, "Both|Refusals")
	return []mutant{
		{Name: "sequence/private records pass for synthetic ones", In: in, Tests: told,
			Old: "records.Overlap(chunk, r.Data) {", New: "records.Overlap(chunk, r.Data) && false {",
			Why: "the second system is warmed up on the private records"},
		{Name: "sequence/the second system is given the records", In: in, Tests: told,
			Old: "part.Saved = states[i]",
			New: "if part.Saved = states[i]; i > 0 {\n\t\t\tpart.Public = r.Data\n\t\t}",
			Why: "the second system is warmed up on the private records"},
		{Name: "gan/a follower warms up on the records", In: "gan", Tests: told,
			Old: "c.Public = on.Public()", New: "c.Public = on.Data",
			Why: "parameters and clip norms depend on private records"},
		{Name: "dpgm/a follower warms up on the records", In: "dpgm",
			Tests: at(in, "ContractOfMixtures/replay"),
			Old:   "public := r.Public()", New: "public := r.Data",
			Why: "networks are trained on private records without noise"},
		{Name: "sequence/the second system is free", In: in, Tests: paid,
			Old: "for _, part := range c.parts() {\n\t\tlist = append(list, part.Stages()...)",
			New: "for i, part := range c.parts() {\n\t\tif i > 0 {\n\t\t\tbreak\n\t\t}\n" +
				"\t\tlist = append(list, part.Stages()...)",
			Why: "the second system's releases are on no ledger"},
		{Name: "sequence/plans of another relation", In: in, Tests: paid,
			Old: "k.OK(p.Budget().Relation == c.Budget.Relation,", New: "k.OK(true,",
			Why: "noise for add-or-remove-one is half of what replace-one needs"},
		{Name: "sequence/the second system's state is lost", In: in, Tests: at(in, "StopsBetween"),
			Old: "states[i] = f\n", New: "states[1], states[i] = nil, f\n",
			Why: "a resumed run starts its second system again, with fewer steps left"},
		{Name: "synth/parts draw outside the reservation", In: "synth", Tests: at(in, "InnerPlans"),
			Old: "k.OK(r.allowed[s.Purpose] != nil,", New: "k.OK(true,",
			Why: "a part reserves and draws separately"},
		{Name: "synth/parts take private records for public ones", In: "synth",
			Tests: at(in, "InnerPlans"),
			Old:   "k.OK(!some || r.Data == nil || !records.Overlap(in.Public, r.Data),", New: "k.OK(true,",
			Why: "private records are used without a price"},
		{Name: "tune/candidates are not judged", In: "tune", Tests: at(in, "CandidatesThatFollow"),
			Old: "r.JudgeInner(synth.Inner{Plan: p}); err != nil", New: "error(nil); err != nil && r != nil",
			Why: "a search that cannot succeed is paid for"},
		{Name: "records/joined rows forget where they are from", In: "records",
			Tests: at("records", "OverlapOf"),
			Old:   "out.of = append(out.of, placesOf(p).homes...)", New: "_ = p",
			Why: "private records are accepted as public ones after they are joined with others"},
		{Name: "internal/network/followers run by themselves", In: "internal/network", Tests: paid,
			Old: "if follows && !r.Follows() {", New: "if false {",
			Why: "a plan spends its budget without the records that it needs to start"},
		{Name: "synth/shares of a part are kept under another name", In: "synth",
			Tests: at(in, "Contract/(checkpoints|shares)"),
			Old:   "r.keeper.released(r.full(purpose), out)", New: "r.keeper.released(purpose, out)",
			Why: "a share that was paid for is lost"},
	}
}
