package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
)

// smallLedger returns a ledger in memory or in a store with lines of all kinds.
func smallLedger(t *testing.T, l *Ledger) {
	t.Helper()
	e := accountant.Gaussian{NoiseMultiplier: 40}
	r := must[*Reservation](t)(l.Reserve("first", e, 3))
	for range 2 {
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
	}
	r.Note(RealNoise)
	parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "classes", N: 2, MovesCovered: true}))
	must[*Reservation](t)(parts[1].Reserve("second", accountant.Laplace{Scale: 60}, 2))
	must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "fit",
		Groups: []Parts{{Purpose: "halves", N: 2, Fixed: true, MovesCovered: true}},
		Lines: []Line{{Purpose: "third", Event: e, Count: 2, Taken: 1},
			{Purpose: "fourth", Event: e, Count: 1, Group: 1, Part: 1}}}))
	for _, purpose := range []string{"step 1 of 3", "step 2 of 3", "step 3 of 3", "step 4 of 9"} {
		must[*Reservation](t)(l.Reserve(purpose, e, 1))
	}
	if err := l.LedTo(Release{Transaction: "fit", Plan: strings.Repeat("ab", 32)}); err != nil {
		t.Fatal(err)
	}
}

func pinnedClock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// TestPinsOfDamagedFiles: a journal and its mark with one byte that is changed, or cut off.
func TestPinsOfDamagedFiles(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 881)
	folder := t.TempDir()
	store := Dir(folder)
	l := must[*Ledger](t)(store.Create(t.Context(), "people", Terms{
		Budget: accountant.Budget{Epsilon: 2, Delta: 1e-6}}, WithClock(pinnedClock)))
	smallLedger(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, name := range []string{journalFile, markFile} {
		file := filepath.Join(folder, "people", name)
		whole := must[[]byte](t)(os.ReadFile(file))
		lines = append(lines, fmt.Sprintf("%s: %d bytes", name, len(whole)))
		try := func(what string, text []byte) {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			said := ""
			if l, err := store.Audit(t.Context(), "people"); err != nil {
				said = err.Error()
			} else {
				said = fmt.Sprintf("%.6g of %d", l.Epsilon().Upper, len(l.Entries()))
				_ = l.Close()
			}
			said = strings.NewReplacer(folder, "folder", "\n", " + ").Replace(said)
			lines = append(lines, "  "+what+": "+said)
		}
		for i := 0; i < len(whole); i += 1 + len(whole)/90 {
			changed := slices.Clone(whole)
			changed[i] ^= []byte{1, 0x20, 0x80}[i%3]
			try(fmt.Sprint("byte ", i), changed)
			try(fmt.Sprint("first ", i), whole[:i])
		}
		try("more", append(slices.Clone(whole), whole[:20]...))
		try("whole", whole)
	}
	comparePins(t, "pins_damage.txt", lines)
}

var scalar = regexp.MustCompile(`"\w+":("[^"]*"|-?[0-9.e+-]+|true|false|\[\])`)

// TestPinsOfSavedLedgers: saved ledgers and guarantees with one field that is changed.
func TestPinsOfSavedLedgers(t *testing.T) {
	var lines []string
	for _, b := range []accountant.Budget{{Epsilon: 2, Delta: 1e-6},
		{Epsilon: 2, Delta: 1e-6, Relation: accountant.ReplaceOne}} {
		l := New(b, WithUnit("user"))
		smallLedger(t, l)
		l.MarkNotPrivate("test noise")
		saved := must[[]byte](t)(l.MarshalJSON())
		form := must[[]byte](t)(json.Marshal(l.Guarantee()))
		lines = append(lines, strings.ReplaceAll(l.Guarantee().String(), "\n", " + "),
			masked(string(saved)))
		for _, read := range []struct {
			text []byte
			read func(text []byte) string
		}{{saved, func(text []byte) string {
			l, err := Unmarshal(text)
			if err != nil {
				return err.Error()
			}
			back := must[[]byte](t)(l.MarshalJSON())
			return fmt.Sprintf("%.6g %.6g %s", l.Epsilon().Upper, l.EpsilonSoFar(), digestOf(string(back)))
		}}, {form, func(text []byte) string {
			var g Guarantee
			if err := json.Unmarshal(text, &g); err != nil {
				return err.Error()
			}
			return fmt.Sprintf("%.6g %.6g %s", g.Epsilon, g.Lower, digestOf(g.String()))
		}}} {
			for _, at := range scalar.FindAllSubmatchIndex(read.text, -1) {
				said := ""
				for _, v := range []string{"null", "-1", "0", "7", "1e9", `"x"`, `""`, "true", "[]"} {
					said += read.read(slices.Concat(read.text[:at[2]], []byte(v), read.text[at[3]:])) + "\n"
				}
				lines = append(lines, fmt.Sprintf("  %s %s", read.text[at[0]:at[2]], digestOf(said)))
			}
		}
	}
	comparePins(t, "pins_saved.txt", lines)
}

// TestPinsOfRefusals: names, terms, purposes and lines out of range, and what an auditor may do.
func TestPinsOfRefusals(t *testing.T) {
	var lines []string
	say := func(what string, err error) {
		text := masked(strings.ReplaceAll(fmt.Sprint(err), "\n", " + "))
		if len(text) > 400 {
			text = text[:80] + digestOf(text)
		}
		lines = append(lines, fmt.Sprintf("%.60q: %s", what, text))
	}
	for _, name := range []string{"", "a", "z", "`", "{", "0", "9", "/", ":", "-a", ".a", "_a", "a-",
		"a.", "a_", "a^", "a,", "A", "é", "a b", strings.Repeat("a", 128), strings.Repeat("a", 129)} {
		say("name "+name, ValidateName(name))
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	for i, terms := range []Terms{{}, {Name: "a"}, {Name: "a", Budget: b},
		{Name: "a", Budget: b, Unit: "x"}, {Name: "a", Budget: b, Unit: "part"},
		{Name: "a", Budget: b, FilterOrder: 1},
		{Name: "a", Budget: b, FilterOrder: -2}, {Name: "a", Budget: b, FilterOrder: math.Inf(1)},
		{Name: "a", Budget: accountant.Budget{Epsilon: 1}, FilterOrder: 8},
		{Name: "a", Budget: b, Limits: []Limit{{}}},
		{Name: "a", Budget: b, Limits: []Limit{{Epsilon: -1}}},
		{Name: "a", Budget: b, Limits: []Limit{{Epsilon: 1, Window: -1}}},
		{Name: "a", Budget: b, Limits: []Limit{{Epsilon: 1, Window: 63}, {Epsilon: 1, Window: 64}}},
		{Name: "a", Budget: b, Limits: []Limit{{Epsilon: 1, Window: time.Hour, PerRelease: true}}},
		{Name: "a", Budget: b, Limits: []Limit{{Epsilon: 1, Approvals: -1}, {Epsilon: 1, Approvals: 99}}},
		{Name: "a", Budget: b, Limits: []Limit{{Epsilon: 1, Purpose: "a\nb"}, {Epsilon: math.NaN()}}},
		{Name: "a", Budget: b, Limits: slices.Repeat([]Limit{{Epsilon: 1}}, 64)},
		{Name: "a", Budget: b, Limits: slices.Repeat([]Limit{{Epsilon: 1}}, 65)}} {
		say(fmt.Sprint("terms ", i), terms.Validate())
		for _, m := range terms.Limits[:min(2, len(terms.Limits))] {
			lines = append(lines, "  "+m.String())
		}
	}
	store := Memory()
	l := must[*Ledger](t)(store.Create(t.Context(), "a", Terms{Budget: b}))
	audit := must[*Ledger](t)(store.Audit(t.Context(), "a"))
	deep := must[*Ledger](t)(store.Create(t.Context(), "deep", Terms{Budget: b}))
	for at := 0; ; at++ {
		parts, err := deep.Disjoint(Parts{Purpose: "p", N: 1})
		if say(fmt.Sprint("depth ", at), err); err != nil {
			break
		}
		deep = parts[0]
	}
	e := accountant.Gaussian{NoiseMultiplier: 60}
	for i, at := range []*Ledger{l, New(b), audit, New(b, WithUnit("x")), New(b, WithFilter(8)),
		New(accountant.Budget{})} {
		for _, purpose := range []string{"", "a", "a\nb", " a", "\x00", "\xff", strings.Repeat("a", 4096),
			strings.Repeat("a", 4097)} {
			say(fmt.Sprint(i, " spend ", purpose), at.Spend(purpose, e))
			_, err := at.Disjoint(Parts{Purpose: purpose, N: 2})
			say("  parts", err)
		}
		for _, n := range []int{-1, 0, 1, 1 << 15, 1<<15 + 1} {
			_, err := at.Reserve("b", e, n)
			say(fmt.Sprint(i, " reserve ", n), err)
			_, err = at.Disjoint(Parts{Purpose: "b", N: n})
			say("  parts", err)
		}
		for k, line := range []Line{{}, {Purpose: "c", Event: e, Count: 1, Group: -1},
			{Purpose: "c", Event: e, Count: 1, Group: 1}, {Purpose: "c", Event: e, Count: 1, Part: 1},
			{Purpose: "c", Event: e, Count: 1, Taken: 2}, {Purpose: "c", Event: e, Count: 1, Taken: -1},
			{Purpose: "c", Event: e, Count: -1}, {Purpose: "c", Event: &e, Count: 1},
			{Purpose: "c", Event: e, Count: 1, Group: 2, Part: 1},
			{Purpose: "c", Event: e, Count: 1, Group: 2, Part: 2},
			{Purpose: "c", Event: e, Count: 1, Group: 2, Part: -1},
			{Purpose: "c", Event: e, Count: 1, Group: 3}} {
			tx := Transaction{Groups: []Parts{{Purpose: "g", N: 1}, {Purpose: "h", N: 2}},
				Lines: []Line{line}}
			say(fmt.Sprintf("%d affords %d", i, k), at.Affords(tx))
			_, err := at.ReserveAll(tx)
			say("  reserve", err)
		}
		_, err := at.ReserveAll(Transaction{ID: strings.Repeat("a", 300), Groups: []Parts{{N: 1}},
			Lines: []Line{{Purpose: "c", Event: e, Count: 1}}})
		say("long ID", err)
		_, err = at.ReserveAll(Transaction{ID: "x"})
		say("no lines", err)
		_, err = at.Resume("none", e)
		say("resume", err)
		say("compact", at.Compact())
		for _, r := range []Release{{}, {Plan: "x"}, {Plan: strings.Repeat("AB", 32)},
			{Artefact: strings.Repeat("ab", 32)}, {Transaction: "x", Lines: []uint64{1}},
			{Lines: []uint64{0}}, {Lines: []uint64{9, 2}}} {
			say(fmt.Sprintf("led to %+v", r), at.LedTo(r))
		}
		at.MarkNotPrivate("")
		lines = append(lines, fmt.Sprintf("  %q %q %s %d", at.NotPrivate(), at.Name(), at.Unit(),
			len(at.Releases())))
		lines = append(lines, masked(strings.ReplaceAll(at.Guarantee().String(), "\n", " + ")))
		say("close", at.Close())
		say("closed", at.Spend("a", e))
	}
	comparePins(t, "pins_refusals.txt", lines)
}

// TestPinsOfSpending: the cost so far of long reservations, whose uses are taken in unequal steps.
func TestPinsOfSpending(t *testing.T) {
	var lines []string
	for i, b := range []accountant.Budget{{Epsilon: 8, Delta: 1e-6},
		{Epsilon: 8, Delta: 1e-9, Relation: accountant.ReplaceOne}} {
		for _, opts := range [][]Option{nil, {WithFilter(6)}} {
			l := New(b, opts...)
			var held []*Reservation
			for k, e := range []accountant.Event{accountant.PoissonSampled{Probability: 0.01,
				Event: accountant.Gaussian{NoiseMultiplier: 2}}, accountant.Gaussian{NoiseMultiplier: 150},
				accountant.Laplace{Scale: 2000}} {
				held = append(held, must[*Reservation](t)(l.Reserve(fmt.Sprint("purpose ", k), e, 900)))
			}
			for n := 1; n < 300; n = n*7/4 + 1 {
				for k, r := range held {
					for range n * (k + 1) / 3 {
						if r.Spend() != nil {
							break
						}
					}
					lines = append(lines, fmt.Sprintf("%d %d %d: %.9g of %.9g, %d left", i, len(opts), n,
						l.EpsilonSoFar(), l.Epsilon().Upper, r.Remaining()))
				}
			}
			script, err := l.DPAccountingScript()
			lines = append(lines, digestOf(script), fmt.Sprint(err))
		}
	}
	for k := range 40 { // another order is the best for each
		l := New(accountant.Budget{Epsilon: 300, Delta: math.Pow(10, float64(-4-k%5))})
		r := must[*Reservation](t)(l.Reserve("noise", accountant.Gaussian{
			NoiseMultiplier: 2 * math.Pow(1.15, float64(k))}, 90))
		line := fmt.Sprint(k, ":")
		for range 23 {
			if err := r.Spend(); err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %.9g", l.EpsilonSoFar())
		}
		lines = append(lines, line)
	}
	comparePins(t, "pins_spending.txt", lines)
}
