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

// ErrFormat is in the chain of every error about a file that is not what its
// format says.
var ErrFormat = errors.New("records: malformed file")

// malformed is an ErrFormat with what is wrong, which must name a place and
// never a value.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// truncated turns a premature end of the input into an ErrFormat and leaves
// other failures of the reader as they are.
func truncated(what string, err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("%s ends early", what)
	}
	if damaged(err) {
		return malformed("%s: damaged compression", what)
	}
	return fmt.Errorf("records: reading %s: %w", what, err)
}

// damaged reports whether a decompressor found its stream broken.
func damaged(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrChecksum)
}

// plain returns a reader of r's content, decompressed if r is a gzip stream.
func plain(r io.Reader) (*bufio.Reader, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	magic, err := br.Peek(2)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("records: reading: %w", err)
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return br, nil
	}
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, truncated("the gzip header", err)
	}
	return bufio.NewReaderSize(zr, 1<<16), nil
}

// readBytes reads exactly n bytes. It grows its buffer as bytes arrive, so that
// a size that a hostile header made up costs nothing.
func readBytes(r io.Reader, n int, what string) ([]byte, error) {
	const piece = 1 << 20
	buf := make([]byte, 0, min(n, piece))
	for len(buf) < n {
		want := min(n-len(buf), piece)
		start := len(buf)
		buf = append(buf, make([]byte, want)...)
		if _, err := io.ReadFull(r, buf[start:]); err != nil {
			return nil, truncated(what, err)
		}
	}
	return buf, nil
}

// atEnd wants nothing left in r: bytes after the last record mean that the
// header was wrong.
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
