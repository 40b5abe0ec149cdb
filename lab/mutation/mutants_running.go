package main

// runningMutants returns faults in the running sum by which a ledger decides reservations.
func runningMutants() []mutant {
	in := func(folder, name, run, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, run),
			Old: old, New: new, Why: why}
	}
	const pld = "accountant/internal/pld"
	const beyond = "a ledger reserves beyond its budget"
	return []mutant{
		in(pld, "fixed point is rounded down", "FixedPoint", "int64(math.Ceil(max(x, 0)))",
			"int64(max(x, 0))", beyond),
		in(pld, "fixed point wraps around", "FixedPoint", "if hi > 0 || lo >= most {",
			"if hi < 0 || lo >= most {", beyond),
		in(pld, "sums hold the lower masses", "SumsOf",
			"up, inf := w.g.connect(p)\n\tscale := logMomentAbove",
			"_, inf := w.g.connect(p)\n\tup := w.g.merge(0)\n\tscale := logMomentAbove", beyond),
		in(pld, "sums have one direction", "SumsProveNothing",
			"max(s.delta(0, eps), s.delta(1, eps)) - a.Delta", "s.delta(0, eps) - a.Delta", beyond),
		in(pld, "sums make no errors", "SumsProveNothing", "(sum+err*a.size+a.rest)",
			"(sum+0*err*a.size+a.rest)", beyond),
		in(pld, "sums have no infinite losses", "SumsProveNothing",
			"a.Delta*float64(d.inf)/infUnit", "0*float64(d.inf)", beyond),
		in(pld, "sums forget Gaussian releases", "SumsOfGaussians",
			"s.plain = plus(s.plain, fixed(", "s.plain = max(s.plain, fixed(", beyond),
		{Name: pld + "/a lower end alone is an upper end", In: pld,
			Tests: at("accountant", "FarFinerLowerEnds"),
			Old:   "a.Upper, a.OK = math.Inf(1), true", New: "a.Upper, a.OK = 0, true", Why: beyond},
		in("accountant", "running prices mix relations", "RunningPricesAreRefused",
			"if b.relation != r {", "if false && b.relation != r {", beyond),
		in("accountant", "running prices are for any budget", "RunningPricesAreRefused",
			"u.sum.Aim().Epsilon == b.Epsilon && u.sum.Aim().Delta == b.Delta",
			"u.sum.Aim().Epsilon == b.Epsilon", beyond),
		in("accountant", "what was reduced alone is lost", "RunningPricesAreRefused",
			"b.running = newRunning(nil, b.lists)", "b.running = newRunning(nil, [][]term{nil})", beyond),
		in("accountant", "running prices leave parts out", "RunningPricesAreRefused",
			"s != nil && len(u.lists) == 1 {", "s != nil {", beyond),
		in("accountant", "events are left out of running prices", "RunningPricesAreRefused",
			"s = s.Clone(); addAll", "s = s.Clone(); true || addAll", beyond),
		in("accountant", "selections are added in no time", "WorkOfRunningPrices",
			"u.costly = nil\n\t\tcase sampledGaussian:", "\n\t\tcase sampledGaussian:",
			"what was paid for cannot be read again"),
		in("ledger", "later uses of an entry are not in the running sum", "RunningSumsFollow",
			"n := en.reserved - r.counted[i]; n > 0 {",
			"n := en.reserved - r.counted[i]; n > 0 && r.counted[i] == 0 {", beyond),
		in("ledger", "uses are in the running sum twice", "RunningSumsFollow",
			"r.counted[i] = en.reserved", "r.counted[i] = n",
			"a ledger refuses what its budget allows"),
		in("ledger", "a snapshot adds one use to the running sum", "RunningSumsFollow",
			"accountant.Repeated{Event: en.event, Count: n})\n\t\t\tr.counted",
			"accountant.Repeated{Event: en.event, Count: 1})\n\t\t\tr.counted", beyond),
		in("ledger", "filters are decided by the running sum", "RunningSumsAreOfWhole",
			"l.filter != 0 || l.partsUsed() ||", "l.partsUsed() ||", beyond),
		in("ledger", "the running sum decides without the parts", "RunningSumsAreOfWhole",
			"l.filter != 0 || l.partsUsed() ||", "l.filter != 0 ||", beyond),
		in("ledger", "what the running sum does not prove fits", "RunningSums(Fill|AreOf)",
			"_, q.known = q.at.runningCost(q.ctx, q.sum, false)",
			"q.at.runningCost(q.ctx, q.sum, false); q.known = true", beyond),
		in("ledger", "a rounded price is published", "RunningSumsFill",
			"if p.Lower > 0 && p.Upper <= l.budget.Epsilon {", "if p.Upper >= 0 {",
			"a ledger publishes more than its budget"),
	}
}
