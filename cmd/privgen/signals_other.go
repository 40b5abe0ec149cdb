//go:build !unix

package main

// ignoreSignals does nothing: on this system writes fail with errors.
func ignoreSignals() {}
