package records

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/internal/param"
)

// input is an input that is read, unpacked and checked against its limits.
type input struct {
	*bufio.Reader
	limits Limits
	read   int64 // bytes read from the input, before unpacking
	out    int64 // bytes after unpacking
	values int64 // values of records so far
}

// inputBuffer is the size of the read buffer.
const inputBuffer = 1 << 16

// openInput begins to read an input that may be compressed by gzip.
func openInput(r io.Reader, limits Limits) (*input, error) {
	if err := limits.Validate(); err != nil {
		return nil, err
	}
	in := &input{limits: limits}
	packed := bufio.NewReaderSize(counted{r, &in.read}, inputBuffer)
	in.Reader = packed
	if limits.Plain {
		return in, nil
	}
	head, err := packed.Peek(param.GzipHead)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("records: reading: %w", err)
	}
	if !param.PackedByGzip(head) {
		return in, nil
	}
	zr, err := gzip.NewReader(packed)
	if err != nil {
		return nil, truncated("the gzip header", err)
	}
	in.Reader = bufio.NewReaderSize(unpacking{zr, in}, inputBuffer)
	return in, nil
}

// counted counts the bytes that are read through it.
type counted struct {
	r io.Reader
	n *int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// unpacking reads unpacked bytes, and returns an error instead of bytes beyond the limit.
type unpacking struct {
	r  io.Reader
	in *input
}

func (u unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.in.out += int64(n); u.in.out > u.in.limits.unpacked(u.in.read) {
		return 0, &LimitError{"UnpackedBytes", "the input unpacks to more bytes than the limit allows"}
	}
	return n, err
}

// spend counts values before they are stored, and returns an error above the limit.
func (in *input) spend(values int) error {
	if in.values += int64(values); in.values > in.limits.values(in.read) {
		return &LimitError{"Values", "the input holds more values than the limit allows"}
	}
	return nil
}

// overLimit returns the LimitError that err wraps, or nil.
func overLimit(err error) error {
	var over *LimitError
	if errors.As(err, &over) {
		return over
	}
	return nil
}

// grown returns s with room for one more value. It doubles the storage up to the number of values
// that any input may hold. All allocations together are then at most four times the memory needed.
func grown[T any](s []T) []T {
	if len(s) < cap(s) || len(s) >= leastValues {
		return s
	}
	out := make([]T, len(s), max(16, 2*len(s)))
	copy(out, s)
	return out
}

// push appends one value.
func push[T any](s []T, v T) []T { return append(grown(s), v) }
