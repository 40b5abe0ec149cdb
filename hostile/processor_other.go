//go:build !unix

package main

import "time"

var began = time.Now()

// processorTime returns the time that has passed, where processors do not say what they were used
// for.
func processorTime() time.Duration { return time.Since(began) }
