package main

import (
	"os"
	"syscall"
)

// peakMemory returns the largest memory that a process occupied, in MiB.
func peakMemory(s *os.ProcessState) float64 {
	return float64(s.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}
