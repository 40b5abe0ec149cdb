//go:build unix

package records_test

import (
	"syscall"
	"time"
)

// processorTime returns what this process has had of the processors, which does not depend on what
// else runs on the machine.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
