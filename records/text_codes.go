package records

import "maps"

// textCodes finds the codes of texts. A slot answers for all texts with its hash, unless several
// texts of the map have this hash.
type textCodes struct {
	codes map[string]uint16
	slots []textSlot // as many as a power of two
}

type textSlot struct {
	text   string
	code   uint16 // unknownLevel if no text has the slot's hash
	shared bool   // only the map knows
}

const mostSlots = 1 << 12

// newTextCodes returns the codes of the given texts, and missingLevel for texts of a missing value
// that are not among them.
func newTextCodes(codes map[string]uint16, missing ...map[string]bool) textCodes {
	t := textCodes{codes: map[string]uint16{}}
	maps.Copy(t.codes, codes)
	for _, texts := range missing {
		for text := range texts {
			if _, known := t.codes[text]; !known {
				t.codes[text] = missingLevel
			}
		}
	}
	n := 16
	for n < 4*len(t.codes) && n < mostSlots {
		n *= 2
	}
	t.slots = make([]textSlot, n)
	for i := range t.slots {
		t.slots[i].code = unknownLevel
	}
	for text, code := range t.codes {
		slot := t.slot([]byte(text))
		*slot = textSlot{text, code, slot.shared || slot.code != unknownLevel}
	}
	return t
}

// slot returns the slot of a text's hash: of its length, its first byte and its last two bytes.
func (t *textCodes) slot(text []byte) *textSlot {
	hash := 0
	if n := len(text); n > 0 {
		hash = 37*n ^ 11*int(text[0]) ^ 5*int(text[max(n-2, 0)]) ^ int(text[n-1])
	}
	return &t.slots[hash&(len(t.slots)-1)]
}

// find returns the code of a text, or unknownLevel.
func (t *textCodes) find(text []byte) uint16 {
	slot := t.slot(text)
	if slot.text == string(text) {
		return slot.code
	}
	if slot.shared {
		if code, known := t.codes[string(text)]; known {
			return code
		}
	}
	return unknownLevel
}
