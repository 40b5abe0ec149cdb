package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

func TestWrap(t *testing.T) {
	got := wrap("  one two three four\nε ε ε ε\nlonglonglong x", 10)
	want := "  one two\n      three\n      four\nε ε ε ε\nlonglonglong\n    x"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesOfProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	l := newLines(&out, func() time.Time { return now })
	for step := 1; step <= 100; step++ {
		l.show(privgen.Progress{Stage: "training", Step: step, Of: 100, Epsilon: 0.5})
		now = now.Add(200 * time.Millisecond)
	}
	want := "training: 1 of 100, ε ≤ 0.5 so far\n" +
		"training: 26 of 100, 5/s, 15s left, ε ≤ 0.5 so far\n" +
		"training: 51 of 100, 5/s, 10s left, ε ≤ 0.5 so far\n" +
		"training: 76 of 100, 5/s, 5s left, ε ≤ 0.5 so far\n" +
		"training: 100 of 100, 5/s, 0s left, ε ≤ 0.5 so far\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestRoundsInOneLine: a run that goes from stage to stage and back prints a line every few
// seconds, not one for each round, and the last step of each stage.
func TestRoundsInOneLine(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	l := newLines(&out, func() time.Time { return now })
	for round := 1; round <= 20; round++ {
		l.show(privgen.Progress{Stage: "choices", Step: round, Of: 20})
		l.show(privgen.Progress{Stage: "measurements", Step: 8 * round, Of: 160})
		now = now.Add(time.Second)
	}
	got := regexp.MustCompile(`(?m),.*$`).ReplaceAllString(out.String(), "")
	want := "choices: 1 of 20\nmeasurements: 8 of 160\nchoices: 6 of 20\nchoices: 11 of 20\n" +
		"choices: 16 of 20\nchoices: 20 of 20\nmeasurements: 160 of 160\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestTextFitsTheScreen checks that every help text fits into a hundred columns.
func TestTextFitsTheScreen(t *testing.T) {
	s := fitted(t)
	for _, args := range [][]string{{}, {"plan", "schema.json", "--records", "3000"},
		{"plan", "schema.json", "--records", "3000", "--system", "dpgm"}, {"guarantee", "people.gen"},
		{"ledger", "show", "people"}, {"ledger", "left", "people", "--plan", "plan.json"},
		{"ledger", "verify", "people"}, {"ledger", "list"}} {
		e := s.run(0, args...)
		for line := range strings.Lines(e.stdout + e.stderr) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
				t.Errorf("%v: a line has %d columns: %s", args, n, line)
			}
		}
	}
}

// each calls do for every subcommand that is not hidden.
func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			each(sub, do)
		}
	}
}

// TestHelp compares the help of every subcommand with a golden file.
func TestHelp(t *testing.T) {
	s := newSession(t)
	each(newRoot(&app{}), func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		args := strings.Fields(c.CommandPath())[1:]
		e := s.run(0, append(args, "--help")...)
		if short := s.run(0, append(args, "-h")...); short.stdout != e.stdout {
			t.Errorf("%s: -h and --help print different texts", name)
		}
		for line := range strings.Lines(e.stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
				t.Errorf("%s: a line of the help has %d columns: %s", name, n, line)
			}
		}
		golden(t, filepath.Join("testdata", "help", name+".txt"), e.stdout)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(e.stdout, "--"+f.Name) {
				t.Errorf("%s: the help does not name --%s", name, f.Name)
			}
		})
	})
}

// TestManualPages compares the generated manual pages with the committed ones.
func TestManualPages(t *testing.T) {
	s := newSession(t)
	s.run(0, "man", "pages")
	made, err := filepath.Glob(s.path("pages/*.1"))
	if err != nil || len(made) < 15 {
		t.Fatalf("got %d manual pages, want at least 15; error %v", len(made), err)
	}
	for _, page := range made {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("man", filepath.Base(page)), string(text))
	}
	kept, err := filepath.Glob("man/*.1")
	if err != nil || len(kept) != len(made) {
		t.Errorf("%d pages are committed, but %d are generated", len(kept), len(made))
	}
}

func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s is out of date: go test -run 'Help|Manual' -update\n%s", path, text)
	}
}

func TestCompletion(t *testing.T) {
	s := newSession(t)
	s.run(0, "ledger", "create", "people-2026")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if e := s.run(0, "completion", shell); !strings.Contains(e.stdout, "privgen") {
			t.Errorf("the completion for %s does not mention privgen: %q", shell, e.stdout)
		}
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"fit", []string{"fi"}},
		{"people-2026", []string{"ledger", "show", ""}},
		{"people-2026", []string{"fit", "--ledger", ""}},
		{"merf", []string{"plan", "--system", ""}},
		{"parquet", []string{"sample", "--format", ""}},
	} {
		e := s.run(0, append([]string{"__complete"}, c.args...)...)
		if !strings.Contains(e.stdout, c.want) {
			t.Errorf("%q: got the completions %q, want %s", c.args, e.stdout, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	s := newSession(t)
	if e := s.run(0, "--version"); !strings.HasPrefix(e.stdout, "privgen version ") {
		t.Errorf("got %q, want the program's version", e.stdout)
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	table(&b, [][]string{{"", "a", "longer"}, {"ε", "1", "2"}, {"three", "10", ""}})
	want := "       a   longer\nε      1   2\nthree  10\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if fmt.Sprint(digits(none)) != "–" {
		t.Error("a missing number is printed as a number")
	}
}

// TestJSONIsPrintable: texts of files, such as purposes of a guarantee, cannot move a terminal's
// cursor or turn a line around, and programs read them as they are.
func TestJSONIsPrintable(t *testing.T) {
	text := "grün\u202eeman\u009b2J\u007f\u200b\U000e0041😀\"\\\n"
	g := guaranteeResult{Schema: records.Binary(1), Guarantee: ledger.Guarantee{
		Entries: []ledger.GuaranteeEntry{{Purpose: text}}}}
	var out, file bytes.Buffer
	a := &app{stdout: &out, asJSON: true}
	if err := a.result(g, nil); err != nil {
		t.Fatal(err)
	}
	if err := (comparison{Ledger: text}).writeJSON(&file); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(t.TempDir(), "plan.json")
	err := a.saveJSON(plan, func(w io.Writer) error {
		quoted, err := json.Marshal(text)
		_, failed := fmt.Fprintf(w, "[\n\t%s\n]\n", quoted)
		return errors.Join(err, failed)
	})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{out.String(), file.String(), string(saved)} {
		for _, r := range shown {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Errorf("prints %U", r)
			}
		}
	}
	var whole comparison
	var one []string
	err = errors.Join(json.Unmarshal(saved, &one), json.Unmarshal(file.Bytes(), &whole))
	if err != nil || one[0] != text || whole.Ledger != text {
		t.Errorf("got %q and %q, want %q: %v", one, whole.Ledger, text, err)
	}
	if quoted, _ := json.Marshal(text); !strings.Contains(out.String(), string(shownJSON(quoted))) {
		t.Errorf("%s lacks %s", out.String(), quoted)
	}
}
