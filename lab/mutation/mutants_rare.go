package main

// rareMutants returns faults in branches that few runs take: large inputs, persons, second passes
// and files that are read again.
func rareMutants() []mutant {
	in := func(folder, name, run, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, run),
			Old: old, New: new, Why: why}
	}
	return []mutant{
		in("mechanism", "samples repeat after 256 blocks", "BlocksOfPositions",
			"Stream(entropy.Sampler, uint64(b), 0)", "Stream(entropy.Sampler, uint64(b&0xff), 0)",
			"records far apart are always sampled together, which no event covers"),
		in("mechanism", "counts are clamped in records, not in steps", "NoisyArgmax",
			"limit := int64(1<<62) / unit\n", "limit := int64(1 << 62)\n",
			"one more record makes the largest count the smallest"),
		in("mechanism", "a norm's noise is in shares", "NoiseInShares",
			"g.NoisyArgmax(h.counts, std/h.unit,", "g.NoisyArgmax(h.counts, std,",
			"the noise on persons is 2^20 times too small"),
		in("dpgm", "rows count whole in the sizes", "MarginalsOfLaterRows",
			"m.bins.of(len(m.row)), share)", "m.bins.of(len(m.row)), 1)",
			"a person counts for more than one in the histogram of sizes"),
		in("rff", "an optional flag is bounded as one coordinate", "BoundsOfDiscrete",
			"return 1, float64(b.Width)", "return 1, 1",
			"replacing a record moves the sum further than the noise is for"),
		in("mix", "rows count whole in the centres", "PersonsCountOnce",
			"sum.AddRowAt(part*width, x, s.share.Of(int(row)))", "sum.AddRowAt(part*width, x, 1)",
			"a person counts for more than one in the released means"),
		in("mechanism/internal/sampler", "shapes below zero are mirrored", "NumbersOfRuns",
			"sure, eta = i-1, 1+eta", "sure, eta = i-1, -eta",
			"the number of runs has another law than the one that is priced"),
		in("sgd", "a micro-batch is larger than a sum has room for", "LargeBatches",
			"return min(t.cfg.MicroBatch, largestExact)", "return t.cfg.MicroBatch",
			"whole numbers wrap, and one record moves the sum from one end to the other"),
		in("sets", "items of rows count whole", "PersonsCountOnce",
			"items.AddShare(int(item), share)", "items.AddShare(int(item), 1)",
			"a person counts for more than one in the counts of items"),
		in("sets", "queries of rows count whole", "PersonsCountOnce",
			"truth.AddShare(q, share)", "truth.AddShare(q, share/share)",
			"a person counts for more than one in the queries"),
		in("accountant/internal/pld", "probability beyond the window is free", "BeyondTheWindow",
			"delta -= ch.inf + ch.above\n", "delta -= ch.inf\n",
			"a composition is priced below its ε"),
		in("accountant/internal/pld", "the add direction is assumed to be the smaller", "EitherDirection",
			"if b := q.quickly(w); b.OK && b.Upper <= a.Upper {", "if b := q.quickly(w); b.OK {",
			"events that cost more when a record is added are priced too low"),
		in("connect/httpledger", "uses taken elsewhere are not read", "TakenElsewhere",
			"Count: line.Count, Taken: line.Taken,", "Count: line.Count,",
			"uses that a checkpoint counts as taken are handed out again"),
		in("mechanism", "grants release without the lock", "HoldTheLock",
			"(effect float64, parts ...Part) error {\n\tg.a.mu.Lock()\n\tdefer g.a.mu.Unlock()\n\tnormals",
			"(effect float64, parts ...Part) error {\n\tnormals",
			"two releases at once get the same noise"),
		in("mechanism", "samples are drawn without the lock", "HoldTheLock",
			"\tg.a.mu.Lock()\n\tdefer g.a.mu.Unlock()\n\tif !g.takeSample(samplePoisson) {\n\t\treturn index",
			"\tif !g.takeSample(samplePoisson) {\n\t\treturn index",
			"two steps at once get the same records"),
	}
}
