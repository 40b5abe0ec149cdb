package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const manual = "../../docs/command.md"

// TestManualRuns runs every block of commands of the manual, in order, in one folder. The block
// about containers is not run, since it needs a service.
func TestManualRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole manual")
	}
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	s.people("people.csv", 3000, 1)
	s.people("sample.csv", 400, 2)
	s.people("others.csv", 1500, 3)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	script := "set -euo pipefail\nexport PATH=\"$PWD/bin:$PATH\" PRIVGEN_STORE=\n"
	blocks := regexp.MustCompile("(?ms)^```(\\S*)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	ran := 0
	for _, b := range blocks {
		switch b[1] {
		case "sh":
			ran++
			script += fmt.Sprintf("echo '== block %d' >&2\n%s", ran, b[2])
		case "sh-container", "text":
		default:
			t.Errorf("the test does not know blocks of kind %q", b[1])
		}
	}
	if ran < 10 {
		t.Fatalf("only %d blocks were found", ran)
	}
	c := exec.Command("bash", "-c", script)
	c.Dir = s.folder
	c.Env = append(os.Environ(), "PRIVGEN_SOURCE="+root)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"report.html", "public.html", "figures.html", "CARD.md", "s.parquet",
		"compared/compare.html", "compared/merf.html", "manual/privgen-fit.1"} {
		if s.read(name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	validate(t, "compare", s.read("compared/compare.json"))
	checkComparison(t, s)
}

// checkComparison checks the result of compare: two systems within one budget, and a page with the
// figures of each system and without external resources.
func checkComparison(t *testing.T, s *session) {
	t.Helper()
	c := decode[comparison](t, s.read("compared/compare.json"))
	if len(c.Systems) != 2 || c.Guarantee.Epsilon > 2 || c.Guarantee.Epsilon < 1 {
		t.Fatalf("got %d systems and ε = %v, want 2 systems and ε between 1 and 2", len(c.Systems),
			c.Guarantee.Epsilon)
	}
	page := s.read("compared/compare.html")
	for _, system := range c.Systems {
		for _, key := range []string{"column_shapes", "accuracy", "query_error"} {
			n, ok := system.Figures[key]
			if !ok {
				t.Errorf("the figures of %s do not contain %s", system.Name, key)
			}
			if !strings.Contains(page, "<td>"+digits(n)+"</td>") {
				t.Errorf("the page does not contain %s of %s, which is %s", key, system.Name, digits(n))
			}
		}
	}
	for _, text := range []string{"differ by the presence of one record", "0.5 is guessing",
		"if it were the only one", `class="held"`, `href="merf.html"`, "prefers-color-scheme"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "<script") ||
		strings.Contains(page, "http:") || strings.Contains(page, "https:") {
		t.Error("the page refers to other resources")
	}
}

// TestManualListsExitCodes checks that the manual's table has the command's exit codes.
func TestManualListsExitCodes(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range exitCodes {
		if row := fmt.Sprintf("| %d | %s |\n", c.Code, c.Meaning); !strings.Contains(string(text), row) {
			t.Errorf("the manual does not contain %q", row)
		}
	}
	for _, name := range []string{"draft", "plan", "fit", "sample", "guarantee", "report", "ledger",
		"audit", "compare", "fidelity"} {
		if !strings.Contains(string(text), "privgen "+name) {
			t.Errorf("the manual does not show privgen %s", name)
		}
	}
}
