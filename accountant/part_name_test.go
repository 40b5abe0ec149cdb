package accountant

import (
	"regexp"
	"strconv"
	"testing"
)

// FuzzPartName compares partNameOf with a regular expression. Only tests import package regexp: it
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
		m := shape.FindStringSubmatch(purpose)
		if m == nil {
			if ok {
				t.Fatalf("%q: got part %+v, want none", purpose, got)
			}
			return
		}
		n, err := strconv.Atoi(m[2])
		if ok != (err == nil) || ok && got != (partName{m[1], n, m[3]}) {
			t.Fatalf("%q: got %+v, %v; want %q", purpose, got, ok, m)
		}
	})
}
