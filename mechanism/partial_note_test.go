package mechanism

import "testing"

// TestNotesOfPartsHaveOneLength checks the length of a note for up to 5,000 stated parts. The
// length does not depend on the number of parts that contain records. Of more parts, the length
// tells no more than a multiple of noteSize: notes of almost equally many parts have one length.
func TestNotesOfPartsHaveOneLength(t *testing.T) {
	for _, of := range []int{1, 40, 1000, 3000, 5000} {
		for _, held := range []int{0, 1, of / 32, of/32 + 1, of / 16, of / 2, of} {
			u := units{who: "user", parts: parts{of, map[int]bool{}}}
			for i := range min(held, of) { // the parts with the longest numbers
				u.parts.held[of-1-i] = true
			}
			note := must(noteOf(u))(t)
			if len(note) != noteSize {
				t.Fatalf("%d of %d parts: the note has %d bytes", held, of, len(note))
			}
		}
	}
	for held := range 600 {
		u := units{who: "user", parts: parts{20_000, map[int]bool{}}}
		for i := range held {
			u.parts.held[i] = true
		}
		if note, err := noteOf(u); err != nil || len(note)%noteSize != 0 {
			t.Fatalf("%d of 20000 parts: the note has %d bytes, error %v", held, len(note), err)
		}
	}
}
