package mix

import (
	"maps"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/enum"
)

// Criterion is the predicted quantity that the plan maximises if it chooses the degree. Both
// criteria depend on public numbers only: noise, degree, number of mixtures, number of features and
// clip norm.
type Criterion int

const (
	// SecondMoments is the signal-to-noise ratio of covariances estimated from the released rows:
	// √T·ℓ·v ÷ (ℓ·v + s²). Here v = R²/d is the variance of a coordinate if a record's squared norm is
	// spread evenly. The number s is the standard deviation of the noise on a sum. Like the accuracy
	// of non-linear learners, the ratio has its maximum inside the range of degrees. At smaller
	// degrees the noise dominates; at larger degrees the mixtures hardly differ from one another.
	SecondMoments Criterion = iota
	// FirstMoments is the signal-to-noise ratio of class means, T·ℓ·v ÷ (ℓ·v + s²). A linear learner
	// uses class means. The ratio grows with the degree (Theorem 2 of the paper and the remarks after
	// it).
	FirstMoments
)

var criterionNames = enum.Names[Criterion]{Type: "mix.Criterion", List: []string{
	SecondMoments: "second moments", FirstMoments: "first moments",
}}

// String returns the name.
func (k Criterion) String() string { return criterionNames.String(k) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value other than the constants.
func (k Criterion) MarshalText() ([]byte, error) { return criterionNames.Marshal(k) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (k *Criterion) UnmarshalText(text []byte) error { return criterionNames.Unmarshal(text, k) }

// A Candidate is one degree that the plan considered.
type Candidate struct {
	Degree          int     `json:"degree"`
	NoiseMultiplier float64 `json:"noise_multiplier"` // as in Config
	Score           float64 `json:"score"`
}

// Degrees returns the public grid of degrees.
func Degrees() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512} }

func (k Criterion) score(c Config, noiseMultiplier float64) float64 {
	g := c.geometry()
	l, t, s := float64(c.degree()), float64(c.Mixtures/c.parts()), noiseMultiplier*g.norm()
	v := g.clip * g.clip / float64(c.dim())
	signal := l * v / (l*v + s*s)
	if k == FirstMoments {
		return t * signal
	}
	return math.Sqrt(t) * signal
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
			tried[i] = Candidate{Degree: grid[i], NoiseMultiplier: z, Score: c.Criterion.score(trial, z)}
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
