//go:build unix && !aix && !solaris

package durable

import "golang.org/x/sys/unix"

func flock(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }

// flockWait waits for the lock.
func flockWait(fd int) error { return unix.Flock(fd, unix.LOCK_EX) }

func funlock(fd int) error { return unix.Flock(fd, unix.LOCK_UN) }
