package mix

import (
	"maps"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
)

// A Candidate is one degree that the plan considered.
type Candidate struct {
	Degree          int     `json:"degree"`
	NoiseMultiplier float64 `json:"noise_multiplier"` // as in Config
	Score           float64 `json:"score"`
}

// Degrees returns the public grid of degrees.
func Degrees() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512} }

// score predicts the signal-to-noise ratio of covariances estimated from the released rows:
// √T·ℓ·v ÷ (ℓ·v + s²). Here v = R²/d is the variance of a coordinate if a record's squared norm is
// spread evenly. The number s is the standard deviation of the noise on a sum. Like the accuracy of
// non-linear learners, the ratio has its maximum inside the range of degrees. At smaller degrees
// the noise dominates; at larger degrees the mixtures hardly differ from one another. It depends on
// public numbers only.
func (c Config) score(noiseMultiplier float64) float64 {
	g := c.geometry()
	l, t, s := float64(c.degree()), float64(c.Mixtures/c.parts()), noiseMultiplier*g.norm()
	v := g.clip * g.clip / float64(c.dim())
	return math.Sqrt(t) * (l * v / (l*v + s*s))
}

// choose finds the degree of the grid with the highest score. It starts at a first guess and moves
// uphill, because the score has only one maximum.
func (c Config) choose() (Config, []Candidate, error) {
	grid := c.grid()
	tried := map[int]Candidate{}
	try := func(i int) (score float64, err error) {
		if i < 0 || i >= len(grid) {
			return math.Inf(-1), nil
		}
		if _, known := tried[i]; !known {
			trial, err := c.at(grid[i])
			if err != nil {
				return 0, err
			}
			z := trial.NoiseMultiplier
			tried[i] = Candidate{Degree: grid[i], NoiseMultiplier: z, Score: trial.score(z)}
		}
		return tried[i].Score, nil
	}
	best := c.guess(grid)
	top, err := try(best)
	for _, step := range []int{1, -1} {
		for err == nil {
			var next float64
			if next, err = try(best + step); err != nil || next <= top {
				break
			}
			best, top = best+step, next
		}
	}
	if err != nil {
		return c, nil, err
	}
	var seen []Candidate
	for _, i := range slices.Sorted(maps.Keys(tried)) {
		seen = append(seen, tried[i])
	}
	c.Sampling, c.NoiseMultiplier = withDegree(c.Sampling, grid[best]), tried[best].NoiseMultiplier
	return c, seen, nil
}

// grid lists the degrees that the number of records permits, always including 1.
func (c Config) grid() []int {
	n, _ := c.Sampling.public()
	out := []int{1}
	for _, l := range Degrees()[1:] {
		if l*c.parts() <= n {
			out = append(out, l)
		}
	}
	return out
}

// at returns the configuration with the given degree and its noise.
func (c Config) at(degree int) (Config, error) {
	c.Sampling = withDegree(c.Sampling, degree)
	if c.NoiseMultiplier != 0 {
		return c, nil
	}
	var err error
	c.NoiseMultiplier, err = c.leastNoise()
	return c, err
}

// guess returns the index of the degree at which the search starts. It approximates T sampled
// releases by one Gaussian mechanism of effect ℓ/n·√(T(e^x−1)), where x is the squared effect of
// one release. Second moments are then estimated best at x = 1.59.
func (c Config) guess(grid []int) int {
	z, _, err := accountant.CalibrateNoise(c.Budget, gaussian)
	if err != nil {
		return 0
	}
	if c.Budget.Relation == accountant.ReplaceOne {
		z *= 2
	}
	n, _ := c.Sampling.public()
	parts := float64(c.parts())
	want := float64(n) / parts / z / math.Sqrt(3.9*float64(c.Mixtures)/parts)
	best := 0
	for i, l := range grid {
		if math.Abs(math.Log(float64(l)/want)) < math.Abs(math.Log(float64(grid[best])/want)) {
			best = i
		}
	}
	return best
}
