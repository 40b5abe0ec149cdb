package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestNothingIsSpentOnUnreadableRecords: if most cells of a column cannot be read, as sums of money
// in a column of numbers, fit refuses before the ledger is touched. Check shows the same cells.
func TestNothingIsSpentOnUnreadableRecords(t *testing.T) {
	s := withShortPlan(t)
	text := s.read("people.csv")
	age := regexp.MustCompile(`(?m)^(\d\d),`)
	fit := []string{"fit", "plan.json", "bad.csv", "--ledger", "people", "--new-ledger", "-o",
		"bad.gen"}
	forms := map[string]string{"money": "$$${1}.50,", "share": "$1%,", "day": "03/$1/2024,"}
	for name, form := range forms {
		s.write("bad.csv", age.ReplaceAllString(text, form))
		s.oneLine(s.run(exitInput, fit...), "bad.csv", "column age", "not a number", "[17, 90]",
			"privgen check", "--strays 1")
		s.run(exitInput, append(fit, "-q")...)
		if list := s.run(0, "ledger", "list").stdout; strings.Contains(list, "people") {
			t.Fatalf("%s: the ledger was touched: %s", name, list)
		}
	}
	s.write("bad.csv", age.ReplaceAllString(text, forms["day"]))
	checked := s.run(exitInput, "check", "schema.json", "bad.csv")
	for _, want := range []string{"age: ", "not a number in ", "/2024\"", "3 of 4 columns"} {
		if !strings.Contains(checked.stdout, want) {
			t.Errorf("check lacks %q:\n%s", want, checked.stdout)
		}
	}
	if strings.Contains(checked.stderr, "2024") {
		t.Errorf("an error holds texts of records: %s", checked.stderr)
	}
	if got := s.run(0, "check", "schema.json", "people.csv").stdout; !strings.Contains(got,
		"4 of 4 columns are in the schema") {
		t.Error(got)
	}
	s.run(0, append(fit, "--strays", "1")...)
	s.oneLine(s.run(exitUsage, "check", "schema.json", "people.csv", "--strays", "7"), "--strays",
		"from 0 to 1")
}
