package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

func (a gaussianAtom) pairs() *pld.Pairs { return &pld.Pairs{Remove: pld.Gauss{Mu: a.mu}} }
func (a sampledGaussian) pairs() *pld.Pairs {
	return pld.SampledBoth(a.q, &pld.Pairs{Remove: pld.Gauss{Mu: a.mu}})
}
func (a gluedAtom) pairs() *pld.Pairs { return &pld.Pairs{Remove: pld.NewGlued(a.q, a.mu)} }

type mixtureAtom struct{ GaussianMixture }

func (a mixtureAtom) mixture() *pld.Mixture {
	return pld.NewMixture(a.NoiseMultiplier, a.Sensitivities, a.Probabilities)
}

func (a mixtureAtom) rdp(order float64) (float64, bool) { return a.mixture().Renyi(order), true }

func (a mixtureAtom) pairs() *pld.Pairs {
	p := a.mixture()
	if p.Constant() {
		return &pld.Pairs{Remove: pld.NewSymmetric([]float64{0}, []float64{1}, 0)}
	}
	return &pld.Pairs{Remove: p, Add: pld.NewMirror(p)}
}

type oppositeAtom struct{ q, mu float64 }

func (a oppositeAtom) key() string { return fmt.Sprintf("opposite %b %b", a.q, a.mu) }

func (a oppositeAtom) rdp(order float64) (float64, bool) {
	return pld.OppositeRenyi(a.q, a.mu, order), true
}

func (a oppositeAtom) pairs() *pld.Pairs {
	return &pld.Pairs{Remove: pld.Opposite{Q: a.q, Mu: a.mu}}
}

func (a gluedAtom) rdp(order float64) (float64, bool) { return renyi.Glued(a.q, a.mu, order), true }
