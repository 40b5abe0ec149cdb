package mix

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// releaseCenters releases the mean record of every part: sums and counts together, one event.
func (r *run) releaseCenters() error {
	c, g := r.plan.Config, r.plan.Config.centerGeometry()
	sensitivity := g.centerSensitivity(c.Budget.Relation)
	std := c.Centers.NoiseMultiplier * sensitivity
	width := c.dim() + 1
	sum := mechanism.NewFixedSum(c.parts()*width, mechanism.GridFor(std))
	in := r.source.reader()
	rows := make([]int32, 0, readChunk)
	for part := range c.parts() {
		for lo := 0; lo < r.source.size(part); lo += readChunk {
			rows = rows[:0]
			for i := lo; i < min(lo+readChunk, r.source.size(part)); i++ {
				rows = append(rows, r.source.row(part, int32(i)))
			}
			in.each(part, rows, func(_ int32, x []float32) {
				sum.AddRowAt(part*width, x, 1)
				sum.AddRow64At(part*width+c.dim(), []float64{g.label}, 1)
			})
		}
	}
	grant, err := r.means.Next()
	if err != nil {
		return err
	}
	noisy := make([]float64, sum.Dim())
	if err := grant.Release(sensitivity/std, mechanism.Part{Sum: sum, Std: std, Out: noisy}); err != nil {
		return err
	}
	for part := range c.parts() {
		r.source.centers = append(r.source.centers, c.center(noisy[part*width:(part+1)*width], g.label, std))
	}
	return nil
}

// centerSensitivity of sums and counts of disjoint parts: under replace-one a record stays in its part, and its
// count cancels, or moves to another, and the two changes are orthogonal.
func (g geometry) centerSensitivity(r accountant.Relation) float64 {
	switch {
	case r == accountant.AddOrRemoveOne:
		return g.norm()
	case g.nonNegative:
		return math.Sqrt2 * g.norm()
	}
	return max(2*g.clip, math.Sqrt2*g.norm())
}

// center turns a noisy sum and count into a mean record: post-processing. A count within its own noise of zero
// says nothing, and its part is centred at the lower bound of the schema, moved into the clip ball.
func (c Config) center(noisy []float64, label, std float64) []float32 {
	out := make([]float32, len(noisy)-1)
	count := noisy[len(out)] / label
	if count > 4*std/label {
		for j := range out {
			out[j] = float32(noisy[j] / count)
		}
	}
	c.meanSchema().Clamp(out)
	shorten(out, c.ClipNorm)
	return out
}

// meanSchema bounds mean records: of sets and tables their coordinates lie between 0 and 1, where those
// of a record are one or the other.
func (c Config) meanSchema() records.Schema {
	if c.decoded() {
		return records.Interval(c.Schema.Dim(), 0, 1)
	}
	return c.Schema
}
