package main

import (
	"regexp"
	"strings"
)

// fieldNames has the names that replace names of the library in errors. The user of the command
// gave a flag, an argument or a field of a file, and not a field of the library. The first pattern
// that matches a name replaces it.
var fieldNames = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b(\w+\.)+Budget\.Epsilon\b`), "--epsilon"},
	{regexp.MustCompile(`\b(\w+\.)+Budget\.Delta\b`), "--delta"},
	{regexp.MustCompile(`\b(\w+\.)+Budget\.Relation\b`), "--relation"},
	{regexp.MustCompile(`("--relation" flag: )?\baccountant\.Relation: `), `"--relation" flag: `},
	{regexp.MustCompile(`\bledger\.Terms\.Name\b`), "--ledger"},
	{regexp.MustCompile(`\bdraft\.Public\.MaxLevels\b`), "--max-levels"},
	{regexp.MustCompile(`\bor add it to Skip\b`), "or leave it out with --skip"},
	{regexp.MustCompile(`\bwant a header or CSV\.Names\b`), "want a header or --names"},
	{regexp.MustCompile(`\bnumber of fields than Names\b`), "number of fields than --names"},
	{regexp.MustCompile(`\brecords\.CSV\.ReadPersons\.person\b`), "--person"},
	{regexp.MustCompile(`\b(records\.CSV|draft\.Public|report\.Settings)\.(Comma|Comment|Names|Missing|` +
		`Label|Target|Skip|Rows|Train|Seed)\b`), "--$2"},
	{regexp.MustCompile(`\b(\w+\.Config|\w+\.Common|\w+\.Poisson|privgen\.Recommend)\.[Nn]ominal\b`),
		"--records"},
	{regexp.MustCompile(`\brecords\.Schema\.RowsPerPerson\b`), "--rows-per-person"},
	{regexp.MustCompile(`\b\w+\.(Config|Common)\.(Schema|Candidates)\b`), "the schema"},
	{regexp.MustCompile(`, made by records\.NewSchema\b`), ""},
	{regexp.MustCompile(`\brecords\.NewSchema\b`), "the schema"},
	{regexp.MustCompile(`\brecords\.Schema\.MaxItems\b`), "max_items"},
	{regexp.MustCompile(`\brecords\.Schema\.(\w+)\b`), "$1"},
	{regexp.MustCompile(`\brecords\.Column\[("[^"]*"|\d+)\]\.(\w+)\b`), "column $1: $2"},
	{regexp.MustCompile(`\brecords\.Constraint\[`), "["},
	{regexp.MustCompile(`\bsynth\.Plan\.version\b`), "version"},
	{regexp.MustCompile(`\b\w+\.\w+\.ledger: `), "--ledger: "},
}

// inUsersWords replaces the library's names in the text of an error.
func inUsersWords(text string) string {
	for _, f := range fieldNames {
		text = f.pattern.ReplaceAllStringFunc(text, func(name string) string {
			out := f.pattern.ReplaceAllString(name, f.name)
			if !strings.Contains(f.name, "$") {
				return out
			}
			last := strings.LastIndexAny(out, "- ") + 1 // flags and fields have small letters
			return out[:last] + strings.ToLower(out[last:])
		})
	}
	return text
}
