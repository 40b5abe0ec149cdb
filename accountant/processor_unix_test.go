//go:build unix

package accountant

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that this process has used. Other processes do not add
// to it.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
