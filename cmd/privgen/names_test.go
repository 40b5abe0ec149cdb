package main

import "testing"

func TestErrorsAreInUsersWords(t *testing.T) {
	for text, want := range map[string]string{
		"accountant.Budget.Epsilon: 0: want a":          "--epsilon: 0: want a",
		"merf.Config.Budget.Delta: 2: want a":           "--delta: 2: want a",
		"records.CSV.Comment: ',': want":                "--comment: ',': want",
		"report.Settings.Rows: -1: want":                "--rows: -1: want",
		"records.Schema.Dim: -3: want":                  "dim: -3: want",
		"records.Schema.MaxItems: 0: want":              "max_items: 0: want",
		`records.Column["a b"].Bounds: [9, 1]: want`:    `column "a b": bounds: [9, 1]: want`,
		`records.Column[1].Name: "age": want`:           `column 1: name: "age": want`,
		"draft.Fit.ledger: replace_one: want":           "--ledger: replace_one: want",
		"draft.Config.Candidates: sets: want a table":   "the schema: sets: want a table",
		"unknown flag: --Foo; People.csv: no such file": "unknown flag: --Foo; People.csv: no such file",
	} {
		if got := inUsersWords(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
