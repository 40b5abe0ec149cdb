package workers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The kinds of frames.
const (
	frameTask   = 't'
	frameResult = 'r'
	frameError  = 'e' // a worker's refusal, as text
)

// mostFrame bounds the bytes of a frame: enough for 130 million parameters.
const mostFrame = 1 << 30

var errFrame = errors.New("workers: a message of an unknown kind or length: the other side must use " +
	"this version of package workers")

// writeFrame writes kind, length and content at once.
func writeFrame(w io.Writer, kind byte, content []byte) error {
	if len(content) > mostFrame {
		return fmt.Errorf("workers: a message of %d bytes: must be at most %d", len(content), mostFrame)
	}
	head := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(content)))
	if _, err := w.Write(append(head, content...)); err != nil {
		return fmt.Errorf("workers: writing: %w", err)
	}
	return nil
}

// readFrame reads a frame. It allocates memory as bytes arrive, not for the announced length at
// once.
func readFrame(r io.Reader) (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[1:]))
	if n > mostFrame {
		return 0, nil, errFrame
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil {
		return 0, nil, fmt.Errorf("workers: reading: %w", err)
	}
	return head[0], b.Bytes(), nil
}
