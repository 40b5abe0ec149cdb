package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// wrap breaks lines longer than the width at spaces, and indents the continuation by four more
// spaces than the line. A word longer than the width is not broken.
func wrap(text string, width int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, wrapLine(line, width)...)
	}
	return strings.Join(out, "\n")
}

func wrapLine(line string, width int) (out []string) {
	indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+4)
	for utf8.RuneCountInString(line) > width {
		runes := []rune(line)
		from := len(runes) - len([]rune(strings.TrimLeft(line, " "))) // no break within the indentation
		at := -1
		for i := from + 1; i < len(runes) && (i <= width || at < 0); i++ {
			if runes[i] == ' ' {
				at = i
			}
		}
		if at < 0 {
			break
		}
		out = append(out, strings.TrimRight(string(runes[:at]), " "))
		line = indent + strings.TrimLeft(string(runes[at:]), " ")
	}
	return append(out, line)
}

// table prints rows with aligned columns. The caller pads numbers to align them to the right.
func table(w io.Writer, rows [][]string) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	_, err := fmt.Fprintln(w, wrap(strings.Join(lines, "\n"), columns))
	return err
}

// result prints the result of a subcommand, as JSON or as text wrapped to the screen.
func (a *app) result(value any, text func() string) error {
	if !a.asJSON {
		_, err := fmt.Fprintln(a.stdout, wrap(strings.TrimRight(text(), "\n"), columns))
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return err
	}
	_, err := a.stdout.Write(shownJSON(b.Bytes()))
	return err
}

// shownJSON escapes the characters of a JSON text that could move a terminal's cursor, or turn a
// line around. Package json leaves most of them as they are.
func shownJSON(text []byte) (out []byte) {
	for _, r := range string(text) {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r): // blanks between values
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// oneOf returns an error unless value is one of the allowed values of a flag.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usagef("--%s: %q: want %s", flag, value, listed(allowed, "or"))
}

// listed joins words with commas, and with a conjunction before the last word.
func listed(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
