package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/seed7ba64551/privgen/examples/program"
)

// meter measures a part of the program: its processor time, which other programs on the machine
// affect little, and its peak memory beyond the memory at the start.
type meter struct {
	processor time.Duration
	memory    int64
}

func newMeter() meter {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak
	return meter{program.ProcessorTime(), resident("VmRSS:")}
}

func (m meter) String() string {
	return fmt.Sprintf("%.1f s of processor time, %d MiB",
		(program.ProcessorTime() - m.processor).Seconds(), (resident("VmHWM:")-m.memory)>>20)
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
