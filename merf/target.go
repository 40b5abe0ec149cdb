package merf

// A target holds, for each class, the mean of features that a generator is trained to match, and
// the weight of the squared distance to it.
type target struct {
	means  [][]float32
	weight []float32
}

// target divides noisy sums by noisy counts, which is post-processing of the release. The weight of
// a class is signal ÷ (signal + noise) of its released mean: near 1 for large classes, and near 0
// for classes whose mean is mostly noise.
func (e *Embedding) target(floor float64) (t target) {
	for c, n := range e.sizes(floor) {
		mean, energy := make([]float32, e.Features()), 0.0
		for j, v := range e.sum(c) {
			mean[j] = float32(v / n)
			energy += v * v
		}
		noise := float64(e.Features()) * e.noise.sum * e.noise.sum
		t.means, t.weight = append(t.means, mean), append(t.weight, float32(wiener(energy, noise)))
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
