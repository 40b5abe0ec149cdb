package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// meter measures what a part of the program takes: processor time, which other programs on the
// machine do not lengthen much, and the most memory beyond what it starts with.
type meter struct {
	processor time.Duration
	memory    int64
}

func newMeter() meter {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // forget the peak
	return meter{processorTime(), resident("VmRSS:")}
}

func (m meter) String() string {
	return fmt.Sprintf("%.1f s of processor time, %d MiB",
		(processorTime() - m.processor).Seconds(), (resident("VmHWM:")-m.memory)>>20)
}

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// resident reads a line of the process's status, in bytes.
func resident(field string) (bytesOf int64) {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			fmt.Sscan(string(rest), &bytesOf)
		}
	}
	return bytesOf << 10
}
