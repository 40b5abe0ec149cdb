// Package entropy is the only source of the randomness that protects records. It is an AES-256-CTR
// keystream under a key from the operating system. Every run has its own key.
//
// The keystream of a run is divided into sub-streams that can never overlap. So parallel chunks of
// noise do not depend on the schedule, and no block is ever used twice. Nothing here takes a seed
// except [Seeded] and [Renumbered], which exist for tests alone. A run that uses one of them is
// marked as not private.
package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Purpose separates the uses of one key. The counter blocks of different purposes differ in their
// first byte, so no two uses ever encrypt the same block.
type Purpose uint8

// The purposes of sub-streams.
const (
	Noise   Purpose = 1 + iota // noise that is drawn in one piece
	Chunked                    // noise that is made in parallel chunks
	Sampler                    // Poisson sampling
	Include                    // whether a sample includes a row, if a test couples neighbours
	RowKey                     // keys of examples, which models get
	Slot                       // the one of several steps that may sample a row
)

// Source is the key of one run.
type Source struct {
	block  cipher.Block
	keys   *schedule // of the same key; nil if the machine has no vector cipher
	seeded bool
	number func(row int) int // set by a test; nil if rows keep their numbers
}

// New returns a source with a fresh key from the operating system.
//
// Errors: none on any system that Go supports; crypto/rand ends the program there if it cannot make
// a strong key.
func New() (*Source, error) {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("entropy: no key from the operating system: %w", err)
	}
	return fromKey(key)
}

// Keyed returns a source with a given key. The caller has drawn the key from the operating system.
// Several processes can use one key to draw shares of one secret.
func Keyed(key [32]byte) (*Source, error) { return fromKey(key) }

// Seeded returns a source that anyone with the seed can replay. It is for tests: noise drawn from
// it protects no record.
func Seeded(seed uint64) (*Source, error) {
	var text [16]byte
	copy(text[:], "test-key")
	binary.LittleEndian.PutUint64(text[8:], seed)
	s, err := fromKey(sha256.Sum256(text[:]))
	if s != nil {
		s.seeded = true
	}
	return s, err
}

// Renumbered is like Seeded, but renumbers the rows. Suppose that one of two data sets has one more
// record in the middle. Both can then draw the same words for all other rows. A nil number changes
// nothing.
func Renumbered(seed uint64, number func(row int) int) (*Source, error) {
	s, err := Seeded(seed)
	if s != nil {
		s.number = number
	}
	return s, err
}

func fromKey(key [32]byte) (*Source, error) {
	block, err := aes.NewCipher(key[:])
	keys := expandKey(&key)
	clear(key[:])
	if err != nil {
		return nil, fmt.Errorf("entropy: %w", err)
	}
	return &Source{block: block, keys: keys}, nil
}

// Seeded reports whether the source came from a seed.
func (s *Source) Seeded() bool { return s.seeded }

// maxID is the largest stream number that fits its field of the counter block.
const maxID = 1<<40 - 1

// counterBlock writes the purpose (1 byte), id (5 bytes), chunk (4 bytes) and a block counter that
// starts at zero (6 bytes). A sub-stream would run into the next one only after 4 PiB.
func counterBlock(b *[aes.BlockSize]byte, p Purpose, id uint64, chunk uint32) {
	if id > maxID {
		panic("entropy: more than 2^40 streams under one key")
	}
	binary.BigEndian.PutUint64(b[:8], uint64(p)<<56|id<<16|uint64(chunk>>16))
	binary.BigEndian.PutUint64(b[8:], uint64(chunk&0xffff)<<48)
}

// Stream opens the sub-stream of a purpose, an id and a chunk. Opening a sub-stream twice gives the
// same bits, so callers open each one only once.
func (s *Source) Stream(p Purpose, id uint64, chunk uint32) *Stream {
	var iv [aes.BlockSize]byte
	counterBlock(&iv, p, id, chunk)
	if s.keys != nil {
		return &Stream{wide: newCounter(s.keys, &iv)}
	}
	return &Stream{ctr: cipher.NewCTR(s.block, iv[:])}
}

// Indexed gives access to words by row. The same row always has the same word, whichever other rows
// are asked for. An Indexed is not safe for concurrent use.
type Indexed struct {
	block   cipher.Block
	number  func(row int) int
	in, out [aes.BlockSize]byte
}

// Indexed opens the words of a purpose and an id. There is one word for each row number below 2^48.
func (s *Source) Indexed(p Purpose, id uint64) *Indexed {
	x := new(Indexed)
	x.Reset(s, p, id)
	return x
}

// Reset opens the words of another source, purpose or id in the same memory.
func (x *Indexed) Reset(s *Source, p Purpose, id uint64) {
	x.block, x.number = s.block, s.number
	counterBlock(&x.in, p, id, 0)
}

// At returns the row's word.
func (x *Indexed) At(row int) uint64 { return x.word(row, 0) }

// Below returns a number in [0,n) for the row and for one of 4096 draws, exactly uniform. Source:
// Lemire 2019.
func (x *Indexed) Below(n uint64, row, draw int) uint64 {
	first := uint16(draw) << 4
	hi, lo := bits.Mul64(x.word(row, first), n)
	least := -n % n
	for try := first + 1; lo < least; try++ { // 16 tries in a row never happen, as n is below 2^40
		hi, lo = bits.Mul64(x.word(row, try), n)
	}
	return hi
}

func (x *Indexed) word(row int, chunk uint16) uint64 {
	if x.number != nil {
		row = x.number(row)
	}
	// The row takes the place of the block counter.
	binary.BigEndian.PutUint64(x.in[8:], uint64(chunk)<<48|uint64(row))
	x.block.Encrypt(x.out[:], x.in[:])
	return binary.LittleEndian.Uint64(x.out[:8])
}
