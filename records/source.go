package records

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrFormat is wrapped by every error about a malformed file.
var ErrFormat = errors.New("records: malformed file")

// malformed returns an ErrFormat with a description of the mistake. The description must name a
// place, never a value.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// truncated turns a premature end of the input into an ErrFormat and wraps other failures of the
// reader.
func truncated(what string, err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("%s ends early", what)
	}
	if over := overLimit(err); over != nil {
		return over
	}
	if damaged(err) {
		return malformed("%s: damaged compression", what)
	}
	return fmt.Errorf("records: reading %s: %w", what, err)
}

// damaged reports whether a decompressor found its input damaged.
func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, gzip.ErrHeader) ||
		errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrChecksum)
}

// readBytes reads exactly n bytes. Its buffer grows as bytes arrive, so a false size in a hostile
// header costs nothing.
func readBytes(r io.Reader, n int, what string) ([]byte, error) {
	const piece = 1 << 20
	buf, got := make([]byte, min(n, piece)), 0
	for {
		if _, err := io.ReadFull(r, buf[got:]); err != nil {
			return nil, truncated(what, err)
		}
		if got = len(buf); got == n {
			return buf, nil
		}
		wider := make([]byte, min(n, 2*got))
		copy(wider, buf)
		buf = wider
	}
}

// atEnd returns an error unless r is at its end: bytes after the last record mean that the header
// was wrong.
func atEnd(r io.Reader, what string) error {
	var one [1]byte
	switch _, err := io.ReadFull(r, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return malformed("%s has bytes after its last record", what)
	default:
		return truncated(what, err)
	}
}

// withFile opens a file for one reader.
func withFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var zero T
		return zero, fmt.Errorf("records: %w", err)
	}
	defer f.Close()
	return read(f)
}

// writeRows writes a header, and then the bytes that row appends for each of n records.
func writeRows(w io.Writer, head []byte, n int, row func(dst []byte, i int) []byte) error {
	bw := bufio.NewWriter(w)
	_, err := bw.Write(head)
	var buf []byte
	for i := 0; i < n && err == nil; i++ {
		buf = row(buf[:0], i)
		_, err = bw.Write(buf)
	}
	if err == nil {
		err = bw.Flush()
	}
	if err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}
