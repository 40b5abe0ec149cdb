//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the time that this process has used on all processors. Other processes do
// not count.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
