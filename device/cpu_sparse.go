package device

import "fmt"

// SparseGemm sets C = S W + β C: row i of C is the sum of the rows of W that row i of S lists.
func (c *cpu) SparseGemm(s *Sparse, w Matrix, beta float32, out Matrix) {
	rows := s.Rows()
	s.check("SparseGemm")
	w.check("SparseGemm")
	if w.Rows != s.Cols {
		panic(fmt.Sprintf("device: SparseGemm: %d sparse columns for %d dense rows", s.Cols, w.Rows))
	}
	out.checkShape("SparseGemm", rows, w.Cols)
	if out.Empty() {
		return
	}
	j := c.job()
	j.sparse, j.a, j.b, j.x = s, w, out, beta
	ones := s.Offsets[rows] - s.Offsets[0]
	c.rows(j, doSparseGemm, rows, (ones/rows+1)*w.Cols)
	c.done(j)
}

func doSparseGemm(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.b.Row(i)
		j.kernels.scaleOrClear(j.x, row)
		j.kernels.gather(row, j.a.Data, j.a.Stride, j.sparse.Row(i))
	}
}

// SparseGemmT sets C = Sᵀ D + β C: row i of D is added to every row of C that row i of S lists.
//
// Each core computes some of the columns, so each sum is one chain of additions over the records.
func (c *cpu) SparseGemmT(s *Sparse, d Matrix, beta float32, out Matrix) {
	rows := s.Rows()
	s.check("SparseGemmT")
	d.checkShape("SparseGemmT", rows, d.Cols)
	out.checkShape("SparseGemmT", s.Cols, d.Cols)
	if out.Empty() {
		return
	}
	j := c.job()
	j.sparse, j.a, j.b, j.x = s, d, out, beta
	j.do = doSparseGemmT
	c.team.run(j, out.Cols, share(out.Cols, rows+out.Rows, c.workers))
	c.done(j)
}

func doSparseGemmT(j *job, lo, hi int) {
	// A strip of columns of C stays in the second-level cache while all records are added to it.
	step := max(1<<17/j.b.Rows&^63, 64)
	for c0 := lo; c0 < hi; c0 += step {
		c1 := min(c0+step, hi)
		c := j.b.Slice(0, j.b.Rows, c0, c1)
		if j.x != 1 {
			for i := range c.Rows {
				j.kernels.scaleOrClear(j.x, c.Row(i))
			}
		}
		for i := range j.sparse.Rows() {
			j.kernels.scatter(c.Data, c.Stride, j.sparse.Row(i), j.a.Row(i)[c0:c1])
		}
	}
}
