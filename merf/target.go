package merf

// A target holds, for each class, the mean of features that a generator is trained to match, and
// the weight of the squared distance to it.
type target struct {
	means  [][]float32
	weight []float32
}

// target divides noisy sums by noisy counts, which is post-processing of the release.
func (e *Embedding) target(g GeneratorConfig) target {
	sizes, shares := e.sizes(g.Floor), e.proportions()
	var t target
	for c, n := range sizes {
		mean := make([]float32, e.Features())
		noise := e.noise.sum / n
		for j, v := range e.sum(c) {
			x := v / n
			if g.Shrink {
				x *= wiener(x*x, noise*noise)
			}
			mean[j] = float32(x)
		}
		t.means = append(t.means, mean)
		t.weight = append(t.weight, float32(e.weightOf(g.Weights, c, n, shares[c])))
	}
	return t
}

// wiener returns signal ÷ (signal + noise). It estimates the signal as the observed square minus
// the noise, and at least zero.
func wiener(observed, noise float64) float64 {
	if observed <= noise {
		return 0
	}
	return 1 - noise/observed
}

func (e *Embedding) weightOf(w Weighting, class int, size, share float64) float64 {
	switch w {
	case Uniform:
		return 1
	case ByProportion:
		return share * float64(e.Classes())
	}
	energy := 0.0
	for _, v := range e.sum(class) {
		energy += v * v
	}
	return wiener(energy, float64(e.Features())*e.noise.sum*e.noise.sum)
}
