//go:build aix || solaris

package durable

import "errors"

// flock returns an error: these systems have only locks of processes, which a process loses when it
// closes any descriptor of the file.
func flock(int) error { return errors.ErrUnsupported }

func flockWait(int) error { return errors.ErrUnsupported }

func funlock(int) error { return errors.ErrUnsupported }
