package judge

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f(0) … f(n-1) on all cores. Calls must write to different memory, so the result does
// not depend on their order.
func Each(n int, f func(i int)) {
	var (
		wait sync.WaitGroup
		next atomic.Int64
	)
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// Workers does n pieces of work on all cores. It calls worker once for each core. The returned
// function has its own memory and does the pieces.
func Workers(n int, worker func() func(piece int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			do := worker()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
