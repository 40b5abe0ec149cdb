package device

import "math"

// Sums over columns are computed in parts of the rows. The parts depend on the number of rows only.
// Within a part, the sum of each column is one chain of additions in float64.
const (
	columnParts = 8
	partRows    = 256 // a part has at least this many rows, if there is more than one
)

func partsOf(rows int) int { return min(max(rows/partRows, 1), columnParts) }

// inParts runs do for every part of the rows and adds up the results. For each part, do writes two
// sums for each column. The result holds the first sums of all columns, followed by the second
// sums.
func (c *cpu) inParts(j *job, do func(j *job, lo, hi int), rows, cols int) []float64 {
	parts := partsOf(rows)
	j.sums, j.block = j.sums[:parts*2*cols], parts
	clear(j.sums)
	j.do = do
	c.team.run(j, parts, 1)
	total := j.sums[:2*cols]
	for part := 1; part < parts; part++ {
		for k, v := range j.sums[part*2*cols:][:2*cols] {
			total[k] += v
		}
	}
	return total
}

// part returns the rows lo to hi−1 of part p, and the slices for its sums.
func (j *job) part(p, rows, cols int) (lo, hi int, first, second []float64) {
	sums := j.sums[p*2*cols:][:2*cols]
	return p * rows / j.block, (p + 1) * rows / j.block, sums[:cols], sums[cols:]
}

// Moments sets stats to the columns' means and reciprocal standard deviations.
func (c *cpu) Moments(stats, m Matrix, eps float32) {
	m.check("Moments")
	stats.checkShape("Moments", 2, m.Cols)
	if m.Cols == 0 {
		return
	}
	room := c.sums.get()
	j := c.job()
	j.a, j.b, j.c, j.sums = m, m, stats, grown(room, columnParts*2*m.Cols)
	pivots, scales := stats.Row(0), stats.Row(1)
	clear(pivots)
	if m.Rows > 0 {
		copy(pivots, m.Row(0)) // near the mean, if the mean is much larger than the deviation
	}
	for k := range scales {
		scales[k] = 1
	}
	sums, n := c.inParts(j, doSlopes, m.Rows, m.Cols), float64(max(m.Rows, 1))
	for k, along := range sums[:m.Cols] { // sums of x(x−pivot), then of x
		mean := sums[m.Cols+k] / n
		variance := along/n - float64(mean*(mean-float64(pivots[k])))
		stats.Row(0)[k] = float32(mean)
		scales[k] = float32(1 / math.Sqrt(max(variance, 0)+float64(eps)))
	}
	c.done(j)
	c.sums.put(room)
}

func grown(room *[]float64, size int) []float64 {
	if len(*room) < size {
		*room = make([]float64, size)
	}
	return (*room)[:size]
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
	c.rows(j, doNormalize, src.Rows, 2*src.Cols)
	c.done(j)
}

func doNormalize(j *job, lo, hi int) {
	mean, scale, gain, shift := j.c.Row(0), j.c.Row(1), j.d.Row(0), j.e.Row(0)
	inStrips(lo, hi, len(mean), func(lo, hi int) {
		k, to, from := 0, j.a.Row(lo), j.b.Row(lo)
		for ; j.kernels.columns != nil && j.a.Stride == j.b.Stride && k+8 <= len(mean); k += 8 {
			j.kernels.columns.normalize(hi-lo, &to[k], &from[k], 4*j.b.Stride, &mean[k], &scale[k],
				&gain[k], &shift[k])
		}
		for i := lo; i < hi && k < len(mean); i++ {
			dst, src := j.a.Row(i), j.b.Row(i)
			for c := k; c < len(src); c++ {
				x := float32((src[c] - mean[c]) * scale[c])
				dst[c] = float32(gain[c]*x) + shift[c]
			}
		}
	})
}

// NormalizeGradient propagates delta back through Normalize and Moments.
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
	if src.Cols == 0 {
		return
	}
	room, spare := c.sums.get(), c.buffer(3*src.Cols)
	j := c.job()
	j.a, j.b, j.c, j.e, j.sums = delta, src, stats, delta, grown(room, columnParts*2*src.Cols)
	sums := c.inParts(j, doSlopes, src.Rows, src.Cols) // sums of δx̂, then of δ
	j.d = HostMatrix(3, src.Cols, (*spare)[:3*src.Cols])
	n := float64(max(src.Rows, 1))
	for k := range src.Cols {
		along, total := sums[k], sums[src.Cols+k]
		dGain.Row(0)[k], dShift.Row(0)[k] = float32(along), float32(total)
		factor := float64(gain.Row(0)[k]) * float64(stats.Row(1)[k])
		j.slopes(k, factor, factor*along/n, factor*total/n)
	}
	if !src.Empty() {
		c.rows(j, doNormalizeGradient, src.Rows, 2*src.Cols)
	}
	c.done(j)
	c.panels.put(spare)
	c.sums.put(room)
}

// inStrips calls do for some of the rows lo to hi−1 at a time, so that they are still in the
// first-level cache when do reads the next columns.
func inStrips(lo, hi, cols int, do func(lo, hi int)) {
	for rows := max(1<<11/max(cols, 1), 8); lo < hi; lo += rows {
		do(lo, min(lo+rows, hi))
	}
}

// slopes sets the factors of column k in doNormalizeGradient.
func (j *job) slopes(k int, factor, along, total float64) {
	j.d.Row(0)[k], j.d.Row(1)[k], j.d.Row(2)[k] = float32(factor), float32(along), float32(total)
}

func doSlopes(j *job, from, to int) {
	mean, scale := j.c.Row(0), j.c.Row(1)
	for p := from; p < to; p++ {
		lo, hi, along, total := j.part(p, j.b.Rows, j.b.Cols)
		fast := j.kernels.columns != nil && j.a.Stride == j.b.Stride
		inStrips(lo, hi, len(mean), func(lo, hi int) {
			k, src, delta := 0, j.b.Row(lo), j.a.Row(lo)
			for ; fast && k+8 <= len(mean); k += 8 {
				j.kernels.columns.slopes(hi-lo, &src[k], &delta[k], 4*j.a.Stride, &mean[k], &scale[k],
					&along[k], &total[k])
			}
			for i := lo; i < hi && k < len(mean); i++ {
				row, x := j.a.Row(i), j.b.Row(i)
				for c := k; c < len(row); c++ {
					hat := float32((x[c] - mean[c]) * scale[c])
					along[c] += float64(float64(row[c]) * float64(hat))
					total[c] += float64(row[c])
				}
			}
		})
	}
}

// doNormalizeGradient sets j.e to factor·δ − total − along·x̂.
func doNormalizeGradient(j *job, lo, hi int) {
	mean, scale := j.c.Row(0), j.c.Row(1)
	factor, along, total := j.d.Row(0), j.d.Row(1), j.d.Row(2)
	inStrips(lo, hi, len(mean), func(lo, hi int) {
		k, src, delta, to := 0, j.b.Row(lo), j.a.Row(lo), j.e.Row(lo)
		for ; j.kernels.columns != nil && j.a.Stride == j.b.Stride && k+8 <= len(mean); k += 8 {
			j.kernels.columns.gradient(hi-lo, &src[k], &delta[k], &to[k], 4*j.a.Stride, &mean[k],
				&scale[k], &factor[k], &along[k], &total[k])
		}
		for i := lo; i < hi && k < len(mean); i++ {
			row, x, dst := j.a.Row(i), j.b.Row(i), j.e.Row(i)
			for c := k; c < len(row); c++ {
				hat := float32((x[c] - mean[c]) * scale[c])
				dst[c] = float32(float32(row[c]*factor[c])-total[c]) - float32(hat*along[c])
			}
		}
	})
}

// columnKernels holds kernels that process eight columns at a time; see the function columns in
// internal/asmgen/image.go.
type columnKernels struct {
	slopes    func(n int, src, delta *float32, stride int, mean, scale *float32, along, total *float64)
	normalize func(n int, dst, src *float32, stride int, mean, scale, gain, shift *float32)
	gradient  func(n int, src, delta, dst *float32, stride int, mean, scale, factor, along,
		total *float32)
}
