package param

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Columns is the width of the library's texts.
const Columns = 100

// Lines breaks every line of a text that is longer than Columns. It breaks lines at blanks, but not
// at a blank next to an equals sign. If a line begins with head, after leading blanks, its
// continuation is indented to the end of head. Otherwise the continuation is indented by four
// columns more than the line. A word that is longer than a line is not broken.
func Lines(text, head string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= Columns {
			b.WriteString(line)
			continue
		}
		end := ""
		if strings.HasSuffix(line, "\n") {
			line, end = line[:len(line)-1], "\n"
		}
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		hang := strings.Repeat(" ", blanks+4)
		if head != "" && strings.HasPrefix(line[blanks:], head) {
			hang = strings.Repeat(" ", blanks+utf8.RuneCountInString(head))
		}
		b.WriteString(hung(line, hang) + end)
	}
	return b.String()
}

// hung breaks one line and begins its continuations with hang. It reads every byte at most a few
// times, even in very long lines, because it also wraps texts from untrusted files.
func hung(line, hang string) string {
	var b strings.Builder
	start := ""
	for {
		at := breakAt(line, Columns-utf8.RuneCountInString(start))
		b.WriteString(start)
		rest := ""
		if at >= 0 {
			line, rest = line[:at], strings.TrimLeft(line[at:], " ")
		}
		if b.WriteString(line); rest == "" {
			return b.String()
		}
		b.WriteByte('\n')
		line, start = rest, hang
	}
}

// breakAt returns the last blank that leaves at most columns before it, or else the first blank. It
// returns -1 if the line fits or has no blank. Leading blanks are ignored.
func breakAt(line string, columns int) int {
	last, seen, words := -1, 0, false
	for i, r := range line {
		if r == ' ' && words && !equates(line, i) && (seen <= columns || last < 0) {
			last = i
		}
		if words = words || r != ' '; seen >= columns && last >= 0 {
			return last
		}
		seen++
	}
	if seen <= columns {
		return -1
	}
	return last
}

// equates reports whether the blank at i is next to an equals sign, as in "ε = 1".
func equates(line string, i int) bool {
	return strings.HasPrefix(line[i+1:], "= ") || strings.HasSuffix(line[:i], " =")
}

// Words breaks a text at blanks into lines of at most width columns.
func Words(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// OneLine quotes a text that contains unprintable characters, such as line breaks and control
// sequences. Texts may come from a file, and none must look like a line of the text that holds it.
// Every text of a file that is printed passes through it.
func OneLine(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	return strconv.Quote(text)
}
