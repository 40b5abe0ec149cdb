package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// save writes a file that appears whole or not at all. It writes to standard output and devices
// directly.
func (a *app) save(path string, write func(io.Writer) error) error {
	if err := a.begin(); err != nil {
		return err
	}
	if path == stdio {
		return buffered(a.stdout, write)
	}
	if err := a.apart(path); err != nil {
		return err
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.Mode().IsRegular():
		if err := notPaid(path); err != nil {
			return err
		}
	case err == nil && !info.IsDir():
		return saveDevice(path, write)
	}
	return durable.WriteFile(path, write)
}

// paidFor matches the beginnings of generators, checkpoints, journals of ledgers and databases.
var paidFor = regexp.MustCompile("^(privgen|SQLite format 3\x00|[0-9a-f]{64} [0-9]+ )")

// notPaid returns an error for a file that was paid for, which no other result may replace.
func notPaid(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 96)
	n, _ := io.ReadFull(f, head)
	if paidFor.Match(head[:n]) {
		return usagef("--out: %s holds a generator, a checkpoint, a ledger or a database: want another "+
			"name, or remove it first", path)
	}
	return nil
}

// saveJSON is save for a plan or a schema. It replaces nothing but a plan or a schema: what else a
// file holds, such as records, a generator or a ledger, may be the only copy.
func (a *app) saveJSON(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		text, err := readFile(path, mostPlan)
		if err != nil {
			return err
		}
		var is map[string]any
		_, err = records.ReadSchema(bytes.NewReader(text))
		plan := param.Decode(text, &is) == nil && is["schema"] != nil &&
			(is["system"] != nil && is["budget"] != nil || is["name"] != nil && is["key"] != nil)
		if err != nil && !plan {
			return usagef("--out: %s holds something else: want another name, or remove it first", path)
		}
	}
	return a.save(path, func(w io.Writer) error {
		var b bytes.Buffer
		err := write(&b)
		_, failed := w.Write(shownJSON(b.Bytes()))
		return cmp.Or(err, failed)
	})
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

// paid reports, before anything is spent, whether a result that is paid for can be written to a
// path: to a file, since a pipe or a device can lose it. others are files that the command uses.
func (a *app) paid(path string, others ...string) error {
	if err := a.apart(path, others...); err != nil {
		return err
	}
	err := durable.Writable(path)
	if e := (*fs.PathError)(nil); errors.As(err, &e) { // which may name a temporary file
		return &fs.PathError{Op: "create", Path: path, Err: e.Err}
	}
	return err
}

// orPrinted prints a JSON text that is paid for, and that no checkpoint keeps, if an error has kept
// it from its file, such as a full disk.
func (a *app) orPrinted(err error, write func(io.Writer) error) error {
	if err == nil {
		return nil
	}
	var text bytes.Buffer
	lost := write(&text)
	if _, failed := a.stdout.Write(shownJSON(text.Bytes())); lost != nil || failed != nil {
		return errors.Join(err, lost, failed)
	}
	return fmt.Errorf("%w: the result is paid for, and printed instead", err)
}

// unpaid returns an error if a result that is paid for exists, since the command would pay for it
// again. also is what else the user can do.
func unpaid(path, also string) error {
	if exists(path) {
		return usagef("--out: %s exists, and the command would pay again for a new result: want another "+
			"name%s", path, also)
	}
	return nil
}

// apart returns an error if a path names one of the other files, or an input of the command.
func (a *app) apart(path string, others ...string) error {
	for _, other := range append(others, a.inputs...) {
		if path != "" && (sameFile(path, other) || other == stdio && a.reads(path)) {
			return usagef("--out: %s is a file that the command uses (%s): want another name", path, other)
		}
	}
	return nil
}

// reads reports whether a path names the file that standard input comes from.
func (a *app) reads(path string) bool {
	f, ok := a.stdin.(*os.File)
	if !ok {
		return false
	}
	in, errIn := f.Stat()
	there, err := os.Stat(path)
	return errIn == nil && err == nil && os.SameFile(in, there) && in.Mode().IsRegular()
}

// sameFile reports whether two paths name one regular file, or would name it if it existed.
func sameFile(a, b string) bool {
	there, errA := os.Stat(a)
	other, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(there, other) && there.Mode().IsRegular()
	}
	if there, errA = os.Stat(filepath.Dir(a)); errA != nil || filepath.Base(a) != filepath.Base(b) {
		return false
	}
	other, errB = os.Stat(filepath.Dir(b))
	return errB == nil && os.SameFile(there, other)
}

// exists reports whether there is a file at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
