package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMutantsCanBePlanted checks every mutant. Its old text must occur exactly once, and the
// mutated file must be valid Go. Nothing is compiled or run.
func TestMutantsCanBePlanted(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range mutants() {
		if names[m.Name] {
			t.Errorf("%s: two mutants have this name", m.Name)
		}
		names[m.Name] = true
		at, err := sources.find(m)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := at.parses(m); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if m.Why == "" || len(m.Tests) == 0 || !strings.HasPrefix(m.Name, m.In+"/") {
			t.Errorf("%s: must have a reason, tests and a name that begins with its folder", m.Name)
		}
		for _, set := range m.Tests {
			if _, err := regexp.Compile(set.Run); err != nil || set.Package == "" {
				t.Errorf("%s: tests %+v: %v", m.Name, set, err)
			}
			if files, _ := filepath.Glob(filepath.Join(root, set.Package, "*_test.go")); len(files) == 0 {
				t.Errorf("%s: there are no tests in %s", m.Name, set.Package)
			}
		}
	}
	if len(names) < 250 {
		t.Errorf("%d mutants, want at least 250", len(names))
	}
}

func TestFind(t *testing.T) {
	sources := tree{
		"a/one.go": "package a\n\nvar x = 1\nvar y = 2\n",
		"a/two.go": "package a\n\nvar z = 2\n",
		"b/b.go":   "package b\n\nvar x = 1\nvar w = 3\n",
	}
	for _, c := range []struct {
		in, old string
		where   string // empty: an error
		moved   bool
	}{
		{"a", "x = 1", "a/one.go:3", false},
		{"a", "w = 3", "b/b.go:4", true},
		{"gone", "z = 2", "a/two.go:3", true},
		{"gone", "x = 1", "", false}, // in two places
		{"a", "= 2", "", false},      // twice in the package
		{"a", "q", "", false},
	} {
		at, err := sources.find(mutant{Name: "m", In: c.in, Old: c.old, New: "x"})
		if (err == nil) != (c.where != "") {
			t.Errorf("%q in %s: %v", c.old, c.in, err)
		}
		if err == nil && (at.String() != c.where || at.moved != c.moved) {
			t.Errorf("%q in %s: found at %v, moved %v", c.old, c.in, at, at.moved)
		}
	}
	m := mutant{In: "a", Old: "x = 1", New: "x = 7"}
	at, err := sources.find(m)
	if got := at.mutated(m); err != nil || got != "package a\n\nvar x = 7\nvar y = 2\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := sources.find(mutant{In: "a", Old: "x = 1", New: "x = 1"}); err == nil {
		t.Error("a mutant that changes nothing is accepted")
	}
	if err := at.parses(mutant{Old: "x = 1", New: "x = ("}); err == nil {
		t.Error("a mutant that is not valid Go is accepted")
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct{ output, want string }{
		{"--- FAIL: TestA (0.00s)\nFAIL\n", caught},
		{"# x\n./a.go:1: undefined: y\nFAIL\tx [build failed]\n", broken},
		{"panic: test timed out after 1s\n", timedOut},
		{"panic: runtime error\n", caught},
		{"go: no such tool\n", failed},
	} {
		if got, _ := classify(c.output); got != c.want {
			t.Errorf("%q: %s", c.output, got)
		}
	}
	if _, by := classify("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n"); len(by) != 2 ||
		by[1] != "TestA/b" {
		t.Errorf("failed by %v", by)
	}
}

func TestSummary(t *testing.T) {
	var out strings.Builder
	if summarise(&out, []result{{Outcome: caught}, {Outcome: explained}}) != 0 {
		t.Error("the exit status is not 0 without survivors")
	}
	if summarise(&out, []result{{Outcome: caught}, {Outcome: survived}}) != 1 {
		t.Error("the exit status is not 1 with a survivor")
	}
}
