package device

// ColSums sets dst = Σ wᵢ mᵢ + β dst.
//
// The cores share the columns, not the rows. So each sum adds the rows in order.
func (c *cpu) ColSums(w []float32, m Matrix, beta float32, dst Matrix) {
	m.check("ColSums")
	dst.checkShape("ColSums", 1, m.Cols)
	if w != nil && len(w) != m.Rows {
		panic("device: ColSums: the number of weights is wrong: want one for each row")
	}
	if m.Cols == 0 {
		return
	}
	j := c.job()
	j.a, j.b, j.w, j.x = m, dst, w, beta
	j.do = doColSums
	c.team.run(j, m.Cols, share(m.Cols, m.Rows, c.workers))
	c.done(j)
}

func doColSums(j *job, lo, hi int) {
	dst := j.b.Row(0)[lo:hi]
	j.kernels.scaleOrClear(j.x, dst)
	w, step := ones[:], 0
	if j.w != nil {
		w, step = j.w, 1
	}
	if g := &j.kernels.gemm; j.a.Rows > 0 && hi-lo <= fewSums && g.long[1][1] != nil {
		g.longTiles(hi-lo, 1, j.a.Rows, w, 0, step, j.a.Data[lo:], j.a.Stride, dst, 0, 1)
		return
	}
	for i := range j.a.Rows {
		if j.w == nil {
			addTo(j.kernels, dst, j.a.Row(i)[lo:hi])
		} else {
			j.kernels.axpy(w[i], j.a.Row(i)[lo:hi], dst)
		}
	}
}

// fewSums is the largest number of columns whose sums are computed tile by tile, as the product of
// the weights and the matrix. The chain of a sum is the same in both ways.
const fewSums = 256

var ones = [1]float32{1}

// share returns the number of columns that a worker takes at a time. The columns fill whole cache
// lines and are divided about equally among the workers. If there is too little work to share, it
// returns all columns.
func share(cols, rows, workers int) int {
	if cols*rows < 1<<17 {
		return cols
	}
	return max((cols/workers+15)&^15, 64)
}

// RowSquaredNorms sets dst[i] = ‖mᵢ‖².
func (c *cpu) RowSquaredNorms(dst []float64, m Matrix) { c.rowDots("RowSquaredNorms", dst, m, m) }

// RowDots sets dst[i] = aᵢ·bᵢ.
func (c *cpu) RowDots(dst []float64, a, b Matrix) { c.rowDots("RowDots", dst, a, b) }

func (c *cpu) rowDots(what string, dst []float64, a, b Matrix) {
	a.check(what)
	b.checkShape(what, a.Rows, a.Cols)
	if len(dst) != a.Rows {
		panic("device: " + what + ": the number of results is wrong: want one for each row")
	}
	j := c.job()
	j.a, j.b, j.sums = a, b, dst
	c.rows(j, doRowDots, a.Rows, a.Cols)
	c.done(j)
}

func doRowDots(j *job, lo, hi int) {
	if two := j.kernels.squaresOfTwo; two != nil && first(j.a.Data) == first(j.b.Data) {
		for ; lo+1 < hi; lo += 2 {
			j.sums[lo], j.sums[lo+1] = two(j.a.Row(lo), j.a.Row(lo+1))
		}
	}
	for i := lo; i < hi; i++ {
		j.sums[i] = j.kernels.dot(j.a.Row(i), j.b.Row(i))
	}
}

// Softmax replaces each row with its softmax.
func (c *cpu) Softmax(m Matrix) {
	m.check("Softmax")
	if m.Empty() {
		return
	}
	j := c.job()
	j.a = m
	c.rows(j, doSoftmax, m.Rows, 8*m.Cols)
	c.done(j)
}

func doSoftmax(j *job, lo, hi int) {
	if j.kernels.softmax != nil {
		j.kernels.softmax(hi-lo, j.a.Cols, &j.a.Row(lo)[0], 4*j.a.Stride)
		return
	}
	for i := lo; i < hi; i++ {
		row := j.a.Row(i)
		top := row[0]
		for _, v := range row[1:] {
			if v > top || v != v {
				top = v
			}
		}
		for k := range row {
			row[k] -= top
		}
		j.kernels.apply[Exp](row, row)
		sum, _ := laneSums(row, row)
		j.kernels.scale(float32(1/sum), row)
	}
}
