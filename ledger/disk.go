package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/seed7ba64551/privgen/internal/durable"
)

// disk is the part of a file system that journals need. Tests replace it with a disk that fills up,
// fails, or loses data that was not synced.
type disk interface {
	// Open opens a file for reading and, if write is true, also for writing. If create is true, a
	// missing file is created.
	Open(path string, write, create bool) (diskFile, error)
	// Replace replaces the content of a file atomically. It returns when the new content is durable.
	Replace(path string, content func(io.Writer) error) error
	// MakeFolder makes a folder. It returns when the folder's name is durable.
	MakeFolder(path string) error
	// SyncFolder makes the names in a folder durable.
	SyncFolder(path string) error
}

// diskFile is an open file.
type diskFile interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Size() (int64, error)
	// Current reports whether the path still names this file.
	Current(path string) (bool, error)
	Close() error
}

// files is the system's file system.
type files struct{}

func (files) Open(path string, write, create bool) (diskFile, error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	if create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file{f}, nil
}

func (files) Replace(path string, content func(io.Writer) error) error {
	if err := durable.RemoveTemp(path); err != nil {
		return err
	}
	return durable.WriteFile(path, content)
}

func (files) MakeFolder(path string) error { return durable.MakeFolder(path) }

func (files) SyncFolder(path string) error { return durable.SyncFolder(path) }

type file struct{ *os.File }

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f file) Current(path string) (bool, error) {
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(mine, there), err
}
