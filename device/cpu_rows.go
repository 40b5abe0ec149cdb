package device

// rowOp is an element-wise operation on parts of up to three operands. All parts have the same
// length.
type rowOp func(j *job, a, b, c []float32)

// each runs op over all elements. If the operands have no gaps between rows, it works in pieces of
// any length. Otherwise it works row by row. j.b and j.c may be zero Matrix values. cost is the
// cost of one element, in additions.
func (c *cpu) each(j *job, op rowOp, cost int) {
	rows, cols := j.a.Rows, j.a.Cols
	if rows == 0 || cols == 0 {
		return
	}
	j.op = op
	j.flat = j.a.contiguous() && (j.b.Data == nil || j.b.contiguous()) &&
		(j.c.Data == nil || j.c.contiguous())
	piece := c.piece(rows * cols * cost)
	if j.flat {
		j.do = doFlat
		grain := max(piece/cost, 16) &^ 15
		c.team.run(j, rows*cols, grain)
		return
	}
	j.do = doRows
	c.team.run(j, rows, max(piece/(cost*cols), 1))
}

func doFlat(j *job, lo, hi int) {
	j.op(j, stretch(j.a.Data, lo, hi), stretch(j.b.Data, lo, hi), stretch(j.c.Data, lo, hi))
}

func doRows(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.op(j, rowOrNil(j.a, i), rowOrNil(j.b, i), rowOrNil(j.c, i))
	}
}

func stretch(s []float32, lo, hi int) []float32 {
	if s == nil {
		return nil
	}
	return s[lo:hi]
}

func rowOrNil(m Matrix, i int) []float32 {
	if m.Data == nil {
		return nil
	}
	return m.Row(i)
}

// rows runs do over n rows. Each row costs the given number of additions.
func (c *cpu) rows(j *job, do func(j *job, lo, hi int), n, cost int) {
	j.do = do
	c.team.run(j, n, max(c.piece(n*cost)/max(cost, 1), 1))
}

// piece returns the number of additions in one piece of work. Pieces are large enough to be worth
// sharing, and small enough that every core gets at least one.
func (c *cpu) piece(additions int) int {
	const least, most = 1 << 16, 1 << 17
	return min(max(additions/(2*c.workers), least), most)
}
