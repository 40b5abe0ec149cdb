package sgd

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Quantile makes the clip norm follow a quantile of the gradients' norms. Each step releases one
// noisy number that weighs the norms above the clip norm against the norms below it. The clip norm
// of the next step is the current one times a factor that depends on this number. The number and
// the gradient come from one batch and are accounted for as one event.
//
// Source: Andrew, Thakkar, McMahan and Ramaswamy, "Differentially Private Learning with Adaptive
// Clipping", 2021. Here the noisy sum of (1[norm ≤ C] − Quantile) is divided by the public nominal
// batch. The source divides by the size of the batch, which is private.
type Quantile struct {
	Quantile float64 `json:"quantile"` // fraction of norms to leave unclipped, such as 0.5
	Initial  float64 `json:"initial"`  // clip norm of the first step
	// Rate is the source's η_C, such as 0.2: it determines how fast the clip norm changes.
	Rate float64 `json:"rate"`
	// NoiseMultiplier is the standard deviation of the released number's noise divided by its
	// sensitivity: max(Quantile, 1−Quantile) under add-or-remove-one, 1 under replace-one.
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// ByNorm weights records by the norms of their gradients, up to Initial, instead of equally.
	//
	// Most records may soon be well fitted, for example the records of the larger of two classes. A
	// quantile of all norms then falls with the norms of these records. At the median, the clip
	// norm can fall to a thousandth of the norms of the other records. Their gradients are then
	// lost in the noise. With ByNorm, norms much smaller than Initial hardly count. So the clip
	// norm follows the records that are not yet fitted. The privacy cost is the same, since a
	// record with less weight moves the released number by less.
	ByNorm bool `json:"by_norm,omitempty"`
}

// Warnings returns warnings about the configuration, to be read before budget is spent on it, or
// nil. Plans print them.
func (c Config) Warnings() []string {
	q, ok := c.Clip.(Quantile)
	if !ok || q.ByNorm || q.Quantile > 0.5 {
		return nil
	}
	return []string{fmt.Sprintf("warning: the clip norm follows the %v quantile of all records; where "+
		"classes are unbalanced it falls with the larger ones, and gradients of the others are lost "+
		"in the noise: see "+
		"sgd.Quantile.ByNorm", q.Quantile)}
}

func (q Quantile) check(k *checker, c Config) {
	k.ok(q.Quantile > 0 && q.Quantile < 1, "Clip.Quantile", q.Quantile, "a number in (0, 1)")
	k.norm("Clip.Initial", q.Initial)
	k.positive("Clip.Rate", q.Rate)
	k.least("Clip.NoiseMultiplier", q.NoiseMultiplier, 2./quantileUnits, "2^-19")
	k.ok(c.NominalBatch > 0, "NominalBatch", c.NominalBatch,
		"a positive number, by which Clip's quantile is divided")
}

func (q Quantile) multipliers(rows bool) []float64 {
	if above, below := q.units(); rows {
		return []float64{q.NoiseMultiplier / float64(max(above, below)) * quantileUnits}
	}
	return []float64{q.NoiseMultiplier}
}

// units returns what a record subtracts from the released number, and what it adds.
func (q Quantile) units() (above, below int64) {
	above = int64(math.Round(q.Quantile * quantileUnits))
	return above, quantileUnits - above
}

// quantileUnits is the number of units that represent 1 in the released number. The released number
// is an integer sum. Its sensitivity is at least half of the units, and its noise at least one.
const quantileUnits = 1 << 20

func (q Quantile) start(r accountant.Relation, nominalBatch float64) clipper {
	above, below := q.units()
	// A record adds `below` or −`above`. Replacing it can turn one into the other.
	sensitivity := max(above, below)
	if r == accountant.ReplaceOne {
		sensitivity = above + below
	}
	return &quantileTracker{norm: q.Initial, below: below, above: above,
		rate: q.Rate / (nominalBatch * quantileUnits), byNorm: q.ByNorm, initial: q.Initial,
		std: q.NoiseMultiplier * float64(sensitivity), sensitivity: float64(sensitivity),
		sum: mechanism.NewFixedSum(1, 1), out: make([]float64, 1)}
}

type quantileTracker struct {
	norm         float64
	below, above int64 // a norm up to the clip norm adds below units; a larger one subtracts above
	total        int64
	rate         float64
	std          float64
	sensitivity  float64
	sum          *mechanism.FixedSum
	out          []float64
	byNorm       bool
	initial      float64
}

func (t *quantileTracker) wantsNorms() bool { return false }
func (t *quantileTracker) bound() float64   { return t.norm }

// choose clears counts that a cancelled step may have left.
func (t *quantileTracker) choose(*mechanism.Grant, []float64) error {
	t.total = 0
	return nil
}

func (t *quantileTracker) factor(squaredNorm float64) float64 {
	norm := math.Sqrt(squaredNorm)
	if norm <= t.norm {
		t.total += t.counted(t.below, norm)
	} else {
		t.total -= t.counted(t.above, norm)
	}
	return mechanism.ClipFactor(squaredNorm, t.norm)
}

// counted returns the weight of a record with the given norm, between 0 and units.
func (t *quantileTracker) counted(units int64, norm float64) int64 {
	if share := norm / t.initial; t.byNorm && share < 1 {
		return int64(share * float64(units))
	}
	return units
}

// finish releases the number and moves the norm of the next step.
func (t *quantileTracker) finish(g *mechanism.Grant) error {
	t.sum.Reset()
	t.sum.AddInt(0, t.total)
	effect := g.SumEffect(float64(max(t.above, t.below)), t.sensitivity, t.std)
	if err := g.Release(effect, mechanism.Part{Sum: t.sum, Std: t.std, Out: t.out}); err != nil {
		return err
	}
	move := min(max(t.rate*t.out[0], -1), 1)
	t.norm = min(max(t.norm*math.Exp(-move), smallestNorm), largestNorm)
	return nil
}
