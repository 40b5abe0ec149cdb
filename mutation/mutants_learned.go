package main

// learnedMutants returns faults in merf's second release, of learned features.
func learnedMutants() []mutant {
	const in = "merf"
	covers := at(in, "LearnedNoiseCovers")
	return []mutant{
		{Name: "merf/learned features are free", In: in, Tests: at(in, "LearnedOverShards|LearnedNoise$"),
			Old: "return []synth.Stage{c.stage(c.embedNoise(z)), c.learnedStage(z)}",
			New: "return []synth.Stage{c.stage(c.embedNoise(z))}",
			Why: "the second release is on no ledger"},
		{Name: "merf/learned features leave the first release the whole budget", In: in,
			Tests: at(in, "LearnedNoise$"),
			Old:   "return z / math.Sqrt(1-c.Learned.Part)", New: "return z",
			Why: "the stages add up to more than a release of the plan's noise multiplier"},
		{Name: "merf/learned features have half the noise", In: in, Tests: covers,
			Old: "n := noise{sum: z}", New: "n := noise{sum: z / 2}",
			Why: "the release has half the noise that its price assumes"},
		{Name: "merf/learned features change by one", In: in, Tests: covers,
			Old: "norm: 1, change: 2,", New: "norm: 1, change: 1,",
			Why: "a replaced image may change a sum by 2"},
		{Name: "merf/learned features under replace-one", In: in, Tests: covers,
			Old: "n.sum = z * max(b.change, math.Sqrt2)", New: "n.sum = z",
			Why: "a replaced image may change a sum by 2"},
		{Name: "merf/the length scale of codes is that of private images", In: in,
			Tests: at(in, "LearnedSumsOfNeighbours"),
			Old:   "rows.read(t, 0, min(distanceOf, n))",
			New:   "rows.read(r.Data, 0, min(distanceOf, r.Data.Len()))",
			Why:   "an image moves the features of all others, and nothing pays for it"},
		{Name: "merf/the second release has other frequencies than the joint features", In: in,
			Tests: at(in, "JointSums"),
			Old:   "w.config.Seed+uint64(len(joint.Parts)-1))",
			New:   "w.config.Seed+uint64(len(joint.Parts)))",
			Why:   "generators are trained against means of other features"},
		{Name: "merf/the sums of both releases have their own noise", In: in,
			Tests: at(in, "LearnedNoise$|JointSums"),
			Old:   "out.sums = append(out.sums, b*v)", New: "out.sums = append(out.sums, b*b*v)",
			Why: "the noise that the embedding states is not that of its sums"},
	}
}
