package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
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

// TestCountsOfStrays: with --json, standard error has the counts of strays as JSON and standard
// output has none; without it, the note stands again after the progress.
func TestCountsOfStrays(t *testing.T) {
	s := withShortPlan(t)
	s.write("people.csv", s.read("people.csv")+"many,private,50,low\n,idle,50,low\n")
	fit := []string{"fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o"}
	e := s.run(0, append(fit, "a.gen", "--json")...)
	if strings.Contains(e.stdout, "strays") {
		t.Errorf("the result holds counts without noise: %s", e.stdout)
	}
	for line := range strings.Lines(e.stderr) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		got := decode[strayNote](t, line)
		if got.Private || got.Strays != 3 || len(got.Columns) != 2 || got.Columns[0].Strays != 2 ||
			got.Columns[1].Problems["none of the levels"] != 1 {
			t.Errorf("got %s", line)
		}
	}
	if !strings.Contains(e.stderr, `{"note":"people.csv: some values`) {
		t.Errorf("no counts: %s", e.stderr)
	}
	s.run(0, "ledger", "create", "more", "--epsilon", "3")
	fit[4], fit[5] = "more", "--no-checkpoint"
	const words = "column age in 2, column work in 1 of 3002 records"
	got := plain(s.run(0, append(fit, "b.gen")...).stderr)
	if first, last := strings.Index(got, words), strings.LastIndex(got, words); first < 0 ||
		last < strings.LastIndex(got, "so far") || first > strings.Index(got, "so far") {
		t.Errorf("the note does not stand before and after the progress: %s", got)
	}
}

// TestStraysOfSetsAndArrays: what is outside the schema is counted, not listed by row, and refused
// if it is most of it.
func TestStraysOfSetsAndArrays(t *testing.T) {
	s := newSession(t)
	s.write("sets.json", `{"kind": "sets", "universe": 10, "max_items": 3}`)
	s.write("some.txt", strings.Repeat("1 2 3\n", 100)+strings.Repeat("1 77\n", 30))
	got := s.run(0, "check", "sets.json", "some.txt").stdout
	if want := "130 records; 30 values are outside the schema: item outside the universe\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	validate(t, "check", s.run(0, "check", "sets.json", "some.txt", "--json").stdout)
	s.write("most.txt", strings.Repeat("1 77\n", 100))
	s.oneLine(s.run(exitInput, "check", "sets.json", "most.txt"), "most.txt", "100 values",
		"--strays 1")
	s.write("grey.json", `{"kind": "interval", "dim": 2, "lo": 0, "hi": 1}`)
	s.write("grey.csv", strings.Repeat("0,x\n", 10)+strings.Repeat("0,255\n", 60)+"255,7\n")
	e := s.run(exitInput, "check", "grey.json", "grey.csv", "--no-header")
	s.oneLine(e, "grey.csv: too much", "72 values", "not a number or outside the bounds")
	s.run(0, "check", "grey.json", "grey.csv", "--no-header", "--strays", "1")
}

// TestNamesOfColumnsAreQuoted: the name of a column in a schema may hold characters that turn the
// direction of text.
func TestNamesOfColumnsAreQuoted(t *testing.T) {
	checks := []columnCheck{{Column: "age\u202exa", Cells: 4, Strays: 3, Want: "\u2066low",
		Problems: map[string]int{"a number": 3}}}
	schema, err := records.NewSchema(records.Numeric(checks[0].Column, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := records.NewFrameBuilder(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Append(5.0); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"refused": refuseStrays("people.csv", checks, 0.5).Error(),
		"checked": checked(checkResult{Columns: checks}),
		"noted":   strayNoteOf("people.csv", rows.Frame()).Note,
	} {
		if strings.ContainsAny(text, "\u202e\u2066") || !strings.Contains(text, `"age\u202exa"`) {
			t.Errorf("%s: %q", name, text)
		}
	}
}
