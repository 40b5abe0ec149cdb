package evaluate

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f(0) … f(n-1) on all cores. Calls must write to places of their own,
// so that nothing depends on their order.
func each(n int, f func(i int)) {
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
