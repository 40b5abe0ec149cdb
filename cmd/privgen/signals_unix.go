//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreSignals makes a write to a closed pipe, or to a file at its size limit, fail with an error
// instead of a signal.
func ignoreSignals() { signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ) }
