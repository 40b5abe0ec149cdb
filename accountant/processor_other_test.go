//go:build !unix

package accountant

import "time"

var started = time.Now()

// processorTime returns the elapsed time. On these systems the tests do not read the processor
// time.
func processorTime() time.Duration { return time.Since(started) }
