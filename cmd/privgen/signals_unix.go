//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreSignals has a closed pipe and a file that may not grow reported as errors of the write,
// like any other.
func ignoreSignals() { signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ) }
