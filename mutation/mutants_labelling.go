package main

// labellingMutants returns faults in the classifier that labels the records of another system: in
// payments, in releases, and in the duration of a draw.
func labellingMutants() []mutant {
	const in = "labelling"
	paid := at(in, "Together|Refusals")
	return []mutant{
		{Name: "labelling/the classifier is free", In: in, Tests: at(in, "Together|Refusals|Relabel"),
			Old: "return append([]synth.Stage{c.stage()}, c.inner().Stages()...)",
			New: "return c.inner().Stages()",
			Why: "the classifier's steps are on no ledger"},
		{Name: "labelling/the other system is free", In: in, Tests: paid,
			Old: "return append([]synth.Stage{c.stage()}, c.inner().Stages()...)",
			New: "return []synth.Stage{c.stage()}",
			Why: "the other system's releases are on no ledger"},
		{Name: "labelling/plans of another relation", In: in, Tests: paid,
			Old: "k.OK(c.Of.Budget().Relation == c.Budget.Relation,", New: "k.OK(true,",
			Why: "noise for add-or-remove-one is half of what replace-one needs"},
		{Name: "labelling/the share is of everything", In: in, Tests: paid,
			Old: "c.Budget, c.Share, func", New: "c.Budget, 0.999, func",
			Why: "nothing is left to the other system"},
		{Name: "labelling/the run's backend is released", In: in, Tests: at(in, "Contract$/memory"),
			Old: "w.config, r.ReleaseBackend(), of,", New: "w.config, r.Backend, of,",
			Why: "its scratch memory has private features"},
		{Name: "labelling/the classifier is forgotten", In: in, Tests: at(in, "Contract$/checkpoints"),
			Old: "s.learning.steps = j.Steps\n", New: "",
			Why: "a resumed run loses a classifier that was paid for"},
		{Name: "labelling/a checkpoint claims steps", In: in, Tests: at(in, "States"),
			Old: "j.Steps < 0 || j.Steps > drawn", New: "false",
			Why: "an untrained classifier is accepted as a trained one"},
		{Name: "labelling/more tries than stated", In: in, Tests: at(in, "DrawsEnd"),
			Old: "for try := 1; try < c.m.config.Tries; try++",
			New: "for try := 1; try < 2*c.m.config.Tries; try++",
			Why: "a draw takes longer than its stated limit"},
		{Name: "labelling/any device computes features", In: in, Tests: at(in, "FeaturesNeedPromises"),
			Old: "if device.PromisesOf(be) != (device.Promises{RowsAlone: true, SameBits: true}) {",
			New: "if false {",
			Why: "a record changes the features of others, and so the sum by more than the clip norm"},
		{Name: "labelling/features print", In: in, Tests: at(in, "Private"),
			Old: `io.WriteString(s, "[private]")`, New: `fmt.Fprint(io.Writer(s), f.rows)`,
			Why: "features of private records reach logs"},
		{Name: "synth/plans beside others cost more than is left", In: "synth", Tests: paid,
			Old: "fits := cost <= s.budget.Epsilon", New: "fits := cost <= 1.5*s.budget.Epsilon",
			Why: "a plan is made for more than the budget"},
	}
}
