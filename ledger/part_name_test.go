package ledger

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// FuzzPartName compares partNameOf with a regular expression, of which it takes the last match with
// a number that fits in an int. Only tests import package regexp: it
// would make up a quarter of a small program.
func FuzzPartName(f *testing.F) {
	for _, s := range []string{"training, part 3 of 10: steps", "a, part 1 of 2: b, part 3 of 4: c",
		", part 1 of 2: ", "a, part 1 of 2:", "a, part  of 2: b", "a, part 1 of : b",
		"a, part 1 of 2: b\n",
		"a, part 99999999999999999999 of 2: b", "a, part 01 of 2: b", "a\n, part 1 of 2: b",
		"a, part 1 of 2: b, part x of 2: c", "a, part , part 1 of 2: b",
		"a, part 1 of 2: b, part 99999999999999999999 of 2: c", "\xff, part 1 of 2: \xff"} {
		f.Add(s)
	}
	shape := regexp.MustCompile(`(?s)^(.*, part )(\d+)( of \d+: .*)$`)
	f.Fuzz(func(t *testing.T, purpose string) {
		got, ok := partNameOf(purpose)
		for masked := purpose; ; { // numbers that do not fit in an int
			m := shape.FindStringSubmatchIndex(masked)
			if m == nil {
				if ok {
					t.Fatalf("%q: got part %+v, want none", purpose, got)
				}
				return
			}
			if n, err := strconv.Atoi(purpose[m[4]:m[5]]); err == nil {
				if want := (partName{purpose[:m[4]], n, purpose[m[5]:]}); !ok || got != want {
					t.Fatalf("%q: got %+v, %v; want %+v", purpose, got, ok, want)
				}
				return
			}
			masked = masked[:m[4]] + strings.Repeat("x", m[5]-m[4]) + masked[m[5]:]
		}
	})
}
