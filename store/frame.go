package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"

	"github.com/seed7ba64551/privgen/accountant"
)

// A frame is a line of a journal's file:
//
//	hash number kind text LF
//
// with single spaces between, the hash in hexadecimal and kind "s" for a snapshot and "-" for any
// other line. Texts hold no line feed.

const (
	hashLength = 2 * sha256.Size
	maxText    = 64 << 20 // of a line's text, in bytes
	maxFrame   = hashLength + 24 + maxText
)

// appendFrame appends the frame of a line.
func appendFrame(b []byte, line accountant.JournalLine) ([]byte, error) {
	if len(line.Hash) != hashLength || bytes.IndexByte(line.Text, '\n') >= 0 ||
		len(line.Text) > maxText {
		return nil, fmt.Errorf("store: line %d cannot be written", line.Line)
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

// parseFrame reads a frame without its line feed. The text is part of b.
func parseFrame(b []byte) (line accountant.JournalLine, ok bool) {
	if len(b) < hashLength+5 || b[hashLength] != ' ' {
		return line, false
	}
	line.Hash = string(b[:hashLength])
	rest := b[hashLength+1:]
	i := bytes.IndexByte(rest, ' ')
	if i < 1 || i > 20 || len(rest) < i+3 || rest[i+2] != ' ' || rest[0] == '0' {
		return line, false
	}
	n, err := strconv.ParseUint(string(rest[:i]), 10, 64)
	if err != nil || rest[0] == '+' {
		return line, false
	}
	switch rest[i+1] {
	case 's':
		line.Snapshot = true
	case '-':
	default:
		return line, false
	}
	line.Line, line.Text = n, rest[i+3:]
	return line, true
}

// chain follows a journal's lines by their hashes. It is accountant.JournalLine.Follows without the
// garbage, for files of many lines.
type chain struct {
	last accountant.Position
	hash hash.Hash
	sum  [sha256.Size]byte
	text [hashLength]byte
}

// follows reports whether the line comes next, and moves on to it if it does. What comes first in a
// journal is line 1 or a snapshot, whose own text says what came before: the ledger checks it.
func (c *chain) follows(line accountant.JournalLine) bool {
	if c.last.Line == 0 && line.Snapshot && line.Line > 1 {
		c.last = line.Position
		return true
	}
	if line.Line != c.last.Line+1 {
		return false
	}
	if c.hash == nil {
		c.hash = sha256.New()
	}
	c.hash.Reset()
	_, _ = io.WriteString(c.hash, c.last.Hash) // never fails
	_, _ = c.hash.Write([]byte{'\n'})
	_, _ = c.hash.Write(line.Text)
	hex.Encode(c.text[:], c.hash.Sum(c.sum[:0]))
	if string(c.text[:]) != line.Hash {
		return false
	}
	c.last = line.Position
	return true
}
