//go:build !unix

package main

import "context"

// ignoreSignals does nothing, since on this system writes fail with errors and without signals.
func ignoreSignals() {}

// untilHangUp returns the context: on this system a closed terminal terminates the process.
func untilHangUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
