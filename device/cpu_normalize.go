package device

import "math"

// strip is how many columns are summed up side by side: a power of two, so that an index can be
// seen to be in range.
const strip = 32

// Moments sets stats to the columns' means and reciprocal standard deviations.
func (c *cpu) Moments(stats, m Matrix, eps float32) {
	m.check("Moments")
	stats.checkShape("Moments", 2, m.Cols)
	j := c.job()
	j.a, j.b, j.x = stats, m, eps
	c.strips(j, doMoments, m)
	c.done(j)
}

// strips hands out strips of columns: every sum is one chain over the rows.
func (c *cpu) strips(j *job, do func(j *job, lo, hi int), m Matrix) {
	c.rows(j, do, (m.Cols+strip-1)/strip, 4*m.Rows*strip)
}

func doMoments(j *job, lo, hi int) {
	for s := lo; s < hi; s++ {
		c0, c1 := s*strip, min((s+1)*strip, j.b.Cols)
		mean, scale := j.a.Row(0)[c0:c1], j.a.Row(1)[c0:c1]
		n := float64(max(j.b.Rows, 1))
		var centre, spread [strip]float64
		for i := range j.b.Rows {
			for k, v := range j.b.Row(i)[c0:c1] {
				centre[k&(strip-1)] += float64(v)
			}
		}
		for k := range mean {
			centre[k] /= n
			mean[k] = float32(centre[k])
		}
		for i := range j.b.Rows {
			for k, v := range j.b.Row(i)[c0:c1] {
				d := float64(v) - centre[k&(strip-1)]
				spread[k&(strip-1)] += d * d
			}
		}
		for k := range scale {
			scale[k] = float32(1 / math.Sqrt(spread[k]/n+float64(j.x)))
		}
	}
}

// Normalize sets dst = gain·(src − mean)·scale + shift.
func (c *cpu) Normalize(dst, src, stats, gain, shift Matrix) {
	src.check("Normalize")
	dst.checkShape("Normalize", src.Rows, src.Cols)
	stats.checkShape("Normalize", 2, src.Cols)
	gain.checkShape("Normalize", 1, src.Cols)
	shift.checkShape("Normalize", 1, src.Cols)
	if src.Empty() {
		return
	}
	j := c.job()
	j.a, j.b, j.c, j.d, j.e = dst, src, stats, gain, shift
	c.rows(j, doNormalize, src.Rows, 4*src.Cols)
	c.done(j)
}

func doNormalize(j *job, lo, hi int) {
	mean, scale, gain, shift := j.c.Row(0), j.c.Row(1), j.d.Row(0), j.e.Row(0)
	for i := lo; i < hi; i++ {
		src := j.b.Row(i)
		n := len(src)
		dst, mean, scale, gain, shift := j.a.Row(i)[:n], mean[:n], scale[:n], gain[:n], shift[:n]
		for k, v := range src {
			dst[k] = gain[k]*((v-mean[k])*scale[k]) + shift[k]
		}
	}
}

// NormalizeGradient carries delta back through Moments and Normalize.
//
// With x̂ = (src − mean)·scale over n rows: ∂/∂src = gain·scale·(δ − mean(δ) − x̂·mean(δx̂)).
//
// Source: Ioffe and Szegedy, "Batch Normalization", 2015, section 3.
func (c *cpu) NormalizeGradient(delta, src, stats, gain, dGain, dShift Matrix) {
	src.check("NormalizeGradient")
	delta.checkShape("NormalizeGradient", src.Rows, src.Cols)
	stats.checkShape("NormalizeGradient", 2, src.Cols)
	for _, m := range [3]Matrix{gain, dGain, dShift} {
		m.checkShape("NormalizeGradient", 1, src.Cols)
	}
	j := c.job()
	j.a, j.b, j.c, j.d, j.e, j.g = delta, src, stats, gain, dGain, dShift
	c.strips(j, doNormalizeGradient, src)
	c.done(j)
}

func doNormalizeGradient(j *job, lo, hi int) {
	for s := lo; s < hi; s++ {
		c0, c1 := s*strip, min((s+1)*strip, j.b.Cols)
		mean, scale, gain := j.c.Row(0)[c0:c1], j.c.Row(1)[c0:c1], j.d.Row(0)[c0:c1]
		var along, total [strip]float64 // Σ δx̂ and Σ δ
		for i := range j.b.Rows {
			row := j.a.Row(i)[c0:c1]
			x, mean, scale := j.b.Row(i)[c0:c1][:len(row)], mean[:len(row)], scale[:len(row)]
			for k, v := range row {
				along[k&(strip-1)] += float64(v) * float64((x[k]-mean[k])*scale[k])
				total[k&(strip-1)] += float64(v)
			}
		}
		dGain, dShift := j.e.Row(0)[c0:c1], j.g.Row(0)[c0:c1]
		n := float64(max(j.b.Rows, 1))
		var a, t [strip]float32
		for k := range dGain {
			dGain[k], dShift[k] = float32(along[k]), float32(total[k])
			a[k], t[k] = float32(along[k]/n), float32(total[k]/n)
		}
		for i := range j.b.Rows {
			row := j.a.Row(i)[c0:c1]
			x, mean, scale, gain := j.b.Row(i)[c0:c1][:len(row)], mean[:len(row)], scale[:len(row)],
				gain[:len(row)]
			for k, v := range row {
				hat := (x[k] - mean[k]) * scale[k]
				row[k] = gain[k] * scale[k] * (v - t[k&(strip-1)] - hat*a[k&(strip-1)])
			}
		}
	}
}
