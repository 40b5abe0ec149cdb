package param

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsHeading reports whether a text in a column of numbers looks like the column's name: it begins
// with a letter or an underscore, and it is neither a number nor a usual text for a missing value.
func IsHeading(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) && first != '_' || !utf8.ValidString(text) ||
		strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return false
	}
	return !slices.Contains([]string{"na", "n/a", "null", "none", "nil", "missing", "unknown"},
		strings.ToLower(text))
}
