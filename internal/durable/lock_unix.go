//go:build unix

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks the open file description. The lock conflicts with every other opening of the
// file, in this process or in others, and ends when the last descriptor is closed.
func lockFile(f *os.File) error { return lockBy(flock, f) }

// blockFile is like lockFile, but waits if another opening of the file has the lock.
func blockFile(f *os.File) error { return lockBy(flockWait, f) }

func unlockFile(f *os.File) error { return lockBy(funlock, f) }

func lockBy(flock func(fd int) error, f *os.File) error {
	for {
		err := flock(int(f.Fd()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EAGAIN) ||
			errors.Is(err, unix.EACCES):
			return ErrLocked
		}
		return err
	}
}

// closeAndRemove removes the file before it closes the file. A process that opens the name later
// then gets another file.
func closeAndRemove(f *os.File) error {
	return errors.Join(removeIfThere(f.Name()), f.Close())
}
