package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder makes a folder and its missing parents. It returns when their names survive a power
// failure. An existing folder is not an error. The name of an existing folder is synced too: the
// process that made the folder may have ended before it synced the name.
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
	return ignore(SyncFolder(up), fs.ErrPermission) // another user's folder, not a new one
}
