package records

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// hostile returns a random text of some of the given pieces.
func hostile(rng *rand.Rand, most int, pieces ...string) string {
	var b strings.Builder
	for range rng.IntN(most + 1) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

// TestLinesAreCutAsBefore compares split, for random lines, with a loop over single fields and, if
// there are no quotes, with encoding/csv.
func TestLinesAreCutAsBefore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	plain := 0
	for range 100_000 {
		comma := []rune{',', ';', '\t', '\x01', '\x80', '\xac', 'é', ' '}[rng.IntN(8)]
		s := newFieldSplitter(comma, 0)
		line := hostile(rng, 40, string(comma), "a", "1", ".", " ", "\x00", "-", "+", ",", "\xac", "\x7f",
			"\xff", "\x81", "é", "long text", []string{"\"", "b"}[rng.IntN(2)])
		most := []int{-1, 1, 2, 3, 8, 60}[rng.IntN(6)]
		got, fault := s.split(nil, []byte(line), most)
		want, wantFault := cutSlowly(&s, []byte(line), most)
		if fault != wantFault || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%q at %q, at most %d: %q, fault %d, want %q, fault %d", line, comma, most, got, fault,
				want, wantFault)
		}
		if most >= 0 || strings.Contains(line, `"`) || unicode.IsSpace(comma) || line == "" {
			continue
		}
		plain++
		r := csv.NewReader(strings.NewReader(line))
		r.Comma = comma
		fields, err := r.Read()
		if err != nil || !slices.EqualFunc(got, fields, func(a []byte, b string) bool {
			return string(a) == b
		}) {
			t.Fatalf("%q at %q: %q, encoding/csv has %q and error %v", line, comma, got, fields, err)
		}
	}
	if plain < 1000 {
		t.Errorf("only %d lines were compared with encoding/csv", plain)
	}
}

// cutSlowly is split with one field at a time.
func cutSlowly(s *fieldSplitter, line []byte, most int) (fields [][]byte, fault lineFault) {
	for more := true; more; {
		if len(fields) == most {
			return fields, tooMany
		}
		var field []byte
		closed := true
		if field, line, more, closed = s.field(line); !closed {
			fault = badQuotes
		}
		fields = append(fields, field)
	}
	return fields, fault
}

// TestCodesOfTextsAreThoseOfTheMap looks up texts that are known and texts that share their hash.
func TestCodesOfTextsAreThoseOfTheMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	shared := 0
	for _, n := range []int{0, 1, 2, 5, 40, 3000} {
		codes, want := map[string]uint16{}, map[string]uint16{}
		for i := range n {
			text := hostile(rng, 6, "a", "b", "é", "1", "2", "\x00", "\xff")
			codes[text], want[text] = uint16(i), uint16(i)
		}
		missing := map[string]bool{"": true, "?": true, "a": true, "b1": true}
		for text := range missing {
			if _, known := codes[text]; !known {
				want[text] = missingLevel
			}
		}
		c := newTextCodes(codes, missing, map[string]bool{"?": true})
		for range 20_000 {
			text := hostile(rng, 6, "a", "b", "é", "1", "2", "\x00", "\xff", "?")
			code, known := want[text]
			if !known {
				code = unknownLevel
			}
			if got := c.find([]byte(text)); got != code {
				t.Fatalf("%d texts: %q has code %d, want %d", n, text, got, code)
			}
			if c.slot([]byte(text)).shared {
				shared++
			}
		}
		if _, known := codes["?"]; n == 0 && known {
			t.Error("the caller's map has changed")
		}
	}
	if shared == 0 {
		t.Error("no text shared its slot")
	}
}

// TestShortNumbersAreThoseOfStrconv reads random texts of digits with and without a point, many of
// them halfway between two float32 numbers or next to the limits of exact integers.
func TestShortNumbersAreThoseOfStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	short := [2]int{}
	for range 400_000 {
		digits := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
		switch rng.IntN(4) {
		case 0:
			digits = strconv.FormatUint(1<<53-2+rng.Uint64N(5), 10)
		case 1:
			digits = strconv.FormatUint(1<<24-2+rng.Uint64N(5), 10)
		}
		if at := rng.IntN(len(digits) + 1); rng.IntN(4) > 0 {
			digits = digits[:at] + "." + strings.Repeat("0", rng.IntN(2)*rng.IntN(14)) + digits[at:]
		}
		text := []string{"", "-", "+", "--"}[rng.IntN(20)%4*rng.IntN(2)] + digits
		same(t, text, 64, number64([]byte(text)))
		same(t, text, 32, float64(number32([]byte(text))))
		for i, bits := range []int{64, 32} {
			if _, ok := shortNumber([]byte(text), bits); ok {
				short[i]++
			}
		}
	}
	if min(short[0], short[1]) < 10_000 {
		t.Errorf("only %v numbers were short", short)
	}
}
