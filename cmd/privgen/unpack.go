package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// packedHead is the number of bytes by which a compressed file is recognised.
const packedHead = 10

// mostWindow bounds the memory that a file packed by zstd can ask for. It is what the program zstd
// itself unpacks without further options.
const mostWindow = 128 << 20

// unpack returns the content of a file that gzip or zstd may have packed. A file is recognised by
// its first bytes, whatever its name. The result is the input itself if the file is not packed, so
// a regular file can still be read at any offset.
func unpack(in io.Reader) (out io.Reader, end func(), err error) {
	head, in, err := firstBytes(in)
	if err != nil {
		return nil, nil, err
	}
	read := &countedBytes{in: in}
	switch {
	case param.PackedByGzip(head):
		z, err := gzip.NewReader(read)
		if err != nil {
			return nil, nil, damaged(err)
		}
		return &unpacked{in: z, read: read}, func() {}, nil
	case packedByZstd(head):
		z, err := zstd.NewReader(read, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, nil, damaged(err)
		}
		return &unpacked{in: z, read: read}, z.Close, nil
	}
	return in, func() {}, nil
}

// packedByZstd recognises the magic number of a frame and the bit that is reserved. No text in
// UTF-8 begins with this number.
func packedByZstd(head []byte) bool {
	return len(head) > 4 && bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) && head[4]&8 == 0
}

// firstBytes returns the first bytes of an input, and an input that still has them.
func firstBytes(in io.Reader) ([]byte, io.Reader, error) {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			head := make([]byte, packedHead)
			at, err := f.Seek(0, io.SeekCurrent)
			if err != nil {
				return nil, nil, err
			}
			n, err := f.ReadAt(head, at)
			if err == io.EOF {
				err = nil
			}
			return head[:n], f, err
		}
	}
	buffered := bufio.NewReaderSize(in, headBytes)
	head, err := buffered.Peek(packedHead)
	if err == io.EOF {
		err = nil
	}
	return head, buffered, err
}

// countedBytes counts the bytes that are read through it, and keeps an error of reading.
type countedBytes struct {
	in  io.Reader
	n   int64
	err error
}

func (c *countedBytes) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// unpacked reads unpacked bytes. It keeps the bound of package records on their number.
type unpacked struct {
	in   io.Reader
	read *countedBytes
	n    int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	if u.n += int64(n); u.n > (records.Limits{}).UnpackedFor(u.read.n) {
		return 0, fileFault("the file unpacks to more than %d bytes for each of its own: if you trust it, "+
			"unpack it first", mostUnpacked)
	}
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case u.read.err != nil:
		return n, u.read.err
	}
	return n, damaged(err)
}

// mostUnpacked is how many bytes package records unpacks for a byte of a large file.
const mostUnpacked = 20

// damaged returns the error of a file that cannot be unpacked.
func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return fileFault("the compressed file ends early: want the whole file")
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return fileFault("the compressed file needs more than %d MiB to be unpacked: unpack it first",
			mostWindow>>20)
	}
	return fileFault("the compression of the file is damaged")
}

// packed writes a file, compressed if its name ends in .gz or .zst.
func packed(path string, to io.Writer, write func(io.Writer) error) error {
	var z io.WriteCloser
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".gz":
		z = gzip.NewWriter(to)
	case ".zst":
		var err error
		if z, err = zstd.NewWriter(to, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	default:
		return write(to)
	}
	return errors.Join(write(z), z.Close())
}
