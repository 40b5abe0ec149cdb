package entropy

import (
	"crypto/cipher"
	"encoding/binary"
	"unsafe"
)

// Bits supplies independent uniform 64-bit words.
type Bits interface{ Uint64() uint64 }

// Buffer is the number of words that a stream makes at once. It is large enough for the cipher to
// run at full speed, and small enough for the first-level cache.
const Buffer = 512

// Stream is one sub-stream, which is read word by word or buffer by buffer. It is not safe for
// concurrent use.
type Stream struct {
	ctr  cipher.Stream
	wide *counter // used instead of ctr if the machine has a vector cipher
	buf  []byte
	next int
}

// Uint64 returns the next word.
func (s *Stream) Uint64() uint64 {
	if s.next == len(s.buf) {
		s.refill()
	}
	w := binary.LittleEndian.Uint64(s.buf[s.next:])
	s.next += 8
	return w
}

func (s *Stream) refill() {
	if s.buf == nil {
		s.buf = make([]byte, 8*Buffer)
	}
	s.Fill(s.buf)
	s.next = 0
}

// Fill overwrites dst with keystream that has not been used before. Words that still wait in the
// stream's own buffer stay there.
func (s *Stream) Fill(dst []byte) {
	if s.wide != nil {
		s.wide.fill(dst)
		return
	}
	for len(dst) > 0 {
		n := min(len(dst), len(zeros))
		s.ctr.XORKeyStream(dst[:n], zeros[:n])
		dst = dst[n:]
	}
}

// zeros is encrypted to get the keystream. It is never written.
var zeros [8 * Buffer]byte

// FillWords overwrites dst with fresh keystream. The byte order depends on the machine. It makes no
// difference to independent uniform words.
func (s *Stream) FillWords(dst []uint64) {
	s.Fill(bytesOf(dst))
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
