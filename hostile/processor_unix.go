//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns what this process has used of all processors: other programs do not
// count.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
