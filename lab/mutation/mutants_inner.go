package main

// innerMutants returns faults in systems that contain other systems: in what the other systems
// judge and draw, and in the checks of files that hold several systems.
func innerMutants() []mutant { return append(rankMutants(), mixedMutants()...) }

// rankMutants returns faults in running another system on ranks.
func rankMutants() []mutant {
	const in = "compose"
	judged, states := at(in, "JudgeSeesRanks"), at(in, "HostileStates")
	draws, read := at(in, "RanksAreDrawnUnconstrained"), at(in, "ChangedGeneratorsOfRanks")
	const cleared = "d.Given, d.Unconstrained, d.Means = nil, true, false"
	return []mutant{
		{Name: "compose/ranks: ranks are of records", In: in, Tests: at(in, "RanksKeepTheUnit"),
			Old: "return records.UnitOf(d.Data)", New: "return records.UnitRecord",
			Why: "a guarantee for users is stated for records"},
		{Name: "compose/ranks: ranks are of users", In: in, Tests: at(in, "RanksKeepTheUnit"),
			Old: "return records.UnitOf(d.Data)", New: "return records.UnitUser",
			Why: "a guarantee for records is stated for users"},
		{Name: "compose/ranks: numbers are judged", In: in, Tests: judged,
			Old: "return ranked{Data: data, schema: c.ranks}",
			New: "return data",
			Why: "a run that will fail is paid for"},
		{Name: "compose/ranks: the other system is not judged", In: in, Tests: judged,
			Old: "if err := r.JudgeInner(part); err != nil {",
			New: "if err := r.JudgeInner(part); err != nil && false {",
			Why: "a run that will fail is paid for"},
		{Name: "compose/ranks: private records pass for synthetic ones", In: in,
			Tests: at(in, "PrivateRecordsAsSyntheticOnes"),
			Old:   "if records.DeclarePublic(rows).Overlaps(private) {", New: "if false {",
			Why: "the mapping back is made of private ranks without noise"},
		{Name: "compose/ranks: records of any schema are released", In: in,
			Tests: at(in, "RanksOfAnotherSchema|PoolOfAnotherSchema"),
			Old:   "k.OK(released.Equal(p.Schema()),", New: "k.OK(true,",
			Why: "a generator without labels is paid for"},
		{Name: "compose/compositions contain each other", In: in, Tests: at(in, "PartsAreOfLowerLevels"),
			Old: "k.OK(levelOf(p) < own.level,", New: "k.OK(true,",
			Why: "files nest without bound, and an interruption loses what was paid for beside a search"},
		{Name: "compose/ranks: plans without noise are read", In: in, Tests: at(in, "PlansWithoutNoise"),
			Old: "err := saved.Decided(j.NoiseMultiplier); err != nil {",
			New: "err := error(nil); err != nil {",
			Why: "a small file causes a calibration, and changes the noise of a plan"},
		{Name: "compose/ranks: fractions below 0 are read", In: in, Tests: read,
			Old: "if !(p >= 0 && p <= 2) {", New: "if !(p <= 2) {",
			Why: "a damaged file becomes a generator"},
		{Name: "compose/ranks: fractions above 2 are read", In: in, Tests: read,
			Old: "if !(p >= 0 && p <= 2) {", New: "if !(p >= 0) {",
			Why: "a damaged file becomes a generator"},
		{Name: "compose/ranks: quantiles outside the bounds are read", In: in, Tests: read,
			Old: "if !(x >= 0 && x <= 1) || i%ranksOfBack", New: "if i%ranksOfBack",
			Why: "a damaged file becomes a generator"},
		{Name: "compose/ranks: quantiles that fall are read", In: in, Tests: read,
			Old: " || i%ranksOfBack > 0 && x < ranks[i-1] {", New: " {\n\t\t\t_ = i",
			Why: "the search for a rank needs ascending quantiles"},
		{Name: "compose/ranks: models of numbers are read", In: in, Tests: read,
			Old: "if !of[0].Schema().Equal(ranks) {",
			New: "if !of[0].Schema().Equal(ranks) && false {",
			Why: "a file's numbers are mapped as if they were ranks"},
		{Name: "compose/ranks: states with missing sections are restored", In: in, Tests: states,
			Old: "if len(left) > 0 {\n\t\treturn missing", New: "if false {\n\t\treturn missing",
			Why: "a damaged checkpoint is resumed"},
		{Name: "compose/ranks: sections without a state are restored", In: in, Tests: states,
			Old: " || !part.HasState && part.Sections > 0 {", New: " {",
			Why: "a run that was paid for starts again"},
		{Name: "compose/ranks: ranks are drawn under constraints of numbers", In: in, Tests: draws,
			Old: cleared, New: "d.Unconstrained, d.Means = true, false",
			Why: "a user-defined system applies constraints on numbers to ranks"},
		{Name: "compose/ranks: ranks are drawn with the schema's constraints", In: in, Tests: draws,
			Old: cleared, New: "d.Given, d.Means = nil, false",
			Why: "a user-defined system applies the constraints of a schema to ranks"},
		{Name: "compose/ranks: means of ranks are drawn", In: in, Tests: draws,
			Old: cleared, New: "d.Given, d.Unconstrained = nil, true",
			Why: "synthetic records lose their spread"},
	}
}

// mixedMutants returns faults in the checks of pools.
func mixedMutants() []mutant {
	const in = "compose"
	plans, read := at(in, "ChangedPlansOfPools"), at(in, "ChangedGeneratorsOfPools")
	return []mutant{
		{Name: "compose/pool: plans of another schema are read", In: in, Tests: plans,
			Old: "if !k.apart && !p.Schema().Equal(want) {",
			New: "if !k.apart && !p.Schema().Equal(want) && false {",
			Why: "a file's plan is for other records than the file states"},
		{Name: "compose/pool: plans of many systems are read", In: in, Tests: plans,
			Old: "if n < k.least || n > k.most {", New: "if n < k.least {",
			Why: "a small file causes the pricing of many plans"},
		{Name: "compose/pool: plans without shares are read", In: in, Tests: plans,
			Old: "if len(j.Shares) != len(of) {\n\t\treturn nil, synth.Malformed(fmt.Errorf(\"%d systems",
			New: "if false {\n\t\treturn nil, synth.Malformed(fmt.Errorf(\"%d systems",
			Why: "a file without shares becomes a plan of equal ones"},
		{Name: "compose/pool: shares below 0 are read", In: in, Tests: read,
			Old: "sum += share; !(share > 0) {", New: "sum += share; false {",
			Why: "a system never draws, and another one draws more than its share"},
		{Name: "compose/pool: small sums of shares are read", In: in, Tests: read,
			Old: "if !(sum > 1-1e-6 && sum < 1+1e-6) {", New: "if !(sum < 1+1e-6) {",
			Why: "the last system draws more than its share"},
		{Name: "compose/pool: large sums of shares are read", In: in, Tests: read,
			Old: "if !(sum > 1-1e-6 && sum < 1+1e-6) {", New: "if !(sum > 1-1e-6) {",
			Why: "the last system draws less than its share"},
		{Name: "compose/pool: models of other records are read", In: in, Tests: read,
			Old: "if !m.Schema().Equal(of[0].Schema()) {",
			New: "if !m.Schema().Equal(of[0].Schema()) && false {",
			Why: "a damaged file becomes a generator that cannot draw"},
	}
}
