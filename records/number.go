package records

import (
	"math"
	"strconv"
	"strings"
)

// The digits of 2^128 - 2^103 and of 2^1024 - 2^970, with the point before the first digit. These
// values are half a unit above the largest finite numbers. A text with such a value or a larger
// value is infinite.
const (
	overflow32 = "340282356779733661637539395458142568448"
	overflow64 = "1797693134862315807937289714053034150799341327100378269361737789804449682927" +
		"64750946649017977587207096330286416692887910946555547851940402630657488671505820" +
		"68190890200070838367627385484581771153176447573027006985557136695962284291481986" +
		"0834936475292719074168444365510704342711559699508093042880177904174497792"
)

// spelling is a parsed number whose value has not been computed yet.
type spelling struct {
	infinite, negative bool
	start, end         int // of the digits, from the first that is not zero; may include a point
	magnitude          int // of 0.DIGITS * 10^magnitude
}

// parseNumber returns the number that a text spells in decimal, with or without an exponent. It
// returns unreadable for all other texts. A number too large for a float64 is infinite, and "nan"
// is a missing value. Unlike strconv, parseNumber allocates no error in these cases. With such
// errors, reading a compressed file of such texts would take memory many times the file's size.
func parseNumber(text string) float64 { return numberOf([]byte(text), 64) }

func number64(text []byte) float64 { return numberOf(text, 64) }

func number32(text []byte) float32 { return float32(numberOf(text, 32)) }

func numberOf(text []byte, bits int) float64 {
	if v, ok := shortNumber(text, bits); ok {
		return v
	}
	if len(text) == len("nan") && strings.EqualFold(string(text), "nan") {
		return math.NaN() // a missing value
	}
	s, ok := spell(text)
	if !ok {
		return unreadable
	}
	limit := overflow64
	if bits == 32 {
		limit = overflow32
	}
	if s.infinite || reaches(text[s.start:s.end], s.magnitude, limit) {
		if s.negative {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	if digits := text[s.start:s.end]; vanishes(digits, s.magnitude, bits) ||
		slow(digits, s.magnitude, bits) {
		v := 0.0
		if !vanishes(digits, s.magnitude, bits) {
			v = exactNumber(digits, s.magnitude, bits)
		}
		if s.negative {
			return math.Copysign(v, -1)
		}
		return v
	}
	v, err := strconv.ParseFloat(string(text), bits)
	if err != nil && !math.IsInf(v, 0) {
		return unreadable
	}
	return v
}

// tensOf are the powers of ten that float64 represents, from which a short number is computed.
var tensOf = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15, 1e16, 1e17, 1e18}

// shortNumber returns the number that up to 18 digits spell, with or without a sign and a point. It
// divides digits by a power of ten only if the type of the result represents both, so that the
// quotient is the nearest number.
func shortNumber(text []byte, bits int) (v float64, ok bool) {
	digits, negative, whole, n, places := text, false, uint64(0), 0, -1
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		digits, negative = text[1:], text[0] == '-'
	}
	if len(digits) > len(tensOf) {
		return 0, false
	}
	for i, c := range digits {
		switch {
		case c-'0' < 10:
			whole, n = 10*whole+uint64(c-'0'), n+1
		case c == '.' && places < 0:
			places = len(digits) - 1 - i
		default:
			return 0, false
		}
	}
	switch places = max(places, 0); {
	case n == 0 || n > 18:
		return 0, false
	case bits == 64 && whole < 1<<53:
		v = float64(whole) / tensOf[places]
	case bits == 32 && whole < 1<<24 && places <= 10:
		v = float64(float32(whole) / float32(tensOf[places]))
	default:
		return 0, false
	}
	if negative {
		v = -v
	}
	return v, true
}

// spell finds the parts of the number or infinity that a text spells; ok is false for other texts.
func spell(text []byte) (s spelling, ok bool) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		s.negative, s.start = text[0] == '-', 1
	}
	if word := text[s.start:]; len(word) > 0 && word[0]|0x20 == 'i' {
		s.infinite = len(word) <= len("infinity") &&
			(strings.EqualFold(string(word), "inf") || strings.EqualFold(string(word), "infinity"))
		return s, s.infinite
	}
	if !s.mantissa(text) {
		return s, false
	}
	exponent, ok := exponentOf(text[s.end:])
	s.magnitude += exponent
	return s, ok
}

// mantissa finds the digits, with at most one point among them.
func (s *spelling) mantissa(text []byte) (ok bool) {
	zero, point := true, false
	for s.end = s.start; s.end < len(text); s.end++ {
		c := text[s.end]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		if ok = true; zero && c != '0' {
			zero, s.start = false, s.end
		}
		if !zero && !point {
			s.magnitude++
		} else if zero && point {
			s.magnitude--
		}
	}
	if zero {
		s.start = s.end
	}
	return ok
}

// exponentOf returns the exponent that a text spells, or zero for an empty text. The exponent is
// bounded, as in strconv.
func exponentOf(text []byte) (exponent int, ok bool) {
	if len(text) == 0 {
		return 0, true
	}
	if text[0]|0x20 != 'e' {
		return 0, false
	}
	text = text[1:]
	sign := 1
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		if exponent < 10_000 {
			exponent = 10*exponent + int(c-'0')
		}
	}
	return sign * exponent, len(text) > 0
}

// reaches reports whether 0.DIGITS * 10^magnitude is at least 0.LIMIT * 10^n, where n is the length
// of the limit.
func reaches(digits []byte, magnitude int, limit string) bool {
	if len(digits) == 0 || magnitude != len(limit) {
		return len(digits) > 0 && magnitude > len(limit)
	}
	i := 0
	for _, c := range digits {
		if c == '.' {
			continue
		}
		if i == len(limit) || c != limit[i] {
			return i == len(limit) || c > limit[i]
		}
		i++
	}
	return strings.Trim(limit[i:], "0") == ""
}
