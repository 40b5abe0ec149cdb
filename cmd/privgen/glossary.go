package main

import (
	"fmt"
	"regexp"
	"strings"
)

// glossary explains the words that a reader who is responsible for data protection may not know.
var glossary = []struct {
	word    string
	found   *regexp.Regexp
	meaning string
}{
	{"add_or_remove_one", regexp.MustCompile(`add_or_remove_one`),
		"the promise compares all records with the same records and one more, or one fewer"},
	{"replace_one", regexp.MustCompile(`replace_one`),
		"the promise compares all records with the same records, of which one is replaced by any other"},
	{"alone ε", regexp.MustCompile(`alone ε`),
		"the price of a line if it were the only one; together the lines cost less than the sum"},
	{"noise multiplier", regexp.MustCompile(`noise multiplier`),
		"the noise, in units of the most that one record can change a released number"},
	{"effect", regexp.MustCompile(`\beffect\b`),
		"the most that one record can change a released number, in units of its noise"},
	{"nominal", regexp.MustCompile(`(?i)\bnominal`),
		"an approximate number of records, which is public"},
	{"ranks", regexp.MustCompile(`\branks\b`),
		"each number is replaced by its place in the order of all numbers of its column"},
	{"sparse histogram", regexp.MustCompile(`sparse histogram`),
		"counts of texts that are not known before; only texts of many records are released"},
	{"Poisson sample", regexp.MustCompile(`Poisson sample`),
		"each record takes part by chance, whatever the others do"},
}

// explained returns a line for each word of the glossary that a text has.
func explained(text string) string {
	var b strings.Builder
	for _, g := range glossary {
		if g.found.MatchString(text) {
			fmt.Fprintf(&b, "  %s: %s\n", g.word, g.meaning)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "words:\n" + b.String()
}
