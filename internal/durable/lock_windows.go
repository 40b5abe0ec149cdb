package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	return lockWith(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// blockFile is lockFile, and waits where another has the lock.
func blockFile(f *os.File) error { return lockWith(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

func lockWith(f *os.File, flags uint32) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// closeAndRemove closes first: an open file cannot be removed here. A run that has opened the
// file in between keeps it, and its lock.
func closeAndRemove(f *os.File) error {
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	_ = removeIfThere(name) // in use by the next run, which removes it
	return nil
}
