package npy

import "strings"

// entry returns the first value of key that the function read accepts, or "" if there is no such
// value.
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
		text = text[at-1:] // a quote may both end one key and begin the next
	}
}

func trimSpace(text string) string { return strings.TrimLeft(text, "\t\n\f\r ") }

// typeText reads a type in quotes, such as '<f4'. The byte order is optional.
func typeText(value string) (string, bool) {
	quoted, ok := strings.CutPrefix(value, "'")
	name, _, closed := strings.Cut(quoted, "'")
	kind := strings.TrimLeft(name, "<>|=")
	ok = ok && closed && len(kind) == 2 && len(name) <= 3 &&
		strings.IndexByte("fiub", kind[0]) >= 0 && strings.IndexByte("1248", kind[1]) >= 0
	return name, ok
}

// falseText reads the only supported value of fortran_order.
func falseText(value string) (string, bool) { return "False", strings.HasPrefix(value, "False") }

// shapeText reads the numbers in a tuple.
func shapeText(value string) (string, bool) {
	tuple, ok := strings.CutPrefix(value, "(")
	numbers := strings.TrimLeft(tuple, "0123456789, ")
	return tuple[:len(tuple)-len(numbers)], ok && strings.HasPrefix(numbers, ")")
}
