package param

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLines(t *testing.T) {
	word := strings.Repeat("ε", 9)
	long := strings.TrimRight(strings.Repeat(word+" ", 12), " ")
	for _, c := range []struct{ text, head, want string }{
		{"short\n", "", "short\n"},
		{"", "", ""},
		{"  " + long, "", "  " + strings.TrimRight(strings.Repeat(word+" ", 9), " ") + "\n      " +
			word + " " + word + " " + word},
		{"  - " + long + "\nnext", "- ", "  - " + strings.TrimRight(strings.Repeat(word+" ", 9), " ") +
			"\n    " + word + " " + word + " " + word + "\nnext"},
		{strings.Repeat("x", 120), "", strings.Repeat("x", 120)},
		{strings.Repeat("x", 90) + " then ε = 2, δ", "", strings.Repeat("x", 90) + " then\n    ε = 2, δ"},
		{strings.Repeat("x", 120) + " y", "", strings.Repeat("x", 120) + "\n    y"},
	} {
		got := Lines(c.text, c.head)
		if got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
		if slices.Compare(strings.Fields(got), strings.Fields(c.text)) != 0 {
			t.Errorf("%q does not have the words of the text", got)
		}
	}
	for line := range strings.Lines(Lines(strings.Repeat("a bc def ", 100), "")) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > Columns {
			t.Errorf("a line of %d columns, want at most 100: %s", n, line)
		}
	}
}

// TestALongLineCostsItsLength: a very long line is not copied for every break, since it may come
// from an untrusted file.
func TestALongLineCostsItsLength(t *testing.T) {
	long := strings.Repeat("word ", 1<<17)
	if n := testing.AllocsPerRun(3, func() { Lines(long, "") }); n > 200 {
		t.Errorf("%v allocations, want at most 200", n)
	}
	if got := Lines(strings.Repeat("x", 101)+"  ", ""); got != strings.Repeat("x", 101) {
		t.Errorf("%q", got)
	}
}

func TestWords(t *testing.T) {
	if got := Words(" a bb  ccc d", 4); !slices.Equal(got, []string{"a bb", "ccc", "d"}) {
		t.Errorf("%q", got)
	}
}
