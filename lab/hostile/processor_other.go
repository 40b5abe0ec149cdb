//go:build !unix

package main

import "time"

var began = time.Now()

// processorTime returns the elapsed time, because the system does not report the processor time of
// a process.
func processorTime() time.Duration { return time.Since(began) }
