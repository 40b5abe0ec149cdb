package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/privacytest"
)

type auditJob struct {
	*app
	canaries   int
	falseAlarm float64
	samples    int
	seed       uint64
}

func newAudit(a *app) *cobra.Command {
	j := &auditJob{app: a}
	c := &cobra.Command{
		Use:     "audit PLAN",
		GroupID: "trust",
		Short:   "Test a plan's claim on made-up data",
		Long: "Audit runs a plan on made-up records, the canaries. Each canary is included with " +
			"probability\none half, and the audit guesses from the synthetic records which ones were " +
			"included. The number of\nright guesses proves a lower bound on ε (Steinke, Nasr and " +
			"Jagielski 2023). A bound above the plan's\nε contradicts the claim" + fmt.Sprintf(
			" and ends with exit code %d; a bound below it proves nothing.\n\n", exitRefuted) +
			"The audit reads no real record and needs no ledger.",
		Example:           "  privgen audit plan.json --canaries 500",
		Args:              arguments("PLAN"),
		ValidArgsFunction: files("json"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args[0])
		}),
	}
	f := c.Flags()
	f.IntVar(&j.canaries, "canaries", 300, "`number` of made-up records")
	f.IntVar(&j.samples, "samples", 5000, "`number` of synthetic records to draw and examine")
	f.Float64Var(&j.falseAlarm, "false-alarm", 0.01, "`probability` that the bound is wrong")
	f.Uint64Var(&j.seed, "seed", 1, "seed of the made-up records, a `number`; the noise has no seed")
	return c
}

// The made-up and the synthetic records of an audit are in memory as numbers, and are compared in
// pairs.
const (
	mostAudited        = 100_000
	mostAuditedNumbers = 1 << 27
)

// auditResult is what --json prints.
type auditResult struct {
	Plan       string  `json:"plan_file"`
	Canaries   int     `json:"canaries"`
	Guesses    int     `json:"guesses"`
	Correct    int     `json:"correct"`
	Bound      float64 `json:"epsilon_lower_bound"`
	Claimed    float64 `json:"epsilon_claimed"`
	Delta      float64 `json:"delta"`
	FalseAlarm float64 `json:"false_alarm"`
	Refuted    bool    `json:"refuted"`
}

func (j *auditJob) run(ctx context.Context, path string) error {
	switch {
	case j.canaries < 10:
		return usagef("--canaries: %d: want at least 10 made-up records", j.canaries)
	case j.samples < 100:
		return usagef("--samples: %d: want at least 100 synthetic records", j.samples)
	case !(j.falseAlarm > 0 && j.falseAlarm < 1):
		return usagef("--false-alarm: %g: want a probability between 0 and 1", j.falseAlarm)
	}
	p, err := openPlan(path)
	if err != nil {
		return err
	}
	if p.Budget().Relation != accountant.AddOrRemoveOne {
		return inputf("%s: the audit adds and removes records: want a plan under the relation %v, got %v", path,
			accountant.AddOrRemoveOne, p.Budget().Relation)
	}
	most := min(mostAudited, mostAuditedNumbers/max(p.Schema().Dim()+p.Schema().Classes(), 1))
	switch want := fmt.Sprintf("want at most %d records of this plan", most); {
	case j.canaries > most:
		return usagef("--canaries: %d: %s", j.canaries, want)
	case j.samples > most:
		return usagef("--samples: %d: %s", j.samples, want)
	}
	r, err := j.audit(ctx, p, p.Total().Upper)
	if err != nil {
		return err
	}
	r.Plan = path
	err = j.result(r, func() string {
		return fmt.Sprintf("audit of %s on %d made-up records\n"+
			"  right guesses   %d of %d\n"+
			"  proven          ε ≥ %s, wrong with probability at most %g\n"+
			"  claimed         ε ≤ %s at δ = %g\n"+
			"  verdict         %s", path, r.Canaries, r.Correct, r.Guesses,
			accountant.FormatLower(r.Bound, 4), r.FalseAlarm, accountant.FormatUpper(r.Claimed, 4), r.Delta,
			verdict(r.Refuted))
	})
	if err == nil && r.Refuted {
		return fmt.Errorf("%s: ε ≥ %s is proven, ε ≤ %s is claimed: %w", path,
			accountant.FormatLower(r.Bound, 4), accountant.FormatUpper(r.Claimed, 4), errRefuted)
	}
	return err
}

func verdict(refuted bool) string {
	if refuted {
		return "the claim is false"
	}
	return "the audit does not contradict the claim, which does not prove the claim"
}

// audit trains once and guesses which canaries were included.
func (j *auditJob) audit(ctx context.Context, p privgen.Plan, claimed float64) (r auditResult,
	err error) {
	rng := rand.New(rand.NewPCG(j.seed, 0x63616e617279))
	canaries, err := madeUp(p.Schema(), j.canaries, rng)
	if err != nil {
		return r, err
	}
	meter := j.meter()
	defer meter.end()
	failed := error(nil)
	one := privacytest.OneRun{Canaries: j.canaries, Guesses: j.canaries / 3,
		Delta: p.Budget().Delta, FalseAlarm: j.falseAlarm,
		Train: func(planted []bool) ([]float64, error) {
			var scores []float64
			scores, failed = j.train(ctx, p, canaries, planted, rng, meter)
			return scores, failed
		}}
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case stopped:
			if err = failed; err == nil {
				err = stop
			}
		default:
			panic(stop)
		}
	}()
	a := one.Audit(auditor{})
	return auditResult{Canaries: j.canaries, Guesses: a.Guesses, Correct: a.Correct, Bound: a.Epsilon,
		Claimed: claimed, Delta: p.Budget().Delta, FalseAlarm: j.falseAlarm,
		Refuted: a.Epsilon > claimed}, nil
}

// auditor collects the failures of an audit and returns them to its caller.
type auditor struct{ testing.TB }

// stopped is the panic value that ends an audit.
type stopped struct{ error }

func (auditor) Helper() {}

func (auditor) Fatalf(format string, args ...any) { panic(stopped{fmt.Errorf(format, args...)}) }
