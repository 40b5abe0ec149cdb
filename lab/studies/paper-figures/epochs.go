package main

import (
	"fmt"
	"math"
	"path/filepath"

	"gonum.org/v1/plot/plotter"

	"github.com/seed7ba64551/privgen/accountant"
)

// A setting holds the parameters of one curve of Fig. 2. Noise is in the papers' units: the
// standard deviation is √2·σ times the clip norm, or √2·σ for counts.
type setting struct{ q, sigmaC, sigmaK, sigmaG float64 }

const (
	delta        = 1e-5
	kmeansRounds = 20
	maxEpochs    = 40
)

// figure2 draws three panels, which vary q, σ_K and σ_G.
func figure2(out string) error {
	panels := []struct {
		name  string
		vary  string
		lines []setting
	}{
		{"fig2a-sampling", "q", []setting{{.0017, 4, 40, 2}, {.005, 4, 40, 2}, {.01, 4, 40, 2}}},
		{"fig2b-kmeans", "σ_K", []setting{{.0017, 4, 20, 2}, {.0017, 4, 40, 2}, {.0017, 4, 80, 2}}},
		{"fig2c-gradient", "σ_G", []setting{{.0017, 4, 40, 1}, {.0017, 4, 40, 2}, {.0017, 4, 40, 4}}},
	}
	for _, p := range panels {
		var curves []curve
		for i, s := range p.lines {
			label := map[string]float64{"q": s.q, "σ_K": s.sigmaK, "σ_G": s.sigmaG}[p.vary]
			more, err := s.curves(fmt.Sprintf("%s = %g", p.vary, label), i)
			if err != nil {
				return err
			}
			curves = append(curves, more...)
		}
		title := "DPGM: ε by epochs, δ = 1e-5, 20 iterations of k-means, σ_C = 4"
		if err := save(filepath.Join(out, p.name+".png"), title, "epochs", "ε", curves); err != nil {
			return err
		}
	}
	return nil
}

// curves returns the curves of one setting under three accountings.
func (s setting) curves(label string, colour int) ([]curve, error) {
	claimed := curve{label: label + ", as the papers account (no bound)", colour: colour, dashes: 2}
	add := curve{label: label + ", sound, add or remove one", colour: colour}
	replace := curve{label: label + ", sound, replace one", colour: colour, dashes: 1}
	for epochs := 2; epochs <= maxEpochs; epochs += 4 {
		steps := epochs * int(math.Ceil(1/s.q))
		claimed.add(float64(epochs), s.claimed(steps))
		for _, r := range []struct {
			to       *curve
			relation accountant.Relation
		}{{&add, accountant.AddOrRemoveOne}, {&replace, accountant.ReplaceOne}} {
			b, err := accountant.Epsilon(s.event(steps, r.relation), delta, r.relation)
			if err != nil {
				return nil, err
			}
			r.to.add(float64(epochs), b.Upper)
		}
	}
	return []curve{claimed, add, replace}, nil
}

// event returns an event that prices the setting's noise correctly, for the sound form of
// Algorithm 1.
//
// The papers' standard deviations are √2σ times the clip norm C. Under add-or-remove-one a sum has
// sensitivity C and a histogram has sensitivity 1, so both multipliers are √2σ; for k-means, counts
// and sums together have the multiplier σ_K. Under replace-one a record that stays in its cluster
// changes a sum by 2C, so the multiplier of a sum is σ/√2. The multiplier of a histogram is σ.
func (s setting) event(steps int, r accountant.Relation) accountant.Event {
	cluster, gradient, histogram := s.sigmaK, math.Sqrt2*s.sigmaG, math.Sqrt2*s.sigmaC
	if r == accountant.ReplaceOne {
		cluster, gradient, histogram = s.sigmaK/math.Sqrt2, s.sigmaG/math.Sqrt2, s.sigmaC
	}
	step := accountant.PoissonSampled{Probability: s.q,
		Event: accountant.SameBatch{NoiseMultipliers: []float64{histogram, gradient}}}
	return accountant.Composed{Events: []accountant.Event{
		accountant.Repeated{Event: accountant.Gaussian{NoiseMultiplier: cluster}, Count: kmeansRounds},
		accountant.Repeated{Event: step, Count: steps},
	}}
}

// claimed returns the ε of the papers' Theorem 4 as printed, for comparison only. This ε is not a
// bound: the moments of Lemma 1 are too small by a factor of two, and Theorem 3 is false as the
// papers use it.
func (s setting) claimed(steps int) float64 {
	best := math.Inf(1)
	for l := 1.0; l <= 32; l++ {
		moment := kmeansRounds * (l*l + l) / (2 * s.sigmaK * s.sigmaK)
		best = min(best, (moment+float64(steps)*s.stepMoment(l)-math.Log(delta))/l)
	}
	return best
}

// stepMoment returns Theorem 3's bound on the moment of one step, minimised over ten splits.
func (s setting) stepMoment(l float64) float64 {
	best := math.Inf(1)
	for j := 0.05; j < 1; j += 0.1 {
		best = min(best, j*sampledMoment(s.q, s.sigmaC, l/j)+(1-j)*sampledMoment(s.q, s.sigmaG, l/(1-j)))
	}
	return best
}

// sampledMoment returns the papers' α(λ): λ times the Rényi divergence of order λ+1 of the
// sampled Gaussian.
func sampledMoment(q, sigma, l float64) float64 {
	e := accountant.PoissonSampled{Probability: q, Event: accountant.Gaussian{NoiseMultiplier: sigma}}
	v, err := accountant.RDP(e, l+1, accountant.AddOrRemoveOne)
	if err != nil {
		return math.Inf(1)
	}
	return l * v
}

// A curve is one line of a figure, with error bars if it shows several runs.
type curve struct {
	label  string
	colour int
	dashes int
	points plotter.XYs
	spread []float64
}

func (c *curve) add(x, y float64) { c.points = append(c.points, plotter.XY{X: x, Y: y}) }
