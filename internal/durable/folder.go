package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder makes a folder and its parents, and returns when their names survive a power failure.
// An existing folder is not an error; its name is synced too, since the process that made it may
// have ended before syncing it.
func MakeFolder(path string) error {
	path = filepath.Clean(path)
	up := filepath.Dir(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
	case err != nil:
		if up != path {
			if err := MakeFolder(up); err != nil {
				return err
			}
		}
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return ignore(SyncFolder(up), fs.ErrPermission) // another's folder, which is there for long
}
