//go:build !unix

package main

import "time"

var began = time.Now()

// processorTime returns the time that has passed, since the system does not state the processor
// time of a process.
func processorTime() time.Duration { return time.Since(began) }
