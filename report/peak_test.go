package report_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// peak measures the largest memory that Go has taken from the operating system and not given back.
func peak(ctx context.Context) func() uint64 {
	var most atomic.Uint64
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if used := m.Sys - m.HeapReleased; used > most.Load() {
			most.Store(used)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			look()
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return func() uint64 {
		stop()
		<-done
		look()
		return most.Load()
	}
}
