package main

// priceMutants returns faults in the bounds for very many steps and for hardly any noise.
func priceMutants() []mutant {
	in := func(folder, name, run, old, new, why string) mutant {
		return mutant{Name: folder + "/" + name, In: folder, Tests: at(folder, run),
			Old: old, New: new, Why: why}
	}
	const pld, below = "accountant/internal/pld", "the published ε is below the price"
	return []mutant{
		in(pld, "a sum is exactly normal", "NormalBounds",
			"+ sign*2*most*far", "+ sign*0*most*far", below),
		in(pld, "tilts are not undone", "NormalBounds",
			"- theta*eps\n\tif inf", "- 1.001*theta*eps\n\tif inf", below),
		in(pld, "cells lie above the mechanism", "NormalBounds", "lowShare(e+d+2*err, w)",
			"lowShare(0.999*e+d, w)", "a lower end is above the price"),
		in(pld, "one use of many", "NormalBounds", "s.log += n * (top", "s.log += 0.9 * n * (top", below),
		in("accountant", "nobody takes part often", "Loud",
			"mu := l.mu * math.Sqrt(float64(k))", "mu := l.mu", below),
		in("accountant", "many steps with a record are left out", "Loud",
			"rest < 1e-3*sum", "k > 0", below),
		in("accountant", "opposite rows cost no more than one", "Loud",
			"return gauss(l.n)", "return gauss(1)", below),
		in("accountant", "an allocation's lower end forgets its steps", "Loud",
			"l.mu, l.steps = a.mu, float64(a.steps)", "l.mu, l.steps = a.mu, 1e-300",
			"a lower end is above the price"),
		in("accountant", "rare events are rarer than they are", "RareEvents|Loud",
			"log = math.Log(float64(l.n)) + b", "log = b", "a lower end is above the price"),
		in("accountant", "samples that are public have half the effect", "RoundedSamples|Extreme",
			"sum += float64(t.n) * mu * mu", "sum += float64(t.n) * mu * mu / 1e4", below),
		in("accountant", "rates that are rounded up have a lower end", "RoundedSamples",
			"const leastRate = 1e-60", "const leastRate = 1e-15", "a lower end is above the price"),
		in("accountant", "effects that are rounded up have a lower end of their own", "RoundedSamples",
			"p.Loose || mu <= leastAllocated", "p.Loose", "a lower end is above the price"),
		in("accountant", "a group of sampled records has one member", "Groups",
			"m.Sensitivities, float64(k))", "m.Sensitivities, float64(min(k, 1)))", below),
		in("accountant", "a group moves a sum by one effect", "Groups",
			"gaussianAtom{a.mu * float64(size)}", "gaussianAtom{a.mu}", below),
		in("accountant", "later members of a group cost no δ", "Groups",
			"sum := min(math.Log(k)+(k-1)*eps,", "sum := min(0,", below),
		in("accountant", "a group in several parts costs as in one", "GroupsOfParts",
			"ok && len(lists) == 1 && !banded {", "ok && !banded {", below),
		in("accountant", "members of a group share no round of bands", "GroupOfBands",
			"ok && len(lists) == 1 && !banded {", "ok && len(lists) == 1 {\n\t\t_ = banded", below),
		in("accountant", "permute-and-flip has bounded range", "PermuteAndFlip",
			"p := *approximateAtom{a.eps, 0}.pairs()\n\t\tp.Loose = true",
			"p := pld.Pairs{Remove: pld.BoundedRange(a.eps), Envelope: true}", below),
		{Name: "mechanism/internal/sampler/a candidate is flipped again",
			In: "mechanism/internal/sampler", Tests: at("mechanism", "PermuteAndFlip"),
			Old: "rest = rest[:last]", New: "rest[last] = i",
			Why: "the choice is of another mechanism than was paid for"},
		in("accountant", "an effect fits at the points only", "GaussianEffects",
			"above = max(above, at(to,", "above = max(above, 0*at(to,",
			"a Gaussian release is said to tell more than it does"),
	}
}
