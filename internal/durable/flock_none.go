//go:build aix || solaris

package durable

import "errors"

// flock returns an error. These systems only have locks of whole processes, and a process loses
// such a lock when it closes any descriptor of the file.
func flock(int) error { return errors.ErrUnsupported }

func flockWait(int) error { return errors.ErrUnsupported }

func funlock(int) error { return errors.ErrUnsupported }
