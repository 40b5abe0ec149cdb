package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestRareConditions: a search for rare records ends with what it found, says how many, and every
// record meets the conditions. A search that finds nothing is an error.
func TestRareConditions(t *testing.T) {
	s := fitted(t)
	rare := []string{"sample", "people.gen", "--seed", "1", "--search", "300ms", "--where", "age=33",
		"--where", "hours=41", "--where", "work=none"}
	for _, file := range []string{"r.csv", "r.npz"} {
		e := s.run(0, append(rare, "-n", "300000", "-o", file, "--json")...)
		validate(t, "sample", e.stdout)
		got := decode[sampleResult](t, e.stdout)
		if got.Wanted != 300000 || got.Records < 1 || got.Records >= got.Wanted ||
			!strings.Contains(plain(e.stderr), "records were found: about one of") {
			t.Errorf("%s: got %+v, %s", file, got, e.stderr)
		}
		checked := decode[checkResult](t, s.run(0, "check", "schema.json", "r.csv", "--json").stdout)
		if file == "r.csv" && checked.Records != got.Records {
			t.Errorf("got %d records, want %d as stated", checked.Records, got.Records)
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(s.read("r.csv")), "\n") {
		if i > 0 && !strings.HasPrefix(line, "33,none,41,") {
			t.Fatalf("record %d is %q", i, line)
		}
	}
	s.oneLine(s.run(exitUsage, append(rare[:4:4], "-n", "5", "--search", "50ms", "--where", "age>=89",
		"--where", "hours<=1")...), "none of", "--search", "age >= 89: 0")
	s.oneLine(s.run(exitUsage, append(rare, "-n", "5", "--search", "-1s")...), "--search")
}

// TestUniqueRecordsOfSearches: a search remembers the records that were found before it.
func TestUniqueRecordsOfSearches(t *testing.T) {
	s := fitted(t)
	s.write("c.json", `[{"type": "unique", "columns": ["age", "hours"]},
		{"type": "only", "columns": ["work"], "rows": [["none"], ["self"]]}]`)
	e := s.run(0, "sample", "people.gen", "-n", "7400", "--seed", "3", "--search", "1s", "--attempts",
		"50", "--constraints", "c.json", "-o", "u.csv", "--json")
	got := decode[sampleResult](t, e.stdout)
	seen := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(s.read("u.csv")), "\n")[1:]
	for _, line := range lines {
		field := strings.Split(line, ",")
		if key := field[0] + "," + field[2]; seen[key] || field[1] != "none" && field[1] != "self" {
			t.Fatalf("%q breaks the constraints", line)
		} else {
			seen[key] = true
		}
	}
	if len(lines) != got.Records || got.Wanted != 7400 || got.Records < 1100 {
		t.Errorf("got %d records, want %+v", len(lines), got)
	}
	s.write("bad.json", `{"constraints": [{"type": "within", "columns": ["height"], "lo": "1"}]}`)
	s.oneLine(s.run(exitInput, "sample", "people.gen", "-n", "4", "--constraints", "bad.json"),
		"bad.json", `"height"`)
	s.write("none.json", `{"constraints": []}`)
	s.oneLine(s.run(exitInput, "sample", "people.gen", "-n", "4", "--constraints", "none.json"),
		"none.json", "got no constraints")
}

// TestIdentifiersOfSearches: the records of a search are numbered like those found before it.
func TestIdentifiersOfSearches(t *testing.T) {
	s := withShortPlan(t)
	s.write("plan.json", strings.Replace(s.read("plan.json"), `"columns":[`,
		`"columns":[{"name":"id","type":"identifier","rule":"sequence:1"},`, 1))
	s.write("people.csv", "id,"+strings.ReplaceAll(strings.TrimSpace(s.read("people.csv")), "\n",
		"\nx,"))
	s.run(0, "fit", "plan.json", "people.csv", "--ledger", "l", "--new-ledger", "-o", "g.gen")
	s.run(0, "sample", "g.gen", "-n", "90000", "--search", "300ms", "--attempts", "40", "--where",
		"age=33", "-o", "r.csv")
	lines := strings.Split(strings.TrimSpace(s.read("r.csv")), "\n")[1:]
	for i, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf("%d,33,", i+1)) {
			t.Fatalf("record %d is %q", i+1, line)
		}
	}
	if len(lines) < 2 || len(lines) >= 90000 {
		t.Errorf("got %d records", len(lines))
	}
}
