package entropy

import (
	"crypto/cipher"
	"encoding/binary"
	"unsafe"
)

// Bits is a supply of independent uniform 64-bit words.
type Bits interface{ Uint64() uint64 }

// Buffer is how many words a stream makes at once: enough for the cipher to run
// at full speed, small enough to stay in the first-level cache.
const Buffer = 512

// Stream is one sub-stream, read word by word or buffer by buffer. It is not
// safe for concurrent use.
type Stream struct {
	ctr  cipher.Stream
	wide *counter // in place of ctr where the machine has vectors for it
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

// Fill overwrites dst with keystream that has not been used before. Words still waiting in the
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

// FillWords overwrites dst with fresh keystream. The byte order is the machine's,
// which for independent uniform words makes no difference.
func (s *Stream) FillWords(dst []uint64) {
	s.Fill(bytesOf(dst))
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
