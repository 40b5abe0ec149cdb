package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

type ledgerJob struct {
	*app
	where  where
	budget accountant.Budget
	plan   string
	unit   string
}

func newLedger(a *app) *cobra.Command {
	j := &ledgerJob{app: a}
	c := &cobra.Command{
		Use:     "ledger",
		GroupID: "trust",
		Short:   "Create and inspect privacy budgets",
		Long: "A ledger holds the budget of one data set and everything that was spent from it. All " +
			"processes\nthat use the same store share its ledgers.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	j.where.storeFlag(c.PersistentFlags())
	c.AddCommand(j.list(), j.create(), j.show(), j.left(), j.verify())
	return c
}

// checkName checks the name of a ledger. Its error is about the argument, not about a field.
func checkName(name string) error {
	if ledger.ValidateName(name) != nil {
		return usagef("NAME: %.200q: want 1 to 128 of a-z, 0-9, '-', '_' and '.', the first a letter or "+
			"a digit", name)
	}
	return nil
}

// on returns a subcommand that opens the named ledger for reading.
func (j *ledgerJob) on(use, short, long string,
	do func(context.Context, string, *ledger.Ledger) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " NAME", Short: short, Long: long, Args: arguments("NAME"),
		ValidArgsFunction: j.completeName,
		RunE: j.action(func(c *cobra.Command, args []string) error {
			if err := checkName(args[0]); err != nil {
				return err
			}
			s, err := j.where.open()
			if err != nil {
				return err
			}
			l, err := s.Audit(c.Context(), args[0])
			if errors.Is(err, ledger.ErrNotFound) {
				return amongOthers(c.Context(), s, err)
			}
			if err != nil {
				return err
			}
			defer l.Close()
			return do(c.Context(), args[0], l)
		}),
	}
}

// amongOthers adds the names of the store's ledgers to an error about a name that it does not hold.
func amongOthers(ctx context.Context, s *ledger.Store, err error) error {
	names, nameErr := s.Names(ctx)
	if nameErr != nil || len(names) == 0 {
		return err
	}
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Errorf("%w: the store has %q and %d more", err, names[:most], more)
	}
	return fmt.Errorf("%w: the store has %q", err, names)
}

func (j *ledgerJob) completeName(c *cobra.Command, args []string, _ string) ([]string,
	cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return j.where.names(c.Context())
}

func (j *ledgerJob) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the ledgers of the store", Args: cobra.NoArgs,
		RunE: j.action(func(c *cobra.Command, _ []string) error {
			s, err := j.where.open()
			if err != nil {
				return err
			}
			names, err := s.Names(c.Context())
			if err != nil {
				return err
			}
			return j.result(listResult{append([]string{}, names...)}, func() string {
				return strings.Join(names, "\n")
			})
		}),
	}
}

// listResult is the output of list with --json.
type listResult struct {
	Ledgers []string `json:"ledgers"`
}

func (j *ledgerJob) create() *cobra.Command {
	c := &cobra.Command{
		Use: "create NAME", Short: "Create a ledger with the budget of one data set",
		Long: "Create makes a ledger. Its budget limits the total price of all releases about these " +
			"records.\nThe budget cannot be changed.",
		Example: "  privgen ledger create people --epsilon 3 --delta 1e-6",
		Args:    arguments("NAME"),
		RunE: j.action(func(c *cobra.Command, args []string) error {
			if err := checkName(args[0]); err != nil {
				return err
			}
			if err := checkBudget(j.budget); err != nil {
				return err
			}
			if j.unit != "" {
				if err := oneOf("unit", j.unit, records.UnitRecord, records.UnitUser); err != nil {
					return err
				}
			}
			s, err := j.where.open()
			if err != nil {
				return err
			}
			l, err := s.Create(c.Context(), args[0], ledger.Terms{Budget: j.budget, Unit: j.unit})
			if err != nil {
				return err
			}
			defer l.Close()
			return j.showLedger(c.Context(), args[0], l)
		}),
	}
	budgetFlags(c.Flags(), &j.budget, 1, 1e-5)
	c.Flags().StringVar(&j.unit, "unit", "", "`unit` that is protected: record (the default) or user")
	return c
}

func (j *ledgerJob) show() *cobra.Command {
	return j.on("show", "Show every reservation with its purpose and its price",
		"Show prints the guarantee of all reservations, line by line.", j.showLedger)
}

// showResult is the output of show and create with --json.
type showResult struct {
	Ledger    string           `json:"ledger"`
	Guarantee ledger.Guarantee `json:"guarantee"`
	Releases  []ledger.Release `json:"releases"`
}

func (j *ledgerJob) showLedger(_ context.Context, name string, l *ledger.Ledger) error {
	r := showResult{name, l.Guarantee(), append([]ledger.Release{}, l.Releases()...)}
	return j.result(r, func() string {
		text := fmt.Sprintf("ledger %s\n%v", name, r.Guarantee)
		for _, release := range r.Releases {
			text += fmt.Sprintf("\n  result with SHA-256 %.16s…, plan with SHA-256 %.16s…",
				release.Artefact, release.Plan)
		}
		return text
	})
}

func (j *ledgerJob) left() *cobra.Command {
	c := j.on("left", "Show the remaining budget of a ledger",
		"Left prints the budget, the spent ε, and the least noise with which one more Gaussian release\n"+
			"fits. It prints no remaining ε, since the ε of several releases do not simply add up. --plan\n"+
			"reports whether a plan fits. Others may spend budget before you do.", j.leftOf)
	c.Flags().StringVar(&j.plan, "plan", "", "plan `file`, to report whether it fits")
	c.MarkFlagFilename("plan", "json")
	return c
}

// leftResult is the output of left with --json.
type leftResult struct {
	Ledger string            `json:"ledger"`
	Budget accountant.Budget `json:"budget"`
	Spent  accountant.Bound  `json:"spent_epsilon"`
	// least noise multiplier of one Gaussian release that fits; 0 if none up to 1,000 fits
	Noise    float64 `json:"gaussian_noise_multiplier"`
	Plan     string  `json:"plan_file,omitempty"`
	PlanFits *bool   `json:"plan_fits,omitempty"`
}

func (j *ledgerJob) leftOf(_ context.Context, name string, l *ledger.Ledger) error {
	r := leftResult{Ledger: name, Budget: l.Budget(), Spent: l.Epsilon(), Plan: j.plan}
	var err error
	if r.Noise, err = leastNoise(l); err != nil {
		return err
	}
	if j.plan != "" {
		p, err := openPlan(j.plan)
		if err != nil {
			return err
		}
		fits, err := affords(l, synth.Total(p.Stages()...))
		if err != nil {
			return err
		}
		// Fit refuses a plan with another promise, at any price.
		fits = fits && p.Budget().Relation == l.Relation() &&
			cmp.Or(termsOf(p).Unit, records.UnitRecord) == l.Unit()
		r.PlanFits = &fits
	}
	return j.result(r, r.text)
}

func (r leftResult) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ledger %s\n", r.Ledger)
	fmt.Fprintf(&b, "  budget   ε = %-8g δ = %g, %v\n", r.Budget.Epsilon, r.Budget.Delta,
		r.Budget.Relation)
	fmt.Fprintf(&b, "  spent    ε ≤ %s\n", accountant.FormatUpper(r.Spent.Upper, 4))
	if r.Noise == 0 {
		b.WriteString("  left     nothing\n")
	} else {
		fmt.Fprintf(&b, "  left     one Gaussian release of noise multiplier %s or more\n",
			accountant.FormatUpper(r.Noise, 4))
	}
	if r.PlanFits != nil {
		answer := "does not fit"
		if *r.PlanFits {
			answer = "fits"
		}
		fmt.Fprintf(&b, "  plan     %s %s\n", r.Plan, answer)
	}
	return b.String()
}

// affords reports whether an event fits into the remaining budget.
func affords(l *ledger.Ledger, e accountant.Event) (bool, error) {
	err := l.Affords(ledger.Transaction{Lines: []ledger.Line{{Event: e, Count: 1}}})
	if errors.Is(err, accountant.ErrBudgetExceeded) {
		return false, nil
	}
	return err == nil, err
}

// leastNoise returns the least noise multiplier of a Gaussian release that fits, rounded up by at
// most one part in a thousand.
func leastNoise(l *ledger.Ledger) (float64, error) {
	fits := func(sigma float64) (bool, error) {
		return affords(l, accountant.Gaussian{NoiseMultiplier: sigma})
	}
	lo, hi := 0.01, 1000.0
	if good, err := fits(hi); err != nil || !good {
		return 0, err
	}
	for hi/lo > 1.001 {
		middle := lo + (hi-lo)/2
		if hi/lo > 4 {
			middle = 2 * lo
		}
		good, err := fits(middle)
		if err != nil {
			return 0, err
		}
		if good {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi, nil
}

func (j *ledgerJob) verify() *cobra.Command {
	return j.on("verify", "Check a ledger, line by line",
		"Verify reads every line of a ledger, checks the chain of hashes, and computes the price again\n"+
			"from the lines. It fails for a ledger that is damaged or restored from an older copy, "+
			fmt.Sprintf("with\nexit code %d.", exitLedger), j.verifyLedger)
}

// verifyResult is the output of verify with --json.
type verifyResult struct {
	Ledger string           `json:"ledger"`
	Lines  int              `json:"lines"`
	Hash   string           `json:"last_hash"`
	Spent  accountant.Bound `json:"spent_epsilon"`
	Budget float64          `json:"budget_epsilon"`
	Within bool             `json:"within_budget"`
}

// within reports whether the reservations are within the budget.
func (r verifyResult) within() bool { return r.Spent.Upper <= r.Budget }

func (j *ledgerJob) verifyLedger(ctx context.Context, name string, l *ledger.Ledger) error {
	s, err := j.where.open()
	if err != nil {
		return err
	}
	r := verifyResult{Ledger: name, Spent: l.Epsilon(), Budget: l.Budget().Epsilon}
	for line, err := range s.History(ctx, name) {
		if err != nil {
			return err
		}
		r.Lines, r.Hash = r.Lines+1, line.Hash
	}
	r.Within = r.within()
	err = j.result(r, func() string {
		return fmt.Sprintf("ledger %s: %d lines, all hashes correct, last hash %.16s…\n"+
			"recomputed: ε ≤ %s of a budget of %g", name, r.Lines, r.Hash,
			accountant.FormatUpper(r.Spent.Upper, 4), r.Budget)
	})
	if err == nil && !r.Within {
		return fmt.Errorf("ledger %q: the reservations exceed the budget: %w", name,
			ledger.ErrDamaged)
	}
	return err
}
