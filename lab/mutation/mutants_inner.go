package main

// innerMutants returns faults in systems that contain other systems: in what the other systems
// judge and draw, and in the checks of files that hold several systems.
func innerMutants() []mutant { return append(rankMutants(), mixedMutants()...) }

// rankMutants returns faults in running another system on ranks.
func rankMutants() []mutant {
	const in = "quantiles"
	judged, states := at(in, "JudgeSeesRanks"), at(in, "StatesWithMissingSections")
	draws, read := at(in, "RanksAreDrawnUnconstrained"), at(in, "ChangedGenerators")
	const cleared = "d.Given, d.Unconstrained, d.Means = nil, true, false"
	return []mutant{
		{Name: "quantiles/ranks are of records", In: in, Tests: at(in, "RanksKeepTheUnit"),
			Old: "return records.UnitOf(d.Data)", New: "return records.UnitRecord",
			Why: "a guarantee for users is stated for records"},
		{Name: "quantiles/ranks are of users", In: in, Tests: at(in, "RanksKeepTheUnit"),
			Old: "return records.UnitOf(d.Data)", New: "return records.UnitUser",
			Why: "a guarantee for records is stated for users"},
		{Name: "quantiles/numbers are judged", In: in, Tests: judged,
			Old: "part.Data = ranked{Data: r.Data, schema: w.config.Of.Schema()}",
			New: "part.Data = r.Data",
			Why: "a run that will fail is paid for"},
		{Name: "quantiles/the other system is not judged", In: in, Tests: judged,
			Old: "return r.JudgeInner(part)", New: "_ = part\n\treturn nil",
			Why: "a run that will fail is paid for"},
		{Name: "quantiles/private records pass for synthetic ones", In: in,
			Tests: at(in, "PrivateRecordsAsSyntheticOnes"),
			Old:   "if records.DeclarePublic(rows).Overlaps(private) {", New: "if false {",
			Why: "the mapping back is made of private ranks without noise"},
		{Name: "quantiles/records of any schema are released", In: in,
			Tests: at(in, "ReleasesOfAnotherSchema"),
			Old:   "k.OK(released.Equal(c.Of.Schema()),", New: "k.OK(true,",
			Why: "a generator without labels is paid for"},
		{Name: "quantiles/plans without noise are read", In: in, Tests: at(in, "PlansWithoutNoise"),
			Old: "err := saved.Decided(j.NoiseMultiplier); err != nil {",
			New: "err := error(nil); err != nil {",
			Why: "a small file causes a calibration, and changes the noise of a plan"},
		{Name: "quantiles/fractions below 0 are read", In: in, Tests: read,
			Old: "if !(p >= 0 && p <= 2) {", New: "if !(p <= 2) {",
			Why: "a damaged file becomes a generator"},
		{Name: "quantiles/fractions above 2 are read", In: in, Tests: read,
			Old: "if !(p >= 0 && p <= 2) {", New: "if !(p >= 0) {",
			Why: "a damaged file becomes a generator"},
		{Name: "quantiles/quantiles outside the bounds are read", In: in, Tests: read,
			Old: "if !(x >= 0 && x <= 1) || i%knots", New: "if i%knots",
			Why: "a damaged file becomes a generator"},
		{Name: "quantiles/quantiles that fall are read", In: in, Tests: read,
			Old: " || i%knots > 0 && x < ranks[i-1] {", New: " {\n\t\t\t_ = i",
			Why: "the search for a rank needs ascending quantiles"},
		{Name: "quantiles/models of numbers are read", In: in, Tests: read,
			Old: "if !inner.Schema().Equal(ranks) {",
			New: "if !inner.Schema().Equal(ranks) && false {",
			Why: "a file's numbers are mapped as if they were ranks"},
		{Name: "quantiles/states with missing sections are restored", In: in, Tests: states,
			Old: "if j.Sections != len(f.Sections) || !j.Kept", New: "if !j.Kept",
			Why: "a damaged checkpoint is resumed"},
		{Name: "quantiles/sections without a state are restored", In: in, Tests: states,
			Old: " || !j.Kept && j.Sections > 0 {", New: " {",
			Why: "a run that was paid for starts again"},
		{Name: "quantiles/ranks are drawn under constraints of numbers", In: in, Tests: draws,
			Old: cleared, New: "d.Unconstrained, d.Means = true, false",
			Why: "a user-defined system applies constraints on numbers to ranks"},
		{Name: "quantiles/ranks are drawn with the schema's constraints", In: in, Tests: draws,
			Old: cleared, New: "d.Given, d.Means = nil, false",
			Why: "a user-defined system applies the constraints of a schema to ranks"},
		{Name: "quantiles/means of ranks are drawn", In: in, Tests: draws,
			Old: cleared, New: "d.Given, d.Unconstrained = nil, true",
			Why: "synthetic records lose their spread"},
	}
}

// mixedMutants returns faults in the checks of pools.
func mixedMutants() []mutant {
	const in = "pool"
	plans, read := at(in, "ChangedPlans"), at(in, "ChangedGenerators")
	return []mutant{
		{Name: "pool/systems are not judged", In: in, Tests: at(in, "EverySystemJudges"),
			Old: "if err := r.JudgeInner(part); err != nil {",
			New: "if err := r.JudgeInner(part); err != nil && false {",
			Why: "a run that will fail is paid for"},
		{Name: "pool/records of any schema are released", In: in,
			Tests: at(in, "ReleasesOfAnotherSchema"),
			Old:   "k.OK(released.Equal(want),", New: "k.OK(true,",
			Why: "a pool that cannot draw is paid for"},
		{Name: "pool/plans of another schema are read", In: in, Tests: plans,
			Old: "if err == nil && !saved.Schema.Equal(p.Schema()) {", New: "if false {",
			Why: "a file's plan is for other records than the file states"},
		{Name: "pool/plans of many systems are read", In: in, Tests: plans,
			Old: "if len(j.Plans) > mostPlans || ", New: "if ",
			Why: "a small file causes the pricing of many plans"},
		{Name: "pool/plans without shares are read", In: in, Tests: plans,
			Old: "mostPlans || len(j.Shares) != len(j.Plans) {", New: "mostPlans {",
			Why: "a file without shares becomes a plan of equal ones"},
		{Name: "pool/shares below 0 are read", In: in, Tests: read,
			Old: "sum += share; !(share > 0) {", New: "sum += share; false {",
			Why: "a system never draws, and another one draws more than its share"},
		{Name: "pool/small sums of shares are read", In: in, Tests: read,
			Old: "if !(sum > 1-1e-6 && sum < 1+1e-6) {", New: "if !(sum < 1+1e-6) {",
			Why: "the last system draws more than its share"},
		{Name: "pool/large sums of shares are read", In: in, Tests: read,
			Old: "if !(sum > 1-1e-6 && sum < 1+1e-6) {", New: "if !(sum > 1-1e-6) {",
			Why: "the last system draws less than its share"},
		{Name: "pool/models of other records are read", In: in, Tests: read,
			Old: "if !m.Schema().Equal(models[0].Schema()) {",
			New: "if !m.Schema().Equal(models[0].Schema()) && false {",
			Why: "a damaged file becomes a generator that cannot draw"},
	}
}
