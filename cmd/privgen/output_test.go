package main

import (
	"os"
	"strings"
	"testing"
)

// TestNothingIsPaidForWhatCannotBeWritten: a result that is paid for is refused before anything is
// reserved if it cannot be written to its place, or if its place could lose it.
func TestNothingIsPaidForWhatCannotBeWritten(t *testing.T) {
	s := fitted(t)
	s.run(0, "ledger", "create", "untouched", "--epsilon", "3")
	for name, err := range map[string]error{"folder": os.Mkdir(s.path("folder"), 0o700),
		"link": os.Symlink("nowhere", s.path("link"))} {
		if err != nil {
			t.Skip(name, err)
		}
	}
	if err := os.Mkdir(s.path("folder/compare.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"fit", "plan.json", "people.csv", "--no-checkpoint", "--force"},
		{"draft", "people.csv", "--candidates", "schema.json"},
		{"fidelity", "people.gen", "people.csv", "-n", "500"},
	} {
		for _, out := range []string{"", "-", "folder", "link", os.DevNull, "none/x",
			strings.Repeat("n", 256)} {
			args := append(append([]string{}, command...), "--ledger", "untouched", "-o", out)
			c := s.command(args...)
			if e := finish(t, c.Run(), c); e.code != exitUsage && e.code != exitIO {
				t.Errorf("%q: exit code %d, want %d or %d", args, e.code, exitUsage, exitIO)
			}
		}
	}
	s.run(exitIO, "compare", "people.csv", "plan.json", "--ledger", "untouched", "-o", "folder")
	if spent := decode[leftResult](t, s.run(0, "ledger", "left", "untouched",
		"--json").stdout).Spent.Upper; spent != 0 {
		t.Errorf("ε = %v is spent, want 0", spent)
	}
}

// TestFilesOfTheUserAreKept: no command removes or replaces a file that it reads, its ledger, or a
// file beside its output.
func TestFilesOfTheUserAreKept(t *testing.T) {
	s := fitted(t)
	s.run(0, "ledger", "create", "kept", "--epsilon", "9")
	records := s.read("people.csv")
	beside := []string{"a.gen.tmp", "b.gen.ckpt.tmp", "b.gen.ckpt.lock", "s.csv.tmp"}
	for _, name := range beside {
		s.write(name, records)
	}
	fit := []string{"fit", "plan.json", "--ledger", "kept", "--format", "csv", "--force"}
	s.run(0, append(fit, "a.gen.tmp", "-o", "a.gen")...)
	s.run(exitIO, append(fit, "b.gen.ckpt.lock", "-o", "b.gen")...)
	s.run(0, append(fit, "b.gen.ckpt.tmp", "-o", "c.gen", "--checkpoint", "b.gen")...)
	s.run(0, "sample", "people.gen", "-n", "5", "-o", "s.csv")
	for _, name := range beside {
		if s.read(name) != records {
			t.Errorf("%s has changed", name)
		}
	}
	files := []string{"people.csv", "plan.json", "schema.json", "people.gen", "c.gen"}
	before := map[string]string{}
	for _, name := range files {
		before[name] = s.read(name)
	}
	if err := os.Link(s.path("people.csv"), s.path("again.csv")); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		append(fit, "people.csv", "-o", "people.csv"),
		append(fit, "people.csv", "-o", "./people.csv", "--no-checkpoint"),
		append(fit, "people.csv", "-o", s.path("again.csv")),
		append(fit, "people.csv", "-o", "plan.json"),
		append(fit, "people.csv", "-o", "new", "--checkpoint", "./new"),
		append(fit, "people.csv", "-o", "new.lock", "--checkpoint", "new"),
		append(fit, "people.csv", "-o", "ledgers/kept/journal"),
		{"sample", "people.gen", "-n", "5", "-o", "people.gen", "--format", "csv"},
		{"plan", "schema.json", "--records", "3000", "-o", "schema.json"},
		{"draft", "people.csv", "--public", "-o", "again.csv"},
		{"draft", "people.csv", "--candidates", "schema.json", "--ledger", "kept", "-o", "schema.json"},
		{"report", "people.gen", "people.csv", "--plan", "plan.json", "-o", "plan.json"},
	} {
		s.oneLine(s.run(exitUsage, args...), "--out", "want another name")
	}
	for _, name := range files {
		if s.read(name) != before[name] {
			t.Errorf("%s has changed", name)
		}
	}
	s.run(0, "ledger", "verify", "kept")
}
