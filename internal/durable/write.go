package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// tempSuffix, after a path, is the name of a temporary file. WriteFile fills this file and then
// renames it to the path. The name is fixed. So a killed process leaves at most one such file, and
// the next write of the same path replaces it.
const tempSuffix = ".tmp"

// WriteFile replaces the file at path with the output of write. Until the new file is complete, a
// full disk, a crash or an error leaves the old one in place. Concurrent writers of one path must
// hold a lock.
//
// Errors: errors of the file system and of write; fs.ErrExist if path exists and is not a regular
// file.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if err := replaceable(path); err != nil {
		return err
	}
	temp := path + tempSuffix
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignore(os.Remove(temp), fs.ErrNotExist))
		}
	}()
	if err := fill(f, write); err != nil {
		return errors.Join(err, ignore(f.Close(), os.ErrClosed))
	}
	if err := rename(temp, path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// replaceable returns an error for a folder, a device, a pipe or a symbolic link.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "replace", Path: path,
			Err: fmt.Errorf("%w: it is not a regular file (%v)", fs.ErrExist, info.Mode().Type())}
	}
	return nil
}

func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

func ignore(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// RemoveTemp removes the temporary file that a killed process may have left.
func RemoveTemp(path string) error { return ignore(os.Remove(path+tempSuffix), fs.ErrNotExist) }
