package ledger

import (
	"strconv"
	"strings"
)

// partName is a purpose written by collect, split at the number of the part: "training, part 3
// of 10: steps" is split into "training, part ", 3 and " of 10: steps".
type partName struct {
	before string // to the number
	number int
	after  string
}

const partMark = ", part "

// partNameOf splits the purpose of a part. It returns false for any other purpose, and passes over
// a number that does not fit in an int.
func partNameOf(purpose string) (p partName, ok bool) {
	for at := strings.LastIndex(purpose, partMark); at >= 0; {
		end := at + len(partMark)
		if number, after, found := numbered(purpose[end:]); found {
			if n, err := strconv.Atoi(number); err == nil {
				return partName{purpose[:end], n, after}, true
			}
		}
		at = strings.LastIndex(purpose[:at], partMark)
	}
	return partName{}, false
}

// numbered splits "3 of 10: steps" after its first number.
func numbered(text string) (number, after string, ok bool) {
	number, after = leadingDigits(text)
	of, found := strings.CutPrefix(after, " of ")
	parts, tail := leadingDigits(of)
	return number, after, found && number != "" && parts != "" && strings.HasPrefix(tail, ": ")
}

func leadingDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}
