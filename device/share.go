package device

// Sharing is a backend whose cores may do other work on host memory between the operations of the
// backend.
type Sharing interface {
	// Share runs do for every piece from 0 to pieces−1, several at a time if cores are free, and
	// returns when all pieces are done. A free core takes the next piece, so one piece may end before
	// another begins. Share allocates nothing in the steady state.
	Share(pieces int, do func(piece int))
}

// Share implements [Sharing].
func (c *cpu) Share(pieces int, do func(piece int)) {
	j := c.job()
	j.piece, j.do = do, doPieces
	c.team.run(j, pieces, 1)
	c.done(j)
}

func doPieces(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.piece(i)
	}
}
