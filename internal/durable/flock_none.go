//go:build aix || solaris

package durable

import "errors"

// flock is refused: these systems have locks of processes only, which the process itself loses
// when it closes any descriptor of the file.
func flock(int) error { return errors.ErrUnsupported }

func flockWait(int) error { return errors.ErrUnsupported }

func funlock(int) error { return errors.ErrUnsupported }
