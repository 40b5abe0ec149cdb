//go:build !linux

package program

import "time"

var began = time.Now()

// ProcessorTime returns the time since the program began: processor time is not measured here.
func ProcessorTime() time.Duration { return time.Since(began) }
