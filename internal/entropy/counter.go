package entropy

import (
	"crypto/aes"
	"encoding/binary"
)

// schedule holds the fifteen round keys of AES-256.
type schedule [15 * aes.BlockSize]byte

// group is the number of bytes that the vector cipher makes at a time: four blocks.
const group = 4 * aes.BlockSize

// counter is AES-256 in counter mode, four blocks at a time. It makes exactly the bytes of
// cipher.NewCTR, provided that the last eight bytes of the counter block do not wrap around. These
// bytes hold the last sixteen bits of the chunk and 48 bits of block number. So a sub-stream of
// less than 4 PiB does not wrap around and does not run into the next sub-stream.
type counter struct {
	keys   *schedule
	first  uint64 // the first eight bytes of the counter block, as they are in memory
	number uint64 // the last eight bytes of the counter block, as a number
	left   [group]byte
	unread int // how many bytes at the end of left are not used yet
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

// make fills dst from fresh blocks. The length of dst is a multiple of group.
func (c *counter) make(dst []byte) {
	c.keys.keystream(dst, c.first, c.number)
	c.number += uint64(len(dst) / aes.BlockSize)
}

// Ahead describes keystream that is being made: the next words of a stream. A kernel that
// implements the cipher computes them piece by piece during other work.
type Ahead struct {
	Words []uint64 // the destination; nil if there is nothing to make
	Made  int      // the number of words made so far, a multiple of eight
	// Schedule holds the round keys of AES-256. First and Number are the counter block of word 0: its
	// first eight bytes as they are in memory, and the others as a number. A block makes two words.
	Schedule      *byte
	First, Number uint64
}

// Ahead begins to make the stream's next words in words, and a call of Finish completes them. There
// may be nothing to make. The stream itself does not advance: unless Finish is called, another call
// of Ahead or of FillWords makes the same words.
//
// The length of words is a multiple of eight; for any other length there is nothing to make.
func (s *Stream) Ahead(words []uint64) Ahead {
	if s.wide == nil || s.wide.unread > 0 || len(words)%8 != 0 {
		return Ahead{}
	}
	return Ahead{Words: words, Schedule: &s.wide.keys[0], First: s.wide.first, Number: s.wide.number}
}

// Finish makes the words of a.Words that are not made yet, and advances the stream past a.Words. It
// must be the next call on the stream after Ahead.
func (s *Stream) Finish(a *Ahead) {
	if a.Number != s.wide.number {
		panic("entropy: words were made ahead of a stream that has advanced since")
	}
	s.wide.number += uint64(a.Made / 2)
	s.FillWords(a.Words[a.Made:])
}
