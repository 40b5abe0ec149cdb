package device

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// team is a group of goroutines that help one caller at a time.
//
// Operations take a few hundred microseconds, and waking a parked goroutine takes a large part of
// that time. So helpers poll for a short time before they park. A caller never waits for a helper
// that has not taken a piece of the caller's job. A caller that finds the team busy does the whole
// job itself. The division of the pieces among goroutines does not affect results.
type team struct {
	helpers int
	busy    sync.Mutex
	started bool
	current atomic.Pointer[job]
	posted  atomic.Uint64 // jobs posted so far
	active  atomic.Int64  // helpers that may hold current
	closed  atomic.Bool
	failed  atomic.Pointer[any] // panic of a helper's piece in the current job
	parked  []parking
	shares  []portion // of the current job: the caller's, then one for each helper
	users   int       // backends that share the team; teams.mu guards it
}

// teams holds the teams of the backends in use, by number of goroutines.
//
// Backends with equally many cores share a team. A program often has several backends, one for a
// network and one for the noise of its gradients, say, and uses them in turn. If each had helpers,
// those of one backend would poll on the cores that the helpers of the next one need. Backends that
// Divide and Fresh return have their own teams.
var teams = struct {
	mu sync.Mutex
	of map[int]*team
}{of: map[int]*team{}}

// joinTeam returns the team of backends with the given number of cores.
func joinTeam(workers int) *team {
	teams.mu.Lock()
	defer teams.mu.Unlock()
	t := teams.of[workers]
	if t == nil {
		t = newTeam(workers)
		teams.of[workers] = t
	}
	t.users++
	return t
}

// leave closes the team if no other backend uses it.
func (t *team) leave() {
	teams.mu.Lock()
	defer teams.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(teams.of, t.helpers+1)
		t.close()
	}
}

// portion is the part of a job that one goroutine does first: pieces next to end−1. The goroutine
// with the same number has the same part of every job of one size, so the rows that it has written
// are still in the cache of its core when it reads them in the next operation.
type portion struct {
	next atomic.Int64
	end  int64
	_    [48]byte // keeps two portions in different cache lines
}

type parking struct {
	waits atomic.Bool
	wake  chan struct{}
	_     [40]byte // keeps the flags of two helpers in different cache lines
}

// patience is the time for which a helper polls for the next job before it parks.
const patience = 200 * time.Microsecond

func newTeam(workers int) *team {
	t := &team{helpers: workers - 1}
	t.parked = make([]parking, max(t.helpers, 0))
	t.shares = make([]portion, max(t.helpers, 0)+1)
	for i := range t.parked {
		t.parked[i].wake = make(chan struct{}, 1)
	}
	return t
}

// run does the n units of j in pieces of grain units, on this goroutine and on helpers that are
// free before the job ends. If a piece panics, on whatever goroutine, run panics with the same
// value, after all helpers have left the job.
func (t *team) run(j *job, n, grain int) {
	j.n, j.grain = n, grain
	if t.helpers <= 0 || n <= grain || !t.busy.TryLock() {
		if n > 0 {
			j.do(j, 0, n)
		}
		return
	}
	if !t.started {
		t.started = true
		for i := range t.parked {
			go t.help(i)
		}
	}
	t.divide((n + grain - 1) / grain)
	t.current.Store(j)
	t.posted.Add(1)
	for i := range t.parked {
		t.parked[i].rouse()
	}
	defer t.end()
	t.work(j, 0)
}

// end waits until no helper works on the current job. It is also called if one of the caller's
// pieces panics, so that no helper works on operands that the caller uses for something else.
func (t *team) end() {
	t.current.Store(nil)
	for spins := 0; t.active.Load() != 0; spins++ {
		if spins > 200 {
			runtime.Gosched()
		}
	}
	failed := t.failed.Swap(nil)
	t.busy.Unlock()
	if failed != nil {
		panic(*failed)
	}
}

// divide gives each goroutine a portion of the pieces. The sizes of portions differ by at most one
// piece.
func (t *team) divide(pieces int) {
	for i := range t.shares {
		s := &t.shares[i]
		s.next.Store(int64(i * pieces / len(t.shares)))
		s.end = int64((i + 1) * pieces / len(t.shares))
	}
}

// work does the pieces of portion first, and then those of the other portions that have not been
// taken.
func (t *team) work(j *job, first int) {
	for i := range t.shares {
		s := &t.shares[(first+i)%len(t.shares)]
		for {
			piece := s.next.Add(1) - 1
			if piece >= s.end {
				break
			}
			lo := int(piece) * j.grain
			j.do(j, lo, min(lo+j.grain, j.n))
		}
	}
}

// help runs helper i until the team is closed.
func (t *team) help(i int) {
	p, seen := &t.parked[i], uint64(0)
	for {
		seen = t.await(p, seen)
		if t.closed.Load() {
			return
		}
		t.join(i)
	}
}

// join makes helper i work on the current job, if there is one. The caller gets the panic of a
// piece. A piece that ends its goroutine (runtime.Goexit) counts as one that panics.
func (t *team) join(i int) {
	left := true
	defer func() {
		if left {
			reason := recover()
			if reason == nil {
				reason = "device: a piece of work ended its goroutine"
				go t.help(i)
			}
			t.failed.CompareAndSwap(nil, &reason)
		}
		t.active.Add(-1)
	}()
	// The helper counts itself before it reads current. The caller clears current and then reads
	// active, so it either waits for this helper or the helper does not see the job.
	t.active.Add(1)
	if j := t.current.Load(); j != nil {
		t.work(j, i+1)
	}
	left = false
}

// await waits until more than `seen` jobs have been posted, and returns the number of posted jobs.
func (t *team) await(p *parking, seen uint64) uint64 {
	deadline := time.Now().Add(patience)
	for {
		for range 64 {
			if now := t.posted.Load(); now != seen {
				return now
			}
		}
		runtime.Gosched()
		if time.Now().Before(deadline) {
			continue
		}
		p.waits.Store(true)
		if t.posted.Load() == seen || !p.waits.CompareAndSwap(true, false) {
			<-p.wake
		}
		deadline = time.Now().Add(patience)
	}
}

// rouse wakes the helper if it is parked or about to park.
func (p *parking) rouse() {
	if p.waits.CompareAndSwap(true, false) {
		p.wake <- struct{}{}
	}
}

// close makes the helpers return.
func (t *team) close() {
	t.closed.Store(true)
	t.posted.Add(1)
	for i := range t.parked {
		t.parked[i].rouse()
	}
}

// job is one operation, divided into pieces. It has fields for the operands of all operations, so
// that jobs can be reused and starting a job allocates nothing.
type job struct {
	do       func(j *job, lo, hi int)
	n, grain int

	owner   *cpu
	kernels *kernels
	a, b, c Matrix
	d, e, g Matrix
	f       Func
	op      rowOp
	flat    bool
	x       float32
	w       []float32
	sums    []float64
	sparse  *Sparse
	adam    adamRates
	product product
	window  Window
	block   int
	fixed   FixedBlock
	piece   func(piece int)
}
