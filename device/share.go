package device

// Sharing is a backend whose cores may do other work on host memory between its own operations.
type Sharing interface {
	// Share runs do for every piece from 0 to pieces−1, several at a time where cores are free, and
	// returns when all are done. A core that is free takes the next piece, so that one piece may be
	// over before another begins. Nothing is allocated in the steady state.
	Share(pieces int, do func(piece int))
}

// Share runs pieces on the backend's cores.
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
