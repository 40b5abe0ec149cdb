package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestOpenLevels: texts that many records have are found by plan and fit, and by draft, and no
// others are written.
func TestOpenLevels(t *testing.T) {
	s := newSession(t)
	s.write("schema.json", `{"kind": "table", "columns": [
		{"name": "town", "type": "hashed", "buckets": 6, "other": "elsewhere"},
		{"name": "old", "type": "flag", "levels": ["no", "yes"]}]}`)
	var rows strings.Builder
	rows.WriteString("town,old\n")
	for i := range 3000 {
		fmt.Fprintf(&rows, "%s,%s\n", []string{"Basel", "Bern", fmt.Sprint("hut ", i)}[i%3],
			[]string{"no", "yes"}[i%2])
	}
	s.write("people.csv", rows.String())
	for system, name := range map[string]string{"auto": "aim", "mst": "mst"} {
		bill := s.run(0, "plan", "schema.json", "--records", "3000", "--system", system, "--delta",
			"1e-10", "-o", "plan.json").stdout
		if !strings.Contains(bill, "levels of open columns") ||
			strings.Contains(bill, "--system levels") {
			t.Errorf("%s: the bill is\n%s", name, bill)
		}
		s.run(0, "fit", "plan.json", "people.csv", "--ledger", name, "--new-ledger", "-o", name+".gen")
		s.run(0, "sample", name+".gen", "-n", "500", "-o", name+".csv")
		text := s.read(name + ".csv")
		if !strings.Contains(text, "Basel,") || !strings.Contains(text, "Bern,") ||
			!strings.Contains(text, "elsewhere,") || strings.Contains(text, "hut") ||
			strings.Contains(text, "bucket") {
			t.Errorf("%s: the sample has other towns: %.200s", name, text)
		}
	}
	s.run(0, "ledger", "create", "drafts", "--epsilon", "1", "--delta", "1e-10")
	s.run(0, "draft", "people.csv", "--candidates", "schema.json", "--ledger", "drafts", "--epsilon",
		"1", "--delta", "1e-10", "-o", "narrow.json")
	narrow := s.read("narrow.json")
	if !strings.Contains(narrow, "Basel") || !strings.Contains(narrow, "Bern") ||
		strings.Contains(narrow, "hut") {
		t.Errorf("the draft is %s", narrow)
	}
}
