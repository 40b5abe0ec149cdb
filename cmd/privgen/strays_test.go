package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestReportsNoteStrays: a report states how many real cells are outside the schema, and refuses
// a file in which all cells of a column are.
func TestReportsNoteStrays(t *testing.T) {
	s := fitted(t)
	s.people("others.csv", 400, 2)
	text := s.read("others.csv")
	report := []string{"report", "people.gen", "people.csv", "--holdout", "others.csv", "-o",
		"r.html", "--rows", "200", "--train", "100"}
	const words = "outside the schema"
	e := s.run(0, report...)
	if strings.Contains(e.stderr+s.read("r.html"), words) {
		t.Errorf("a note about records that are all in the schema: %s", e.stderr)
	}
	highs := strings.Count(text, ",high\n")
	s.write("others.csv", strings.ReplaceAll(text, ",high\n", ",high.\n"))
	want := "column income in " + fmt.Sprint(highs) + " of 400 records"
	if got := plain(s.run(0, report...).stderr); !strings.Contains(got, want) ||
		!strings.Contains(got, "others.csv: some values are "+words) ||
		!strings.Contains(got, "do not publish") {
		t.Errorf("got the note %q, want %q", got, want)
	}
	if !strings.Contains(s.read("r.html"), want) {
		t.Errorf("the page lacks %q", want)
	}
	dots := strings.NewReplacer(",high\n", ",high.\n", ",low\n", ",low.\n").Replace(text)
	s.write("others.csv", dots)
	s.oneLine(s.run(exitInput, report...), "others.csv", "column income", `"low" "high"`)
	s.write("others.csv", text)
	s.write("people.csv", strings.Replace(text, "age,work,hours", "hours,work,age", 1))
	s.run(0, report...) // most ages are also hours
	s.write("people.csv", strings.Replace(text, "age,work", "work,age", 1))
	s.oneLine(s.run(exitInput, report...), "people.csv", "column age", "[17, 90]")
}

// plain returns a note on one line.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }
