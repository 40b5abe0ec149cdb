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
	if j.w == nil {
		if j.a.Cols == 1 && j.a.contiguous() {
			sum := dst[0]
			for _, v := range j.a.Data[:j.a.Rows] {
				sum += v
			}
			dst[0] = sum
			return
		}
		if j.a.Cols == 8 && j.a.contiguous() && hi-lo == 8 {
			addEights(dst, j.a.Data[:8*j.a.Rows])
			return
		}
		for i := range j.a.Rows {
			addTo(j.kernels, dst, j.a.Row(i)[lo:hi])
		}
		return
	}
	for i, w := range j.w {
		j.kernels.axpy(w, j.a.Row(i)[lo:hi], dst)
	}
}

// addEights adds rows of eight numbers to dst.
func addEights(dst, rows []float32) {
	a, b, c, d, e, f, g, h := dst[0], dst[1], dst[2], dst[3], dst[4], dst[5], dst[6], dst[7]
	for ; len(rows) >= 8; rows = rows[8:] {
		a, b, c, d = a+rows[0], b+rows[1], c+rows[2], d+rows[3]
		e, f, g, h = e+rows[4], f+rows[5], g+rows[6], h+rows[7]
	}
	dst[0], dst[1], dst[2], dst[3], dst[4], dst[5], dst[6], dst[7] = a, b, c, d, e, f, g, h
}

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
