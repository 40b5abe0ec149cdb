package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestModelCard: the card states the generator's guarantee.
func TestModelCard(t *testing.T) {
	s := fitted(t)
	card := s.run(0, "guarantee", "people.gen", "--markdown").stdout
	for _, words := range []string{"# Synthetic records", "ε = 1", "δ = 1e-05", "add_or_remove_one",
		"| mean embedding |", "does not cover",
		"| trust model | Who is trusted with the records? |", "| age | integer [17, 90] |"} {
		if !strings.Contains(card, words) {
			t.Errorf("the card does not contain %q:\n%s", words, card)
		}
	}
}

// TestDamagedLedger: a changed line and a removed line have their own exit code.
func TestDamagedLedger(t *testing.T) {
	s := fitted(t)
	journal := filepath.Join("ledgers", "people", "journal")
	whole := s.read(journal)
	for name, text := range map[string]string{
		"changed":   strings.Replace(whole, "mean embedding", "mean embeddinq", 1),
		"cut short": whole[:strings.LastIndex(strings.TrimSpace(whole), "\n")+1],
	} {
		if text == whole {
			t.Fatalf("%s: the test did not change the file", name)
		}
		s.write(journal, text)
		s.oneLine(s.run(exitLedger, "ledger", "verify", "people"), "people")
		os.Remove(s.path("people.gen"))
		s.run(exitLedger, "fit", "plan.json", "people.csv", "--ledger", "people", "-o", "b.gen")
		s.write(journal, whole)
	}
	s.run(0, "ledger", "verify", "people")
}

// TestWhatIsLeft checks the noise that the subcommand left prints: a release with this noise fits,
// and a release with less noise does not fit.
func TestWhatIsLeft(t *testing.T) {
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	l := ledger.New(budget)
	if err := l.Spend("first", accountant.Gaussian{NoiseMultiplier: 4}); err != nil {
		t.Fatal(err)
	}
	noise, err := leastNoise(l)
	if err != nil {
		t.Fatal(err)
	}
	if good, err := affords(l, accountant.Gaussian{NoiseMultiplier: noise}); err != nil || !good {
		t.Errorf("a release of noise multiplier %v does not fit: %v", noise, err)
	}
	good, err := affords(l, accountant.Gaussian{NoiseMultiplier: noise / 1.01})
	if err != nil || good {
		t.Errorf("a release with less noise than %v fits too, error %v", noise, err)
	}
	if err := l.Spend("all", accountant.Gaussian{NoiseMultiplier: noise}); err != nil {
		t.Fatal(err)
	}
	if noise, err := leastNoise(l); err != nil || noise != 0 && noise < 20 {
		t.Errorf("got noise %v for a spent ledger, want 0; error %v", noise, err)
	}
}

// TestPlansThatFit checks the answer whether a plan fits, before and after a fit.
func TestPlansThatFit(t *testing.T) {
	s := withShortPlan(t)
	s.run(0, "ledger", "create", "people", "--epsilon", "1")
	left := []string{"ledger", "left", "people", "--plan", "plan.json", "--json"}
	if r := decode[leftResult](t, s.run(0, left...).stdout); !*r.PlanFits {
		t.Error("the plan does not fit an untouched ledger of its own budget")
	}
	s.run(0, "fit", "plan.json", "people.csv", "--ledger", "people", "-o", "a.gen")
	if r := decode[leftResult](t, s.run(0, left...).stdout); *r.PlanFits {
		t.Error("the plan fits a second time")
	}
	for _, other := range [][]string{{"--relation", "replace_one"}, {"--unit", "user"}} {
		s.run(0, append([]string{"ledger", "create", other[1], "--epsilon", "9"}, other...)...)
		left[2] = other[1]
		if r := decode[leftResult](t, s.run(0, left...).stdout); *r.PlanFits {
			t.Errorf("a plan fits a ledger with %v, on which fit refuses it", other)
		}
	}
}

// TestAuditRefutesAFalseClaim audits a plan of ε = 1000 that claims 0.1. All 256 guesses of eight
// audits were right, so a guess is wrong with probability below 2 %. The claim would pass if eight
// of 32 guesses were wrong, which has probability below 1e-6.
func TestAuditRefutesAFalseClaim(t *testing.T) {
	var list []records.Column
	for i := range 16 {
		list = append(list, records.Categorical(fmt.Sprint("c", i), strings.Split("abcdefgh", "")...))
	}
	schema, err := records.NewSchema(list...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := privgen.MERF(schema, accountant.Budget{Epsilon: 1000, Delta: 1e-5}).Nominal(100000).
		Train(merf.GeneratorConfig{Steps: 400, Batch: 256}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	j := &auditJob{app: &app{quiet: true}, canaries: 100, samples: 5000, falseAlarm: 0.01, seed: 1}
	r, err := j.audit(context.Background(), p, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Refuted || r.Bound <= 0.1 {
		t.Errorf("a plan of ε = 1000 that claims 0.1 is not refuted: %+v", r)
	}
	if honest, _ := j.audit(context.Background(), p, 1000); honest.Refuted {
		t.Errorf("a true claim is refuted: %+v", honest)
	}
}

// TestAuditEndsWithItsContext: an audit whose training is cancelled returns an error.
func TestAuditEndsWithItsContext(t *testing.T) {
	schema, err := openSchema(writeTemp(t, peopleSchema))
	if err != nil {
		t.Fatal(err)
	}
	p, err := privgen.MERF(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).Nominal(300).Plan()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	j := &auditJob{app: &app{quiet: true}, canaries: 50, samples: 500, falseAlarm: 0.01}
	if _, err := j.audit(ctx, p, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func writeTemp(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWithinItsBudget(t *testing.T) {
	for spent, within := range map[float64]bool{0: true, 1: true, 1.0000001: false} {
		r := verifyResult{Spent: accountant.Bound{Upper: spent}, Budget: 1}
		if r.within() != within {
			t.Errorf("ε = %v of a budget of 1: within returns %v", spent, !within)
		}
	}
}

// TestGeneratorsAreNotReplaced: an existing generator is replaced only if a checkpoint holds it or
// --force is given.
func TestGeneratorsAreNotReplaced(t *testing.T) {
	s := fitted(t)
	s.run(0, "ledger", "create", "more", "--epsilon", "3")
	fit := []string{"fit", "plan.json", "people.csv", "--ledger", "more", "-o", "people.gen",
		"--no-checkpoint"}
	before := s.read("people.gen")
	s.oneLine(s.run(exitUsage, fit...), "--force")
	if s.read("people.gen") != before {
		t.Error("the generator was replaced")
	}
	s.run(0, append(fit, "--force")...)
	if s.read("people.gen") == before {
		t.Error("--force does not replace the generator")
	}
}

// TestForceMakesNoOldResult checks that --force is refused if a finished run would only return its
// old result for other records, and that a result of another run is not replaced because some
// checkpoint exists.
func TestForceMakesNoOldResult(t *testing.T) {
	s := fitted(t)
	before, people := s.read("people.gen"), s.read("people.csv")
	s.write("others.csv", people[:strings.LastIndex(strings.TrimSpace(people), "\n")+1])
	ledger := s.run(0, "ledger", "show", "people", "--json").stdout
	fit := []string{"fit", "plan.json", "others.csv", "--ledger", "people", "-o", "people.gen"}
	s.oneLine(s.run(exitUsage, append(fit, "--force")...), "finished run")
	s.run(0, fit...) // the same command changes nothing
	if s.read("people.gen") != before {
		t.Error("the generator was replaced")
	}
	s.write("other.gen", "a paid result")
	fit = append(fit[:len(fit)-1], "other.gen", "--checkpoint", "people.gen.ckpt")
	s.oneLine(s.run(exitUsage, fit...), "not the result of this run")
	if s.read("other.gen") != "a paid result" {
		t.Error("the result of another run was replaced")
	}
	if s.run(0, "ledger", "show", "people", "--json").stdout != ledger {
		t.Error("something was paid")
	}
}

// TestComparisonIsAllOrNothing checks that a comparison is refused before any payment if the ledger
// has no room for all plans together, or if a fit or a file of one plan would be refused later. The
// ledger has room for the first plan alone.
func TestComparisonIsAllOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		says   string
		second string // name of the second plan
		before func(s *session)
	}{
		"no room": {exitBudget, "all plans together", "other.json", func(*session) {}},
		"a checkpoint without a reservation": {exitBudget, "all plans together", "other.json",
			func(s *session) { s.unreserved("other.json", "out/other.gen.ckpt") }},
		"a damaged checkpoint": {exitInput, "other", "other.json",
			func(s *session) { s.write("out/other.gen.ckpt", "damaged") }},
		"a paid generator": {exitUsage, "want another name", "other.json",
			func(s *session) { s.write("out/other.gen", "paid") }},
		"pages of other plans": {exitUsage, "--force", "other.json",
			func(s *session) { s.write("out/compare.json", `{"systems":[{"name":"plan"}]}`) }},
		"a file of another kind": {exitUsage, "another comparison", "other.json",
			func(s *session) { s.write("out/compare.json", "[]") }},
		"a system without classes": {exitInput, "without classes", "dpgm.json", func(s *session) {
			_ = os.Remove(s.path("dpgm.json"))
			s.run(0, "plan", "schema.json", "--records", "3000", "--system", "dpgm", "-o", "dpgm.json")
		}},
		"the name of the page":    {exitUsage, "compare", "compare.json", func(*session) {}},
		"a name with capitals":    {exitUsage, "PLAN", "PLAN.json", func(*session) {}},
		"one name in two folders": {exitUsage, "plan", "out/plan.json", func(*session) {}},
	} {
		t.Run(name, func(t *testing.T) {
			s := withShortPlan(t)
			if err := os.Mkdir(s.path("out"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.write(c.second, s.read("plan.json"))
			s.run(0, "ledger", "create", "people", "--epsilon", "1.2")
			c.before(s)
			s.oneLine(s.run(c.code, "compare", "people.csv", "plan.json", c.second, "--ledger", "people",
				"-o", "out"), c.says)
			left := decode[leftResult](t, s.run(0, "ledger", "left", "people", "--json").stdout)
			if left.Spent.Upper != 0 {
				t.Errorf("got spent ε = %v, want 0", left.Spent.Upper)
			}
		})
	}
}

// TestPagesOfTheSameComparisonAreReplaced: a comparison can be repeated. Another one is replaced
// by --force.
func TestPagesOfTheSameComparisonAreReplaced(t *testing.T) {
	j := &compareJob{app: &app{}, out: t.TempDir()}
	list := []entrant{{name: "a"}, {name: "b"}}
	pages := `{"ledger": "people", "systems": [{"name": "a"}, {"name": "b"}]}`
	if err := os.WriteFile(j.path("compare.json"), []byte(pages), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.another(list); err != nil {
		t.Error(err)
	}
	if err := j.another(list[:1]); err == nil {
		t.Error("pages of other plans are replaced")
	}
	j.force = true
	if err := j.another(list[:1]); err != nil {
		t.Error(err)
	}
}

// unreserved leaves a checkpoint as a run does whose reservation failed without a known outcome.
// The ledger does not hold the reservation.
func (s *session) unreserved(plan, checkpoint string) {
	s.Helper()
	p, err := openPlan(s.path(plan))
	if err != nil {
		s.Fatal(err)
	}
	data, err := records.CSV{Header: true}.OpenFrame(s.path("people.csv"), p.Schema())
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	l, err := ledger.Dir(s.path("ledgers")).Open(ctx, "people")
	if err != nil {
		s.Fatal(err)
	}
	defer l.Close()
	cancel()
	_, err = p.FitOn(s.Context(), l, data, privgen.Checkpoint(s.path(checkpoint)))
	if !errors.Is(err, context.Canceled) || !exists(s.path(checkpoint)) {
		s.Fatalf("got %v, want an unknown outcome and a checkpoint", err)
	}
}

// TestRepeatedCommands: a command that is repeated after its end neither pays again nor changes its
// result or the ledger.
func TestRepeatedCommands(t *testing.T) {
	s := fitted(t)
	s.run(0, "ledger", "create", "more", "--epsilon", "3")
	for _, c := range []struct {
		code   int // of the repeated command
		result string
		args   []string
	}{
		{0, "people.gen", []string{"fit", "plan.json", "people.csv", "-o", "people.gen"}},
		{0, "out/plan.gen", []string{"compare", "people.csv", "plan.json", "-o", "out"}},
		{exitUsage, "narrow.json", []string{"draft", "people.csv", "--candidates", "schema.json", "-o",
			"narrow.json"}},
		{exitUsage, "figures.json", []string{"fidelity", "people.gen", "people.csv", "-n", "500", "-o",
			"figures.json"}},
	} {
		ledger := "more"
		if c.result == "people.gen" {
			ledger = "people"
		}
		args := append(c.args, "--ledger", ledger)
		s.run(0, args...)
		result, journal := s.read(c.result), s.read("ledgers/"+ledger+"/journal")
		e := s.run(c.code, args...)
		if c.code != 0 {
			s.oneLine(e, "pay again", "want another name")
		}
		if s.read(c.result) != result || s.read("ledgers/"+ledger+"/journal") != journal {
			t.Errorf("%s: the result or the ledger has changed", args[0])
		}
	}
}

// pointless is a model that draws nothing.
type pointless struct{ synth.Model }

func (pointless) Schema() records.Schema { return records.Interval(2, 0, 1) }

// forgery matches a heading or a claim in place of a line, a tag, and the end of a cell that a text
// holds.
var forgery = regexp.MustCompile(`(?m)^(- )?#+ (Forged|\W)|^ε = 0|[^\\]<h2|[^\\](\\\\)*\| y|[^\\](\\\\)+\|`)

// TestModelCardsAreNotForged: no text of a generator's file begins a line of its card, a tag or
// a cell, and a card without a guarantee states no ε.
func TestModelCardsAreNotForged(t *testing.T) {
	const lines = "x\n\n## Forged | y\n\nε = 0\n"
	words := `# \| ` + strings.Repeat("<h2> ## Forged ", 40) // some of them at each width of a page
	hash := strings.Repeat("0", 64)
	for _, reason := range []string{"", lines, words} {
		forged := cmp.Or(reason, lines)
		g := ledger.Guarantee{Epsilon: 1, Delta: 1e-5, Unit: "record", Accountant: forged,
			NotCovered: []string{forged}, Kept: &ledger.Kept{Store: forged, Ledger: forged,
				Position: ledger.Position{Line: 1, Hash: hash}},
			Entries: []ledger.GuaranteeEntry{{Purpose: forged, Description: forged, Reserved: 1,
				NoiseClass: []ledger.NoiseClass{ledger.NoiseClass(forged)}}}, NotPrivate: reason}
		card := modelCard(synth.NewGenerator("forged", pointless{}, g))
		if sign := forgery.FindString(card); sign != "" {
			t.Errorf("%q of a text of the file in the card:\n%s", sign, card)
		}
		if satisfied := strings.Contains(card, "satisfies (ε = "); satisfied != (reason == "") {
			t.Errorf("not private: %q, and the card states an ε: %v", reason, satisfied)
		}
	}
}
