package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/internal/param"
)

// A mark stores the number and the hash of the last confirmed line of a journal, in a file of its
// own. No line up to this line may be missing or damaged. Lines after it were never confirmed and
// may be damaged. The mark detects a journal that was restored from an older copy, unless the mark
// was restored with it.
//
// The file has two slots, which are written in turn. A power failure during a write can make the
// written slot unreadable. The journal then holds the line that this slot would have named.
// If it was the first write ever, the other slot is empty, and only the journal's first line can
// have been confirmed.
type mark struct {
	file diskFile
	slot int // the slot that the next write goes to
	// atLeast is the smallest number that the last line of the journal can have.
	atLeast uint64
	// opening says that the first write of the mark was torn: the journal must hold one line.
	opening bool
	Position
}

const slotSize = 512 // no more than a disk writes in one piece

// read reads both slots. It returns ErrDamaged if the file is too long, or if a slot is
// unreadable and the other slot is not valid, unless this can be a torn first write. Two empty
// slots are the mark of a new journal.
//
// atLeast is the smallest number that the last line of the journal can have.
func (m *mark) read() (atLeast uint64, err error) {
	var b [2*slotSize + 1]byte
	n, err := m.file.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if clear(b[n:]); n > 2*slotSize {
		return 0, fmt.Errorf("%w: the mark is too long", ErrDamaged)
	}
	valid, torn := 0, 0
	m.Position, m.slot = Position{}, 0
	for i := range 2 {
		text := b[i*slotSize : (i+1)*slotSize]
		p, ok := parseSlot(text)
		switch {
		case ok && (valid == 0 || p.Line > m.Line):
			m.Position, m.slot = p, 1-i
			valid++
		case ok:
			valid++
		case !empty(text):
			torn++
		}
	}
	m.opening = torn == 1 && valid == 0 && empty(b[slotSize:])
	if torn > 0 && valid == 0 && !m.opening {
		return 0, fmt.Errorf("%w: the mark cannot be read", ErrDamaged)
	}
	return m.Line + uint64(torn), nil
}

func empty(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// write sets the mark to a line. It returns when the mark is durable.
func (m *mark) write(p Position) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	b := make([]byte, slotSize)
	copy(b, fmt.Sprintf("%s %x\n", text, sum))
	if _, err := m.file.WriteAt(b, int64(m.slot*slotSize)); err != nil {
		return err
	}
	if err := m.file.Sync(); err != nil {
		return err
	}
	m.Position, m.slot = p, 1-m.slot
	return nil
}

func parseSlot(b []byte) (p Position, ok bool) {
	text, rest, ok := bytes.Cut(b, []byte{' '})
	if !ok || len(rest) < hashLength+1 || rest[hashLength] != '\n' || !empty(rest[hashLength+1:]) {
		return p, false
	}
	sum := sha256.Sum256(text)
	if hex.EncodeToString(sum[:]) != string(rest[:hashLength]) {
		return p, false
	}
	return p, param.Decode(text, &p) == nil && len(p.Hash) == hashLength && p.Line > 0
}
