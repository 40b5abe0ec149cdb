package entropy

import (
	"crypto/aes"
	"encoding/binary"
)

// schedule is the fifteen round keys of AES-256.
type schedule [15 * aes.BlockSize]byte

// group is how many bytes the vector cipher makes at a time: four blocks.
const group = 4 * aes.BlockSize

// counter is AES-256 in counter mode, four blocks at a time: the bytes of cipher.NewCTR, to the
// bit, as long as the last eight bytes of the counter block do not wrap around. They hold the last
// sixteen bits of the chunk and 48 bits of block number, so they do not before 4 PiB, nor does one
// sub-stream run into the next.
type counter struct {
	keys   *schedule
	first  uint64 // the block's first eight bytes, as they lie in memory
	number uint64 // the others as a number
	left   [group]byte
	unread int // of left, its last bytes
}

func newCounter(keys *schedule, iv *[aes.BlockSize]byte) *counter {
	return &counter{keys: keys, first: binary.LittleEndian.Uint64(iv[:8]),
		number: binary.BigEndian.Uint64(iv[8:])}
}

// fill overwrites dst with the next bytes of keystream.
func (c *counter) fill(dst []byte) {
	n := copy(dst, c.left[group-c.unread:])
	c.unread -= n
	dst = dst[n:]
	whole := len(dst) / group * group
	c.make(dst[:whole])
	if dst = dst[whole:]; len(dst) > 0 {
		c.make(c.left[:])
		c.unread = group - copy(dst, c.left[:])
	}
}

// make fills dst, a multiple of a group, from fresh blocks.
func (c *counter) make(dst []byte) {
	c.keys.keystream(dst, c.first, c.number)
	c.number += uint64(len(dst) / aes.BlockSize)
}

// Ahead is keystream being made: words that a stream will return next, computed piece by piece
// during other work by a kernel that implements the cipher.
type Ahead struct {
	Words []uint64 // the destination; nil if there is nothing to make
	Made  int      // the number of words made so far, a multiple of eight
	// Schedule is the round keys of AES-256; First and Number are the counter block of word 0: its
	// first eight bytes as they lie in memory, and the others as a number. Two words are a block.
	Schedule      *byte
	First, Number uint64
}

// Ahead begins to make the stream's next words, which a call of Finish returns. There may be
// nothing to make. The stream itself has not moved: unless Finish is called, another call of Ahead
// or of FillWords makes the same words.
//
// words is a whole number of groups of eight.
func (s *Stream) Ahead(words []uint64) Ahead {
	if s.wide == nil || s.wide.unread > 0 || len(words)%8 != 0 {
		return Ahead{}
	}
	return Ahead{Words: words, Schedule: &s.wide.keys[0], First: s.wide.first, Number: s.wide.number}
}

// Finish makes the remaining words begun by Ahead and returns all of them. It must be the next call
// on the stream.
func (s *Stream) Finish(a *Ahead) {
	if a.Number != s.wide.number {
		panic("entropy: words made ahead of a stream that has moved")
	}
	s.wide.number += uint64(a.Made / 2)
	s.FillWords(a.Words[a.Made:])
}
