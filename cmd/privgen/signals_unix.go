//go:build unix

package main

import (
	"context"
	"os/signal"
	"syscall"
)

// ignoreSignals makes a write to a closed pipe, or to a file at its size limit, fail with an error
// instead of a signal.
func ignoreSignals() { signal.Ignore(syscall.SIGPIPE, syscall.SIGXFSZ) }

// untilHangUp returns a context that also ends when the terminal is closed, unless nohup is used.
// A shell and the system may both say so, hence a second time has no effect.
func untilHangUp(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}
