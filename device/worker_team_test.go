package device

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
	next := joinTeam(cores)
	if !b.closed.Load() || next == b {
		t.Error("the team is in use after its last backend has left")
	}
	next.leave()
	parts := newCPU(6, generic()).Divide(2)
	if parts[0].(*cpu).team == parts[1].(*cpu).team || parts[0].Workers() != 3 {
		t.Error("parts of a divided backend share a team")
	}
}

// TestFreshBackendsReachNoJob checks that a fresh backend, which belongs to released networks, does
// not lead to the operands of a job of another backend.
func TestFreshBackendsReachNoJob(t *testing.T) {
	be := newCPU(13, generic()) // a number of cores that no other test shares a team for
	fresh := Fresh(be).(*cpu)
	var looked sync.WaitGroup
	looked.Add(2)
	be.Share(2, func(int) {
		if be.team.current.Load() == nil {
			t.Error("the team has no current job")
		}
		if fresh.team.current.Load() != nil {
			t.Error("a fresh backend reaches the current job of another backend")
		}
		// The job ends after the caller's piece. So both pieces wait here until both have looked.
		looked.Done()
		looked.Wait()
	})
}

// TestPiecesThatPanic checks that the caller gets the panic of a piece on any goroutine, that no
// helper works on the job afterwards, and that the team remains usable.
func TestPiecesThatPanic(t *testing.T) {
	const cores = 3
	c := newApart(cores, generic()) // no other test makes its team busy
	share := func(do func(piece int)) (reason any) {
		defer func() { reason = recover() }()
		c.Share(cores, do)
		return nil
	}
	for round := range 50 {
		for panics := range cores {
			var begun sync.WaitGroup
			begun.Add(cores)
			var working atomic.Int64
			reason := share(func(piece int) {
				working.Add(1)
				defer working.Add(-1)
				begun.Done()
				begun.Wait() // every goroutine has one piece
				if piece == panics {
					if round%10 == 0 && piece > 0 {
						runtime.Goexit()
					}
					panic(piece)
				}
				time.Sleep(100 * time.Microsecond)
			})
			if n := working.Load(); n != 0 || reason != panics && round%10 != 0 || reason == nil {
				t.Fatalf("piece %d panics: got %v, with %d pieces at work", panics, reason, n)
			}
		}
	}
}
