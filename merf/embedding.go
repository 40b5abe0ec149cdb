package merf

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// An Embedding is a release. It holds only the noisy sums of features and the noisy counts of every
// class, and the public description of the features. Saving it, sharing it and training any number
// of generators against it costs no privacy beyond its Guarantee. It is immutable and safe for
// concurrent use.
type Embedding struct {
	config    Config
	features  rff.Embedding
	noise     noise
	sums      []float64 // classes × features
	counts    []float64 // one for each class; Nominal if counts were not released
	guarantee ledger.Guarantee
}

// newEmbedding returns an empty embedding with a feature map of its own, because the plan's feature
// map holds scratch memory with features of private records.
func (w *work) newEmbedding() (*Embedding, error) {
	c := w.config
	features, err := c.features()
	if err != nil {
		return nil, err
	}
	classes := classesOf(c.Schema)
	e := &Embedding{config: c, features: features, noise: w.noise.perRecord(c.Batches),
		sums: make([]float64, classes*features.Dim()), counts: make([]float64, classes)}
	if w.noise.count == 0 {
		e.counts[0] = float64(c.Nominal)
	}
	return e, nil
}

// perRecord returns the noise of the average of all releases, scaled to sums over all records.
func (n noise) perRecord(b Batches) noise {
	if !b.none() {
		n.widen(1 / (b.Probability * math.Sqrt(float64(b.Steps))))
	}
	return n
}

// Guarantee returns the guarantee of the release, including its limits.
func (e *Embedding) Guarantee() ledger.Guarantee {
	if e.known().features == nil {
		return ledger.Guarantee{NotPrivate: "nothing has been released"}
	}
	return e.guarantee
}

// known returns e, or the zero value if e is nil.
func (e *Embedding) known() *Embedding {
	if e == nil {
		return &Embedding{}
	}
	return e
}

// Schema returns the schema of the records.
func (e *Embedding) Schema() records.Schema { return e.known().config.Schema }

// Classes returns the number of sums: one for each class, or one of all records if there are no
// classes.
func (e *Embedding) Classes() int { return len(e.known().counts) }

// Features returns the number of features.
func (e *Embedding) Features() int {
	if e.known().features == nil { // the zero value
		return 0
	}
	return e.features.Dim()
}

// Sum returns a copy of the noisy sum of a class's features, or nil if the class does not exist.
func (e *Embedding) Sum(class int) []float64 {
	if class < 0 || class >= e.Classes() {
		return nil
	}
	return slices.Clone(e.sum(class))
}

func (e *Embedding) sum(class int) []float64 {
	d := e.Features()
	return e.sums[class*d : (class+1)*d]
}

// Counts returns the noisy numbers of records of the classes. They may be negative and are not
// integers.
func (e *Embedding) Counts() []float64 { return slices.Clone(e.known().counts) }

// SumStd returns the standard deviation of the noise on each coordinate of each sum.
func (e *Embedding) SumStd() float64 { return e.known().noise.sum }

// CountStd returns the standard deviation of the noise on each count, or 0 if no counts were
// released.
func (e *Embedding) CountStd() float64 { return e.known().noise.count }

// String describes the embedding in public numbers.
func (e *Embedding) String() string {
	return fmt.Sprintf("embedding of %v: %d features, noise ±%.4g on sums, ±%.4g on counts",
		e.Schema(), e.Features(), e.SumStd(), e.CountStd())
}

// sizes returns divisors for the sums: the adjusted counts, but at least floor standard deviations
// of their noise and at least 1.
func (e *Embedding) sizes(floor float64) []float64 {
	out := e.adjusted()
	for i, v := range out {
		out[i] = max(v, floor*e.noise.count, 1)
	}
	return out
}

// proportions returns the probabilities of the classes, which are proportional to the adjusted
// counts. Negative counts are set to zero. If no count is positive, the probabilities are uniform.
func (e *Embedding) proportions() []float64 {
	out := e.adjusted()
	for i, v := range out {
		out[i] = max(v, 0)
	}
	defaults.NormaliseCounts(out)
	return out
}

// adjusted returns the counts. If the number of records is public, they are adjusted to add up to
// it, which gives the maximum-likelihood estimate.
func (e *Embedding) adjusted() []float64 {
	out := slices.Clone(e.counts)
	if e.config.Nominal == 0 || e.noise.count == 0 {
		return out
	}
	excess := -float64(e.config.Nominal)
	for _, v := range out {
		excess += v
	}
	for i := range out {
		out[i] -= excess / float64(len(out))
	}
	return out
}
