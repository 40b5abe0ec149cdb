package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/internal/durable"
)

// save writes a file that appears whole or not at all. It writes to standard output and devices
// directly.
func (a *app) save(path string, write func(io.Writer) error) error {
	if path == stdio {
		return buffered(a.stdout, write)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return saveDevice(path, write)
	}
	return durable.WriteFile(path, write)
}

func saveDevice(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return buffered(f, write)
}

func buffered(to io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(to, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// writable reports, before anything is spent, whether a file can be created at a path.
func writable(path string) error {
	probe, err := os.CreateTemp(filepath.Dir(path), ".privgen-*")
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return &fs.PathError{Op: "create", Path: path, Err: e.Err}
	}
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// exists reports whether there is a file at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
