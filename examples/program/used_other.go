//go:build !linux

package program

import "time"

var began = time.Now()

// ProcessorTime returns the time since the program began, because processor time is not measured on
// this system.
func ProcessorTime() time.Duration { return time.Since(began) }
