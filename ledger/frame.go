package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// A frame is a line of a journal's file:
//
//	hash number kind text LF
//
// Single spaces separate the fields. The hash is in hexadecimal. The kind is "s" for a snapshot and
// "-" for any other line. A text contains no line feed.

const (
	hashLength = 2 * sha256.Size
	maxText    = 64 << 20 // bytes in the text of a line
	maxFrame   = hashLength + 24 + maxText
)

// appendFrame appends the frame of a line.
func appendFrame(b []byte, line JournalLine) ([]byte, error) {
	if len(line.Hash) != hashLength || bytes.IndexByte(line.Text, '\n') >= 0 ||
		len(line.Text) > maxText {
		return nil, fmt.Errorf("ledger: line %d: want a SHA-256 hash and one line of at most 64 MiB",
			line.Line)
	}
	b = append(b, line.Hash...)
	b = append(b, ' ')
	b = strconv.AppendUint(b, line.Line, 10)
	if line.Snapshot {
		b = append(b, " s "...)
	} else {
		b = append(b, " - "...)
	}
	b = append(b, line.Text...)
	return append(b, '\n'), nil
}

// frame holds the fields of a frame as slices of its bytes.
type frame struct {
	hash     []byte
	number   uint64
	snapshot bool
	text     []byte
}

// parseFrame reads a frame that lacks its line feed. The text of the line is a part of b.
func parseFrame(b []byte) (line JournalLine, ok bool) {
	f, ok := splitFrame(b)
	return f.line(), ok
}

func (f frame) line() JournalLine {
	return JournalLine{Text: f.text, Snapshot: f.snapshot,
		Position: Position{Line: f.number, Hash: string(f.hash)}}
}

// splitFrame is like parseFrame, but does not copy the hash.
func splitFrame(b []byte) (f frame, ok bool) {
	if len(b) < hashLength+5 || b[hashLength] != ' ' {
		return f, false
	}
	f.hash = b[:hashLength]
	rest := b[hashLength+1:]
	i := 0
	for ; i < len(rest) && rest[i] != ' '; i++ {
		digit := uint64(rest[i] - '0')
		if digit > 9 || i == 0 && digit == 0 || i > 18 { // 19 digits never overflow
			return frame{}, false
		}
		f.number = 10*f.number + digit
	}
	if i == 0 || len(rest) < i+3 || rest[i+2] != ' ' {
		return frame{}, false
	}
	switch rest[i+1] {
	case 's':
		f.snapshot = true
	case '-':
	default:
		return frame{}, false
	}
	f.text = rest[i+3:]
	return f, true
}

// chain checks the lines of a journal by their hashes. It does what JournalLine.Follows
// does, but without allocations, for files of many lines.
type chain struct {
	line    uint64
	hash    [hashLength]byte // in hexadecimal; zero before the first line
	scratch []byte
}

// chainAt returns the chain that continues after a position.
func chainAt(p Position) chain {
	c := chain{line: p.Line}
	copy(c.hash[:], p.Hash)
	return c
}

// last returns the position of the last line.
func (c *chain) last() Position {
	if c.line == 0 {
		return Position{}
	}
	return Position{Line: c.line, Hash: string(c.hash[:])}
}

// follows reports whether the line is the next one, and if it is, advances to it. A journal begins
// with line 1 or with a snapshot. A snapshot's text makes a statement about the lines before it.
// The ledger checks this statement.
func (c *chain) follows(f frame) bool {
	if first := c.line == 0 && f.snapshot && f.number > 1; !first {
		if f.number != c.line+1 || !c.fits(f) {
			return false
		}
	}
	c.line = f.number
	copy(c.hash[:], f.hash)
	return true
}

// fits reports whether the line has the hash that belongs to its text and to the line before it;
// see ChainHash.
func (c *chain) fits(f frame) bool {
	b := c.scratch[:0]
	if c.line > 0 {
		b = append(b, c.hash[:]...)
	}
	b = append(append(b, '\n'), f.text...)
	c.scratch = b
	var text [hashLength]byte
	sum := sha256.Sum256(b)
	hex.Encode(text[:], sum[:])
	return string(text[:]) == string(f.hash)
}
