package device

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestPiecesAreDoneOnce checks that a job does every piece exactly once, for every number of
// goroutines, units and grain, while other backends of the same size use the team.
func TestPiecesAreDoneOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				c := newCPU(workers, generic())
				for n := range 40 {
					for grain := 1; grain <= 9; grain += 4 {
						done := make([]atomic.Int32, n)
						j := c.job()
						j.do = func(_ *job, lo, hi int) {
							if lo%grain != 0 || hi-lo > grain && workers > 1 && hi-lo < n {
								t.Errorf("%d units in pieces of %d: a piece from %d to %d", n, grain, lo, hi)
							}
							for i := lo; i < hi; i++ {
								done[i].Add(1)
							}
						}
						c.team.run(j, n, grain)
						c.done(j)
						for i := range done {
							if got := done[i].Load(); got != 1 {
								t.Errorf("%d goroutines, %d units: unit %d done %d times", workers, n, i, got)
							}
						}
					}
				}
			})
		}
		wait.Wait()
	}
}

// TestTeamsAreShared checks that backends of equal size share helpers until the last one leaves,
// and that parts of a divided backend have their own.
func TestTeamsAreShared(t *testing.T) {
	const cores = 61 // no other test has a backend of this size
	a, b := joinTeam(cores), joinTeam(cores)
	if a != b {
		t.Error("two backends of equal size have different teams")
	}
	a.leave()
	if a.closed.Load() {
		t.Error("the team is closed while a backend uses it")
	}
	b.leave()
	if !b.closed.Load() || joinTeam(cores) == b {
		t.Error("the team is in use after its last backend has left")
	}
	parts := newCPU(6, generic()).Divide(2)
	if parts[0].(*cpu).team == parts[1].(*cpu).team || parts[0].Workers() != 3 {
		t.Error("parts of a divided backend share a team")
	}
}
