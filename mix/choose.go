package mix

import (
	"fmt"
	"math"
)

// Criterion is what the plan maximises where the degree is left open. Both are predictions from public numbers: noise, degree,
// number of mixtures and clip norm. Neither looks at a record.
type Criterion int

const (
	// SecondMoments is the signal-to-noise ratio of covariances estimated from the released rows: √T·ℓ·v ÷ (ℓ·v + s²), with v = R²/d the
	// variance of a coordinate if a record's square norm were spread evenly, and s the noise on a sum. It has an inside maximum, as
	// non-linear learners have: below it noise grows faster than the degree, beyond it mixtures are all alike.
	SecondMoments Criterion = iota
	// FirstMoments is that of class means, T·ℓ·v ÷ (ℓ·v + s²): what a linear learner uses. It grows with the degree (Theorem 2 and
	// what follows it in the paper).
	FirstMoments
	criteria
)

// String names the criterion.
func (k Criterion) String() string {
	switch k {
	case SecondMoments:
		return "second moments"
	case FirstMoments:
		return "first moments"
	}
	return fmt.Sprintf("Criterion(%d)", int(k))
}

// MarshalText writes the name.
func (k Criterion) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (k *Criterion) UnmarshalText(text []byte) error {
	for c := range criteria {
		if c.String() == string(text) {
			*k = c
			return nil
		}
	}
	return fmt.Errorf("mix: unknown criterion %.40q", text)
}

// A Candidate is one degree that the plan looked at.
type Candidate struct {
	Degree          int
	NoiseMultiplier float64
	Score           float64
}

// Degrees is the public grid of degrees.
func Degrees() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512} }

func (k Criterion) score(c Config, noiseMultiplier float64) float64 {
	g := c.geometry()
	_, degree := c.Sampling.public()
	l, t, s := float64(degree), float64(c.Mixtures/c.parts()), noiseMultiplier*g.norm()
	v := g.clip * g.clip / float64(c.dim())
	signal := l * v / (l*v + s*s)
	if k == FirstMoments {
		return t * signal
	}
	return math.Sqrt(t) * signal
}

// choose tries every degree of the grid that the number of records allows.
func (c Config) choose() (Config, []Candidate, error) {
	n, _ := c.Sampling.public()
	best, chosen := -1.0, Config{}
	var seen []Candidate
	var first error
	for _, l := range Degrees() {
		if l*c.parts() > n {
			break
		}
		trial := c
		trial.Sampling = c.Sampling.withDegree(l)
		m := c.NoiseMultiplier
		if m == 0 {
			var err error
			if m, err = trial.leastNoise(); err != nil {
				first = err
				continue
			}
		}
		score := c.Criterion.score(trial, m)
		seen = append(seen, Candidate{Degree: l, NoiseMultiplier: m, Score: score})
		if score > best {
			trial.NoiseMultiplier = m
			best, chosen = score, trial
		}
	}
	if best < 0 {
		return c, nil, first
	}
	return chosen, seen, nil
}
