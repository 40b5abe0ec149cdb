package device

import "math"

// NormalizeGroups normalizes src like Moments and Normalize, with one mean and one scale for all
// rows of each group of wide columns. It is called like the methods in host_rows.go, and matrices
// have no gaps between rows.
func (c *cpu) NormalizeGroups(wide int, eps float64, dst, src, stats, gain, shift Matrix) {
	room, j := c.sums.get(), c.job()
	means, scales := stats.Row(0), stats.Row(1)
	for k := range means { // the sums of doSlopes are then those of squares and of numbers
		means[k], scales[k] = 0, 1
	}
	j.a, j.b, j.c = src, src, stats
	squares, totals := j.groups(room, wide, stats.Row(1))
	for k := range means {
		mean := totals[k]
		means[k] = float32(mean)
		scales[k] = float32(1 / math.Sqrt(max(squares[k]-float64(mean*mean), 0)+eps))
	}
	j.a, j.d, j.e = dst, gain, shift
	doNormalize(j, 0, src.Rows)
	c.done(j)
	c.sums.put(room)
}

// NormalizeGroupsGradient sets dst, which may be delta, to the derivative with respect to src,
// where delta is the derivative with respect to the result of NormalizeGroups. It sets dGain and
// dShift like NormalizeGradient.
func (c *cpu) NormalizeGroupsGradient(wide int, dst, delta, src, stats, gain, dGain,
	dShift Matrix) {
	room, spare, j := c.sums.get(), c.buffer(3*src.Cols), c.job()
	j.a, j.b, j.c, j.e = delta, src, stats, dst
	j.d = HostMatrix(3, src.Cols, (*spare)[:3*src.Cols])
	along, total := j.groups(room, wide, gain.Row(0), dGain.Row(0), dShift.Row(0))
	for k, g := range gain.Row(0) {
		scale := float64(stats.Row(1)[k])
		j.slopes(k, scale*float64(g), scale*along[k], scale*total[k])
	}
	doNormalizeGradient(j, 0, src.Rows)
	c.done(j)
	c.panels.put(spare)
	c.sums.put(room)
}

// groups returns the two sums of doSlopes for each column, which it first copies to sums, as means
// over the column's group, weighted by gain.
func (j *job) groups(room *[]float64, wide int, gain []float32, sums ...[]float32) (first,
	second []float64) {
	cols := len(gain)
	j.sums, j.block = grown(room, 2*cols), 1
	clear(j.sums)
	doSlopes(j, 0, 1)
	for part := range 2 {
		list := j.sums[part*cols:][:cols]
		for lo := 0; lo < cols; lo += wide {
			mean := 0.0
			for k := lo; k < lo+wide; k++ {
				if len(sums) > 0 {
					sums[part][k] = float32(list[k])
				}
				mean += float64(gain[k]) * list[k] / float64(wide*j.b.Rows)
			}
			for k := lo; k < lo+wide; k++ {
				list[k] = mean
			}
		}
	}
	return j.sums[:cols], j.sums[cols:]
}
