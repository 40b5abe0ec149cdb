//go:build !unix

package records_test

import "time"

var started = time.Now()

// processorTime returns the time that has passed, where the system's own meter is not at hand.
func processorTime() time.Duration { return time.Since(started) }
