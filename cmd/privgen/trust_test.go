package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

// TestModelCard: the card states the generator's guarantee.
func TestModelCard(t *testing.T) {
	s := fitted(t)
	card := s.run(0, "guarantee", "people.gen", "--markdown").stdout
	for _, words := range []string{"# Synthetic records", "ε = 1", "δ = 1e-05", "add_or_remove_one",
		"| mean embedding |", "does not cover", "| age | integer [17, 90] |"} {
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
	l := accountant.NewLedger(budget)
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

// TestComparisonIsAllOrNothing checks that plans are refused before any payment if each of them
// fits on the ledger alone, but not all together.
func TestComparisonIsAllOrNothing(t *testing.T) {
	s := withShortPlan(t)
	s.write("other.json", s.read("plan.json"))
	s.run(0, "ledger", "create", "people", "--epsilon", "1.2")
	e := s.run(exitBudget, "compare", "people.csv", "plan.json", "other.json", "--ledger", "people",
		"-o", "out")
	s.oneLine(e, "all plans together")
	left := decode[leftResult](t, s.run(0, "ledger", "left", "people", "--json").stdout)
	if left.Spent.Upper != 0 {
		t.Errorf("got spent ε = %v, want 0", left.Spent.Upper)
	}
}
