package npy

import "strings"

// entry returns the first value of a key that read accepts, or "" if there is none.
func entry(text, key string, read func(value string) (string, bool)) string {
	for {
		at := strings.Index(text, key)
		if at < 0 {
			return ""
		}
		at += len(key)
		rest := text[at:]
		if value, colon := strings.CutPrefix(trimSpace(rest), ":"); colon {
			if taken, ok := read(trimSpace(value)); ok {
				return taken
			}
		}
		text = text[at-1:] // a quote may end one key and begin another
	}
}

func trimSpace(text string) string { return strings.TrimLeft(text, "\t\n\f\r ") }

// typeText reads a type in quotes, such as '<f4', without an order or with one.
func typeText(value string) (string, bool) {
	quoted, ok := strings.CutPrefix(value, "'")
	name, _, closed := strings.Cut(quoted, "'")
	kind := strings.TrimLeft(name, "<>|=")
	ok = ok && closed && len(kind) == 2 && len(name) <= 3 &&
		strings.IndexByte("fiub", kind[0]) >= 0 && strings.IndexByte("1248", kind[1]) >= 0
	return name, ok
}

// falseText reads the only order that is supported: rows first.
func falseText(value string) (string, bool) { return "False", strings.HasPrefix(value, "False") }

// shapeText reads the numbers of a tuple.
func shapeText(value string) (string, bool) {
	tuple, ok := strings.CutPrefix(value, "(")
	numbers := strings.TrimLeft(tuple, "0123456789, ")
	return tuple[:len(tuple)-len(numbers)], ok && strings.HasPrefix(numbers, ")")
}
