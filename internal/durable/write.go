package durable

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tempName begins the names of the temporary files of a path. It has the same length for every
// path, so that a name as long as the file system allows can be written.
func tempName(path string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, filepath.Base(path)) // never fails
	return fmt.Sprintf(".privgen-%016x-", h.Sum64())
}

// createTemp creates a new file with a random name that begins with tempName. No other file has
// this name, so nothing of the user's is replaced.
func createTemp(path string) (*os.File, error) {
	if err := replaceable(path); err != nil {
		return nil, err
	}
	return os.CreateTemp(filepath.Dir(path), tempName(path)+"*")
}

// Writable reports whether WriteFile can create a file at path.
//
// Errors: those of WriteFile.
func Writable(path string) error {
	f, err := createTemp(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteFile replaces the file at path with the output of write. Until the new file is complete, a
// full disk, a crash or an error leaves the old one in place. Concurrent writers of one path must
// hold a lock if one of them calls RemoveTemp.
//
// Errors: errors of the file system and of write; fs.ErrExist if path exists and is not a regular
// file.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	f, err := createTemp(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(f.Name()))
		}
	}()
	if err := fill(f, write); err != nil {
		return errors.Join(err, ignore(f.Close(), os.ErrClosed))
	}
	if err := rename(f.Name(), path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// replaceable returns an error for a folder, a device, a pipe, a symbolic link or no name.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path != "":
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

// RemoveTemp removes the temporary files that killed processes may have left. The caller holds a
// lock that every writer of the path holds.
func RemoveTemp(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempName(path)) {
			err = errors.Join(err, removeIfThere(filepath.Join(dir, e.Name())))
		}
	}
	return ignore(err, fs.ErrPermission) // the folder may not be listed
}
