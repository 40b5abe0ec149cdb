package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrLocked is returned if another process, or another part of this one, holds the lock.
var ErrLocked = errors.New("in use by another run")

// lockSuffix, after a path, is the name of the file that is locked for the path.
const lockSuffix = ".lock"

// A Lock gives exclusive use of a path until it is closed or its process ends.
type Lock struct {
	file *os.File
}

// NewLock locks a path. It does not wait. It locks a file next to the path, and Close removes this
// file. A killed process may leave the file without a lock; the next NewLock then uses it.
//
// Errors: ErrLocked; errors of the file system; fs.ErrExist if the file next to the path is not
// empty and so is not a lock; errors.ErrUnsupported if the system has no locks that end with
// their process.
func NewLock(path string) (*Lock, error) {
	name := path + lockSuffix
	for range 100 { // a holder may remove the file after we open it and before we lock it
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); err != nil || info.Size() > 0 || !info.Mode().IsRegular() {
			err = errors.Join(err, f.Close())
			return nil, errors.Join(&fs.PathError{Op: "lock", Path: name, Err: fs.ErrExist}, err)
		}
		if err := lockFile(f); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		if current(f, name) {
			return &Lock{file: f}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", path, ErrLocked)
}

// current reports whether name still refers to f.
func current(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

// Close releases the lock and removes its file. A second Close does nothing.
func (l *Lock) Close() error {
	if l == nil || l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return closeAndRemove(f)
}

func removeIfThere(name string) error { return ignore(os.Remove(name), fs.ErrNotExist) }
