package program

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time that the program has used so far. Other programs on the
// machine hardly affect it.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
