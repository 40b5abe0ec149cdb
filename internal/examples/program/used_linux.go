package program

import (
	"syscall"
	"time"
)

// ProcessorTime returns what the program has used so far: other programs on the machine hardly
// lengthen it.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
