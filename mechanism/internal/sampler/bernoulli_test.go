package sampler

import "testing"

func TestBernoulliWords(t *testing.T) {
	if w := FirstWord(0.5); w != 1<<63 {
		t.Errorf("the first word of 0.5 is %x, want 8000000000000000", w)
	}
	third := 1.0 / 3
	if FirstWord(third) != binaryWord(third, 0) {
		t.Error("FirstWord and binaryWord differ for 1/3")
	}
	tiny := 0x1p-70
	if binaryWord(tiny, 0) != 0 || binaryWord(tiny, 1) != 1<<58 {
		t.Error("the words of 2^-70 are wrong")
	}
	// On a tie the next words decide.
	if !bernoulliWord(0, tiny, 0, constant(1<<57)) || bernoulliWord(0, tiny, 0, constant(1<<58)) {
		t.Error("the second word does not decide a tie")
	}
}

type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }
