package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/seed7ba64551/privgen/records"
)

// continuation begins every message since version 0.15 of Arrow.
const continuation = 0xffffffff

// magic begins a file, whose content is a stream between it and a footer.
const magic = "ARROW1\x00\x00"

// leastWindow is the size of a window that any decoder must allow (RFC 8878, section 3.1.1.1.2).
const leastWindow int64 = 8 << 20

// messages reads the messages of a stream. It allocates memory as bytes arrive, not for the number
// of bytes that a message states.
type messages struct {
	r      io.Reader
	read   int64 // bytes so far
	last   *ipc.Message
	failed error // the error of the underlying reader, which is returned

	limits   records.Limits
	exceeded bool // that of unpacked bytes
}

func (m *messages) Retain() {}

func (m *messages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// Message returns the next message, io.EOF at the end.
func (m *messages) Message() (*ipc.Message, error) {
	length, err := m.length()
	if err != nil {
		return nil, err
	}
	meta, err := m.take(int64(length))
	if err != nil {
		return nil, err
	}
	if err := verify(meta); err != nil {
		return nil, err
	}
	none := memory.NewBufferBytes(nil)
	bytes := ipc.NewMessage(memory.NewBufferBytes(meta), none).BodyLen()
	if bytes < 0 {
		return nil, errDamaged
	}
	body, err := m.take(bytes)
	if err != nil {
		return nil, err
	}
	window, err := windows(meta, body)
	if err != nil {
		return nil, err
	}
	if most := max(m.limits.UnpackedFor(m.read), leastWindow); window > uint64(most) {
		m.exceeded = true
		return nil, errDamaged
	}
	m.Release()
	m.last = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
	return m.last, nil
}

// length returns the length of the next message's description.
func (m *messages) length() (uint32, error) {
	word, err := m.take(4)
	if err != nil && m.failed == nil && len(word) == 0 {
		return 0, io.EOF // a stream may end without an end marker
	}
	if err == nil && binary.LittleEndian.Uint32(word) == continuation {
		word, err = m.take(4)
	}
	if err != nil {
		return 0, err
	}
	switch n := binary.LittleEndian.Uint32(word); {
	case n == 0:
		return 0, io.EOF
	case n > 1<<31-1:
		return 0, errDamaged
	default:
		return n, nil
	}
}

var errDamaged = errors.New("damaged")

// take reads n bytes. If there are fewer, it returns them and an error.
func (m *messages) take(n int64) ([]byte, error) {
	const piece = 1 << 20
	buf, got := make([]byte, min(n, piece)), 0
	for {
		k, err := io.ReadFull(m.r, buf[got:])
		m.read += int64(k)
		if got += k; err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				m.failed = err
			}
			return buf[:got], errDamaged
		}
		if int64(got) == n {
			return buf, nil
		}
		wider := make([]byte, min(n, 2*int64(got)))
		copy(wider, buf)
		buf = wider
	}
}

// budget is an allocator that limits the unpacked bytes. The limit is set by [records.Limits] and
// by the number of bytes read so far.
type budget struct {
	memory.Allocator
	in    *messages
	spent int64
}

// Allocate panics beyond the limit, which the reader turns into an error.
func (b *budget) Allocate(size int) []byte {
	b.spend(size)
	return b.Allocator.Allocate(size)
}

func (b *budget) Reallocate(size int, old []byte) []byte {
	b.spend(size - len(old))
	return b.Allocator.Reallocate(size, old)
}

func (b *budget) spend(size int) {
	if b.spent += int64(max(size, 0)); b.spent > b.in.limits.UnpackedFor(b.in.read) {
		b.in.exceeded = true
		panic("arrow: too much memory")
	}
}

// malformed returns a [records.ErrFormat].
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: arrow: %s", records.ErrFormat, fmt.Sprintf(format, args...))
}
