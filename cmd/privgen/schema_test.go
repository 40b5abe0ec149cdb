package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed7ba64551/privgen/report"
)

// validate checks a JSON text against a schema of the folder schemas.
func validate(t *testing.T, name, text string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("schemas", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: the output is not JSON: %v in %q", name, err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("the output does not match the schema %s: %v", name, err)
	}
}

// TestJSONFollowsItsSchema runs every subcommand with --json.
func TestJSONFollowsItsSchema(t *testing.T) {
	s := withShortPlan(t)
	s.people("sample.csv", 300, 2)
	// other tests check these schemas
	tried := map[string]bool{"error": true, "compare": true, "guarantee-statement": true}
	for _, c := range []struct {
		schema string
		args   []string
	}{
		{"draft", []string{"draft", "sample.csv", "--public", "--label", "income", "-o", "drafted.json"}},
		{"check", []string{"check", "schema.json", "sample.csv"}},
		{"plan", []string{"plan", "schema.json", "--records", "3000", "-o", "other.json"}},
		{"plan", []string{"plan", "schema.json", "--records", "3", "--epsilon", "0.01", "--anyway"}},
		{"ledger-show", []string{"ledger", "create", "people", "--epsilon", "3"}},
		{"ledger-left", []string{"ledger", "left", "people", "--plan", "plan.json"}},
		{"draft", []string{"draft", "people.csv", "--candidates", "schema.json", "--ledger", "people",
			"-o", "narrow.json"}},
		{"fit", []string{"fit", "plan.json", "people.csv", "--ledger", "people", "-o", "people.gen"}},
		{"sample", []string{"sample", "people.gen", "-n", "500", "--class", "high", "-o", "s.parquet"}},
		{"guarantee", []string{"guarantee", "people.gen"}},
		{"ledger-list", []string{"ledger", "list"}},
		{"ledger-show", []string{"ledger", "show", "people"}},
		{"ledger-left", []string{"ledger", "left", "people"}},
		{"ledger-verify", []string{"ledger", "verify", "people"}},
		{"fidelity", []string{"fidelity", "people.gen", "people.csv", "--ledger", "people", "-n", "500",
			"--epsilon", "0.3", "-o", "figures.json"}},
		{"audit", []string{"audit", "plan.json", "--canaries", "60", "--samples", "500"}},
	} {
		tried[c.schema] = true
		validate(t, c.schema, s.run(0, append(c.args, "--json")...).stdout)
	}
	files, err := filepath.Glob("schemas/*.schema.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".schema.json"); !tried[name] {
			t.Errorf("no output is checked against %s", f)
		}
	}
	// the library can read the drafted schema and the plan file
	if _, err := openSchema(s.path("narrow.json")); err != nil {
		t.Error(err)
	}
	if _, err := openPlan(s.path("plan.json")); err != nil {
		t.Error(err)
	}
}

// TestSchemasRefuse checks that the JSON schemas reject wrong documents.
func TestSchemasRefuse(t *testing.T) {
	files, err := filepath.Glob("schemas/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		schema, err := jsonschema.NewCompiler().Compile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{`{}`, `[]`, `{"surprise": 1}`} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if schema.Validate(value) == nil {
				t.Errorf("%s accepts the wrong document %s", f, text)
			}
		}
		if text, _ := os.ReadFile(f); !strings.Contains(string(text), "2020-12") {
			t.Errorf("%s does not name its draft", f)
		}
	}
}

// TestReportFollowsItsSchema checks the report's JSON against the schema of package report, and
// that the page is one file.
func TestReportFollowsItsSchema(t *testing.T) {
	s := fitted(t)
	s.people("others.csv", 1000, 2)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(report.JSONSchema())))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("report.schema.json", value); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", "people.gen", "people.csv", "--holdout", "others.csv", "-o", "report.html", "--rows",
			"500", "--train", "300"},
		{"report", "people.gen", "--publish", "-o", "public.html"},
	} {
		printed := s.run(0, append(args, "--json")...).stdout
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(printed))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%v: the output does not match the schema: %v", args, err)
		}
	}
	if !strings.Contains(s.read("report.html"), report.Caveat) ||
		strings.Contains(s.read("public.html"), report.Caveat) {
		t.Error("want the page on real records, and not the public page, to say that it is not private")
	}
	s.oneLine(s.run(exitUsage, "report", "people.gen", "people.csv", "--publish", "-o", "x.html"),
		"--publish")
	e := s.run(0, "report", "people.gen", "--publish", "--synthetic", "people.csv", "-o", "x.html")
	if said := strings.Join(strings.Fields(e.stderr), " "); !strings.Contains(said,
		"nothing shows that people.csv was drawn") {
		t.Errorf("a page of any records is published without a note: %s", e.stderr)
	}
	s.oneLine(s.run(exitUsage, "report", "people.gen", "people.csv"), "--out")
	s.oneLine(s.run(exitUsage, "report", "people.gen", "-o", "x.html"), "RECORDS")
}
