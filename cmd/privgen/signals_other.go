//go:build !unix

package main

// ignoreSignals does nothing, since on this system writes fail with errors and without signals.
func ignoreSignals() {}
