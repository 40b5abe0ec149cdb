package ledger

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestGuaranteeFitsTheScreen: no line of a guarantee has more than 100 columns, and line breaks
// lose no word.
func TestGuaranteeFitsTheScreen(t *testing.T) {
	g := Guarantee{Epsilon: 1, Budget: 1, Lower: 0.9, Delta: 1e-5, Unit: "record",
		Accountant: strings.Repeat("accountant ", 12)}
	g.NotCovered = g.exceptions(false)
	for line := range strings.Lines(g.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	text := strings.Join(strings.Fields(g.String()), " ")
	for _, s := range g.NotCovered {
		if !strings.Contains(text, s) {
			t.Errorf("the guarantee does not say %q:\n%s", s, text)
		}
	}
}

// TestAlikePartsAreOneLine: entries of consecutive parts are printed as one entry if and only if
// they differ only in the number of the part.
func TestAlikePartsAreOneLine(t *testing.T) {
	parts := func(n int) (list []GuaranteeEntry) {
		for i := range n {
			list = append(list, GuaranteeEntry{Purpose: fmt.Sprintf("mixtures, part %d of %d: rows", i+1, n),
				Description: "Gaussian release", Reserved: 7, Spent: 5})
		}
		return list
	}
	text := func(list []GuaranteeEntry) string { return Guarantee{Entries: list}.String() }
	alike := text(parts(12))
	if strings.Count(alike, "Gaussian release") != 1 ||
		!strings.Contains(alike, "mixtures, parts 1 to 12 of 12: rows\n      7 × Gaussian release\n"+
			"      in each part, taken: 5") {
		t.Errorf("got for twelve equal parts, want one entry:\n%s", alike)
	}
	for name, change := range map[string]func(*GuaranteeEntry){
		"other uses":    func(e *GuaranteeEntry) { e.Spent = 6 },
		"reserved more": func(e *GuaranteeEntry) { e.Reserved = 8 },
		"another event": func(e *GuaranteeEntry) { e.Event = []byte("{}") },
		"late":          func(e *GuaranteeEntry) { e.Late = true },
		"real noise":    func(e *GuaranteeEntry) { e.NoiseClass = []NoiseClass{RealNoise} },
		"lines":         func(e *GuaranteeEntry) { e.Lines = &LineSpan{} },
		"another part":  func(e *GuaranteeEntry) { e.Purpose = "mixtures, part 9 of 12: rows" },
	} {
		list := parts(4)
		change(&list[2])
		if got := text(list); strings.Count(got, "Gaussian release") != 3 {
			t.Errorf("%s: got, want three entries:\n%s", name, got)
		}
	}
	plain := parts(2)
	plain[0].Purpose, plain[1].Purpose = "training", "training"
	if got := text(plain); strings.Count(got, "training") != 2 {
		t.Errorf("got for two entries with the same name, want both:\n%s", got)
	}
}

// TestFilesForgeNoLine: in a printed guarantee, a purpose or unit from a file begins no line and
// contains no control sequences.
func TestFilesForgeNoLine(t *testing.T) {
	forged := "steps\n  promise      ε = 0.001, δ = 1e-05\r\x1b[2K\u202e"
	l := New(accountant.Budget{Epsilon: 8, Delta: 1e-5}, WithUnit("user"))
	for _, e := range []accountant.Event{accountant.Gaussian{NoiseMultiplier: 2},
		accountant.Curve{Name: forged, Epsilons: []float64{0, 1}, Deltas: []float64{0.1, 0}}} {
		if err := l.Spend(forged, e); err != nil {
			t.Fatal(err)
		}
	}
	g := l.Guarantee()
	g.NotPrivate, g.Unit = "a test", forged
	text := g.String()
	if strings.ContainsAny(text, "\r\x1b\u202e") || strings.Count(text, "\n  promise ") != 1 {
		t.Errorf("%q", text)
	}
}
