package sgd

import (
	"cmp"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// A Clip is a policy that bounds the norm of each example's gradient. The policies are DPNorm,
// Quantile, Normalize and Groups of this package.
type Clip interface {
	check(k *checker, c Config)
	// multipliers returns the noise multipliers of the policy's own releases in each step, on the
	// same batch as the gradient. If rows is set, they are standard deviations ÷ the largest norm of
	// one record's row under replace-one, as in accountant.SampledSum.
	multipliers(rows bool) []float64
	start(r accountant.Relation, nominalBatch float64) clipper
}

// A clipper is the state of a policy during training.
type clipper interface {
	// choose begins a step. If wantsNorms returns true, choose receives all squared norms of the batch
	// before any gradient is clipped.
	wantsNorms() bool
	choose(g *mechanism.Grant, squaredNorms []float64) error
	// bound returns the largest norm after clipping: a public or released number.
	bound() float64
	factor(squaredNorm float64) float64
	// finish makes the policy's releases that do not affect this step.
	finish(g *mechanism.Grant) error
}

// fixed clips to one given norm.
type fixed float64

func (c fixed) check(*checker, Config)                     {}
func (c fixed) multipliers(bool) []float64                 { return nil }
func (c fixed) start(accountant.Relation, float64) clipper { return c }
func (c fixed) wantsNorms() bool                           { return false }
func (c fixed) choose(*mechanism.Grant, []float64) error   { return nil }
func (c fixed) bound() float64                             { return float64(c) }
func (c fixed) factor(squaredNorm float64) float64 {
	return mechanism.ClipFactor(squaredNorm, float64(c))
}
func (c fixed) finish(*mechanism.Grant) error { return nil }

// Normalize scales every gradient g to g/(‖g‖+Stability), which needs no clip norm;
// sums have sensitivity 1.
//
// Source: Bu, Wang, Zha and Karypis, "Automatic Clipping: Differentially Private
// Deep Learning Made Easier and Stronger", 2023.
type Normalize struct {
	// Stability keeps small gradients from being scaled up to norm 1. Scaled norms stay below 1 for
	// every Stability from 2^-60 to 2^60, so it does not affect the guarantee. 0 means the source's
	// 0.01.
	Stability float64 `json:"stability,omitempty"`
}

func (c Normalize) check(k *checker, _ Config) {
	// The weight of a zero gradient is 1/Stability: if it were infinite in float32, the
	// record's 0·∞ would make the whole sum NaN.
	k.ok(c.Stability == 0 ||
		c.Stability >= smallestNorm && c.Stability <= largestNorm, "Clip.Stability", c.Stability,
		"zero for the default, or a number in [2^-60, 2^60]")
}

func (c Normalize) multipliers(bool) []float64 { return nil }

func (c Normalize) start(accountant.Relation, float64) clipper {
	c.Stability = cmp.Or(c.Stability, 0.01)
	return normalizer(c)
}

type normalizer Normalize

func (c normalizer) wantsNorms() bool                         { return false }
func (c normalizer) choose(*mechanism.Grant, []float64) error { return nil }
func (c normalizer) bound() float64                           { return 1 }
func (c normalizer) finish(*mechanism.Grant) error            { return nil }

// factor aims at a norm 2⁻²⁰ below 1, as ClipFactor does, because rows are float32.
func (c normalizer) factor(squaredNorm float64) float64 {
	if !(squaredNorm >= 0) || math.IsInf(squaredNorm, 0) {
		return 0
	}
	return (1 - 0x1p-20) / (math.Sqrt(squaredNorm) + c.Stability)
}

// weight returns a factor as float32, rounded down: a subnormal weight that was rounded up would
// give its row a norm above the bound.
func weight(factor float64) float32 {
	w := float32(factor)
	if float64(w) > factor {
		return math.Nextafter32(w, 0)
	}
	return w
}
