package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestReleasedTablesAreFollowed draws records that agree with a table of little noise, in CSV.
func TestReleasedTablesAreFollowed(t *testing.T) {
	s := fitted(t)
	s.write("t.csv", "age,count,std\n0..29,900,1\n30..99,100,1\n")
	out := s.run(0, "sample", "people.gen", "-n", "100000", "--seed", "4", "--released", "t.csv", "-o",
		"m.csv", "--json").stdout
	validate(t, "sample", out)
	var r struct {
		Released []struct{ Before, After, Noise float64 }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Released) != 1 || r.Released[0].Before < 0.2 || r.Released[0].After > 0.01 {
		t.Errorf("%s", out)
	}
	text, err := os.ReadFile(s.path("schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema records.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	young, f := 0, s.frame("m.csv", schema)
	for i := range f.Len() {
		if f.Number(i, schema.ColumnIndex("age")) < 30 {
			young++
		}
	}
	// more than ten standard deviations of a share of 100,000 records
	if got := float64(young) / 100_000; math.Abs(got-0.9) > 0.01 || f.Len() != 100_000 {
		t.Errorf("%d rows, %v below 30, want 0.9", f.Len(), got)
	}
	s.write("bad.csv", "hair,count,std\nred,900,1\n")
	s.oneLine(s.run(exitInput, "sample", "people.gen", "-n", "20", "--released", "bad.csv"), "hair")
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "20", "--released", "t.csv", "-o",
		"t.csv"), "a file that the command uses")
	var complaint strings.Builder
	report := s.command("report", "people.gen", "-", "-o", "people.csv")
	in, err := os.Open(s.path("people.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	report.Stdin, report.Stderr = in, &complaint
	if report.Run() == nil || !strings.Contains(complaint.String(), "a file that the command uses") {
		t.Errorf("a report replaces its standard input: %s", complaint.String())
	}
	s.write("x.notes.txt", "mine")
	s.oneLine(s.run(exitUsage, "draft", "people.csv", "--public", "-o", "x.json"),
		"x.notes.txt exists")
	s.run(0, "draft", "people.csv", "--public", "-o", "y.json")
	s.run(0, "draft", "people.csv", "--public", "-o", "y.json") // replaces notes of its own
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "20", "--released", "t.csv", "--where",
		"age>=3"), "--released")
}
