package mix

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// releaseCenters releases the mean record of every part. The means are computed from noisy sums and
// counts, which are released together as one event.
func (x *mixer) releaseCenters(ctx context.Context) error {
	c, g := x.config, x.config.centerGeometry()
	std := x.centerStd()
	width := c.dim() + 1
	prepare := func() (float64, []mechanism.Part, error) {
		effect := g.centerSensitivity(c.Budget.Relation) / std
		if x.away != nil {
			sum, err := x.counting(ctx, PurposeCenters)
			return effect, []mechanism.Part{{Sum: sum, Std: std}}, err
		}
		sum := mechanism.NewFixedSum(c.parts()*width, mechanism.GridFor(std))
		x.source.sums(g, sum)
		return effect, []mechanism.Part{{Sum: sum, Std: std}}, ctx.Err()
	}
	out, err := x.run.Once(PurposeCenters, []int{c.parts() * width}, prepare)
	if err != nil {
		return err
	}
	for part := range c.parts() {
		noisy := out[0][part*width : (part+1)*width]
		x.source.centers = append(x.source.centers, c.center(noisy, g.label, std))
	}
	return nil
}

// centerStd returns the standard deviation of the noise on the sums from which mean records are
// computed.
func (w *work) centerStd() float64 {
	g := w.config.centerGeometry()
	return w.config.Centers.NoiseMultiplier * g.centerSensitivity(w.config.Budget.Relation)
}

// sums adds up and counts the records of every part. For persons, each row is added with its weight
// and the person is counted once. Every record adds the same number to the count, so replacing a
// record by another of its part leaves the count unchanged.
func (s *source) sums(g geometry, sum *mechanism.FixedSum) {
	c := s.config
	width := c.dim() + 1
	in := s.reader()
	for part, rows := range s.parts {
		in.each(part, rows, func(row int32, x []float32) {
			sum.AddRowAt(part*width, x, s.share.Of(int(row)))
		})
		for range rows {
			sum.AddRow64At(part*width+c.dim(), []float64{g.label}, 1)
		}
	}
}

// centerSensitivity returns the sensitivity of the sums and counts of disjoint parts. Under
// replace-one there are two cases. If the new record is in the same part as the old one, the count
// does not change. If it is in another part, the two changes are orthogonal.
func (g geometry) centerSensitivity(r accountant.Relation) float64 {
	switch {
	case r == accountant.AddOrRemoveOne:
		return g.norm()
	case g.nonNegative:
		return math.Sqrt2 * g.norm()
	}
	return max(2*g.clip, math.Sqrt2*g.norm())
}

// center computes a mean record from a noisy sum and a noisy count, which is post-processing. If
// the count is at most four standard deviations of its noise, the mean is set to zero. The result
// is clamped to the bounds of the schema and clipped to the clip norm. The means of binary records,
// sets and tables are within these bounds too.
func (c Config) center(noisy []float64, label, std float64) []float32 {
	out := make([]float32, len(noisy)-1)
	count := noisy[len(out)] / label
	if count > 4*std/label {
		for j := range out {
			out[j] = float32(noisy[j] / count)
		}
	}
	lo, hi := c.Schema.Bounds()
	records.Interval(len(out), lo, hi).Clamp(out)
	shorten(out, c.ClipNorm)
	return out
}
