//go:build !unix

package main

// ignoreSignals has nothing to ignore: writes fail with errors.
func ignoreSignals() {}
