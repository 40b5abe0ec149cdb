//go:build unix

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock of the open file description: it conflicts with every other opening of
// the file, in this process as in others, and ends with the last descriptor.
func lockFile(f *os.File) error { return lockBy(flock, f) }

// blockFile is lockFile, and waits where another has the lock.
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

// closeAndRemove removes the name first: later opens get another file.
func closeAndRemove(f *os.File) error {
	return errors.Join(removeIfThere(f.Name()), f.Close())
}
