package accountant

import (
	"math"
	"strconv"
	"strings"
)

// FormatUpper writes an upper bound, such as the ε or δ of a guarantee, with up to the given number
// of digits, 1 to 17. The last digit is rounded up: what is written, read back as a float64, is not
// below x, and it exceeds x by less than one unit of the last digit. The form is that of %g. A text
// that would exceed the largest float64 is +Inf.
func FormatUpper(x float64, digits int) string {
	if math.Signbit(x) {
		return negated(FormatLower(-x, digits))
	}
	return rounded(x, digits, true)
}

// FormatLower is like FormatUpper for a lower bound, such as a budget that is left: what is written
// is not above x.
func FormatLower(x float64, digits int) string {
	if math.Signbit(x) {
		return negated(FormatUpper(-x, digits))
	}
	return rounded(x, digits, false)
}

func negated(text string) string {
	if text == "NaN" {
		return text
	}
	return "-" + strings.TrimPrefix(text, "+")
}

// rounded writes x, which has no sign. It changes the nearest decimal number by one unit of its
// last digit if it is on the wrong side of x.
func rounded(x float64, digits int, up bool) string {
	digits = min(max(digits, 1), 17)
	nearest := strconv.FormatFloat(x, 'e', digits-1, 64)
	shown, _ := strconv.ParseFloat(nearest, 64) // +Inf above the largest float64
	switch {
	case up && math.IsInf(shown, 1):
		return "+Inf"
	case up && !(shown < x), !up && !(shown > x):
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	mantissa, exponent, _ := strings.Cut(nearest, "e")
	units, _ := strconv.ParseInt(strings.Replace(mantissa, ".", "", 1), 10, 64)
	power, _ := strconv.Atoi(exponent)
	first := int64(math.Pow10(digits - 1)) // the smallest number of this many digits
	switch {
	case up:
		units++
	case units == first: // the numbers below have one more decimal
		units, power = 10*first-1, power-1
	default:
		units--
	}
	moved, _ := strconv.ParseFloat(strconv.FormatInt(units, 10)+"e"+strconv.Itoa(power-digits+1), 64)
	return strconv.FormatFloat(moved, 'g', digits, 64)
}
