package privgen_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNumbersInSummaries checks table rows that link to a page, in README.md and docs/results.md.
// Every number at the beginning of a cell must be on that page, possibly with more decimals. The
// pages name the commands that produced the numbers.
func TestNumbersInSummaries(t *testing.T) {
	checked := 0
	for _, path := range []string{"README.md", filepath.Join("docs", "results.md")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, n := range rowNumbers(line) {
				checked++
				page := linkedPage(path, line)
				if !onPage(t, page, n) {
					t.Errorf("%s: %s is not on %s: %s", path, n, page, line)
				}
			}
		}
	}
	if checked < 25 {
		t.Errorf("only %d numbers: the search is broken", checked)
	}
	if onPage(t, filepath.Join("docs", "studies", "gan.md"), ".9999") {
		t.Error("a number that is not on the page is found")
	}
}

var anyNumber = regexp.MustCompile(`\d{1,3}(?:,\d{3})+|\d*\.\d+`)

var measured = regexp.MustCompile(`^(?:\d{1,3}(?:,\d{3})+|\d*\.\d+)`)

// rowNumbers returns the measured numbers at the beginning of a row's cells: decimal fractions, and
// whole numbers with commas between thousands. A row without a link has none.
func rowNumbers(row string) (out []string) {
	if !strings.HasPrefix(row, "|") || !link.MatchString(row) {
		return nil
	}
	for cell := range strings.SplitSeq(row, "|") {
		if n := measured.FindString(strings.TrimSpace(cell)); n != "" {
			out = append(out, n)
		}
	}
	return out
}

func linkedPage(from, row string) string {
	return filepath.Join(filepath.Dir(from), link.FindStringSubmatch(row)[1])
}

// onPage reports whether a page has a number that equals n if it is rounded to as many decimals as
// n has.
func onPage(t *testing.T, page, n string) bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	digits := 0
	if _, fraction, ok := strings.Cut(n, "."); ok {
		digits = len(fraction)
	}
	unit := math.Pow(10, -float64(digits))
	for _, m := range anyNumber.FindAllString(string(text), -1) {
		if math.Abs(plain(t, m)-plain(t, n)) <= 0.5001*unit {
			return true
		}
	}
	return false
}

func plain(t *testing.T, n string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
