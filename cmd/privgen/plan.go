package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

type planJob struct {
	*app
	budget  accountant.Budget
	records int
	rows    int
	system  string
	seed    uint64
	anyway  bool
	out     string
}

// maker makes the plan of one system with its defaults.
type maker func(records.Schema, accountant.Budget, int, uint64) (privgen.Plan, error)

// systems lists the systems that --system accepts.
var systems = map[string]maker{
	"merf": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.MERF(s, b).Nominal(n).Seed(seed).Plan())
	},
	"ranks": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return compose.Ranks{Of: privgen.MERF(s, b).Nominal(n).Seed(seed), Seed: seed}.PlanFor(s, b)
	},
	"gan": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.GAN(s, b).Nominal(n).Seed(seed).Plan())
	},
	"dpgm": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.DPGM(s, b).Nominal(n).Seed(seed).Plan())
	},
	"mix": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.Mix(s, b).Nominal(n).Seed(seed).Plan())
	},
	"independent": func(s records.Schema, b accountant.Budget, n int,
		seed uint64) (privgen.Plan, error) {
		return made(privgen.Independent(s, b).Nominal(n).Seed(seed).Plan())
	},
	"mwem": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.MWEM(s, b).Nominal(n).Seed(seed).Plan())
	},
	"aim": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.AIM(s, b).Nominal(n).Seed(seed).Plan())
	},
	"mst": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return made(privgen.MST(s, b).Nominal(n).Seed(seed).Plan())
	},
	"pool": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return compose.Pool{Of: []privgen.Design{privgen.AIM(s, b).Nominal(n).Seed(seed),
			embedding(s, b, n, seed)}}.PlanFor(s, b)
	},
}

// embedding returns the chain of MERF on ranks, or of MERF for tables without numbers.
func embedding(s records.Schema, b accountant.Budget, n int, seed uint64) privgen.Design {
	of := privgen.MERF(s, b).Nominal(n).Seed(seed)
	if _, err := compose.RankSchema(s); err != nil {
		return of
	}
	return compose.Ranks{Of: of, Seed: seed}
}

// made converts a plan to the interface. If the plan could not be made, it returns a nil interface.
func made[P privgen.Plan](p P, err error) (privgen.Plan, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

func systemNames() (names []string) {
	for name := range systems {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func newPlan(a *app) *cobra.Command {
	j := &planJob{app: a}
	c := &cobra.Command{
		Use:     "plan SCHEMA",
		GroupID: "work",
		Short:   "Plan a fit: its system, its price, and the time and memory that it takes",
		Long: "Plan chooses all settings of a fit from public inputs alone: the schema, the budget and " +
			"the\napproximate number of records. It reads no record and spends nothing.\n\n" +
			"Without --system, plan uses the system that is recommended for such records.\n\n" +
			"A hashed column with an other level has open levels: a part of the budget then finds the " +
			"texts\nthat many records have, and all other texts become the other level.\n\n" +
			"SCHEMA may also describe several tables whose rows belong to each other. The plan then " +
			"protects a\nrow of the first table with all rows that belong to it, and --records counts rows " +
			"of that table.",
		Example: "  privgen plan schema.json --epsilon 1 --delta 1e-5 --records 30000 -o plan.json\n" +
			"  privgen plan schema.json --records 30000 --system gan --json",
		Args:              arguments("SCHEMA"),
		ValidArgsFunction: files("json"),
		RunE: a.action(func(_ *cobra.Command, args []string) error {
			return j.run(args[0])
		}),
	}
	f := c.Flags()
	budgetFlags(f, &j.budget, 1, 1e-5)
	f.IntVar(&j.records, "records", 0, "approximate `number` of records, which must be public")
	f.IntVar(&j.rows, "rows-per-person", 0,
		"protect persons with up to this `number` of rows each; --records then counts persons")
	f.StringVar(&j.system, "system", "auto",
		"`system`: "+listed(systemNames(), "or")+"; auto uses the recommended one")
	f.Uint64Var(&j.seed, "seed", 0, "with --system: seed of public randomness, a `number`; the noise has no seed")
	f.BoolVar(&j.anyway, "anyway", false, "plan even if the noise leaves nothing to learn")
	f.StringVarP(&j.out, "out", "o", "", "plan `file` to write; - for standard output, which then has no bill")
	c.MarkFlagRequired("records")
	c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(
		append(systemNames(), "auto"), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// planned is a plan with the reason for its choice.
type planned struct {
	System      string           `json:"system"`
	Recommended bool             `json:"recommended"`
	Reason      string           `json:"reason,omitempty"`
	Epsilon     accountant.Bound `json:"epsilon"`
	Predicted   string           `json:"predicted,omitempty"` // time and memory
}

// planResult is what --json prints.
type planResult struct {
	File   string            `json:"plan_file,omitempty"`
	Schema string            `json:"schema"` // a description in words
	Budget accountant.Budget `json:"budget"`
	planned
	Stages       json.RawMessage `json:"stages"`
	Alternatives []planned       `json:"alternatives"`
	Warning      string          `json:"warning,omitempty"`
}

func (j *planJob) check() error {
	if j.records < 1 {
		return usagef("--records: %d: want the approximate number of records, at least 1", j.records)
	}
	if j.rows < 0 {
		return usagef("--rows-per-person: %d: want a positive number of rows, or 0 to protect single rows",
			j.rows)
	}
	if err := oneOf("system", j.system, append(systemNames(), "auto")...); err != nil {
		return err
	}
	if j.asJSON && j.out == stdio {
		return usagef("--json: want --out, since standard output holds the plan file")
	}
	if int64(j.records) > 1<<31 {
		return usagef("--records: %d: want at most 2^31", j.records)
	}
	if j.rows > records.MostRows {
		return usagef("--rows-per-person: %d: want at most %d", j.rows, records.MostRows)
	}
	return checkGaussian(j.budget)
}

func (j *planJob) run(path string) error {
	if err := j.check(); err != nil {
		return err
	}
	text, err := readFile(path, mostPlan)
	if err != nil {
		return err
	}
	if t, several, err := tablesIn(path, text); several {
		if err != nil {
			return err
		}
		return j.runLinked(t)
	}
	s, err := records.ReadSchema(bytes.NewReader(text))
	if err != nil {
		return located(path, err)
	}
	if j.rows > 0 {
		s = s.ByPerson(j.rows)
	}
	list, err := privgen.Recommend(s, j.budget, j.records)
	var warnings []string
	if caution := j.budget.Caution(j.records); caution != "" {
		warnings = append(warnings, "this budget does not protect "+caution)
	}
	switch {
	case errors.Is(err, privgen.ErrNoise) && j.anyway:
		warnings = append(warnings, oneLine(err))
	case errors.Is(err, privgen.ErrNoise):
		return fmt.Errorf("%w (--anyway makes the plan in spite of this)", err)
	case err != nil:
		return err
	}
	p, chosen, err := j.choose(s, list)
	if err != nil {
		return err
	}
	r := planResult{planned: chosen, Alternatives: []planned{}, Warning: strings.Join(warnings, "; ")}
	for i, l := range list {
		if systemOf(l.Plan) != chosen.System {
			r.Alternatives = append(r.Alternatives, describe(l.Plan, l.Reason, i == 0))
		}
	}
	return j.end(p, r)
}

// end writes the plan and its bill.
func (j *planJob) end(p privgen.Plan, r planResult) (err error) {
	if j.out != "" {
		if err := j.write(p); err != nil || j.out == stdio {
			return err
		}
	}
	r.File, r.Schema, r.Budget = j.out, p.Schema().String(), j.budget
	if r.Stages, err = json.Marshal(p.Stages()); err != nil {
		return err
	}
	return j.result(r, func() string { return r.text(p) })
}

// choose returns the plan of the chosen system.
func (j *planJob) choose(s records.Schema, list []privgen.Recommendation) (privgen.Plan, planned,
	error) {
	if j.system == "auto" {
		return list[0].Plan, describe(list[0].Plan, list[0].Reason, true), nil
	}
	p, err := compose.Levels{Of: asked{j, systems[j.system]}}.PlanFor(s, j.budget)
	if err != nil {
		return nil, planned{}, err
	}
	for i, l := range list {
		if systemOf(l.Plan) == j.system {
			return p, describe(p, l.Reason, i == 0), nil
		}
	}
	return p, describe(p, "", false), nil
}

// asked is the system of --system as the part of a composition.
type asked struct {
	job  *planJob
	make maker
}

// PlanFor implements [privgen.Design].
func (d asked) PlanFor(s records.Schema, b accountant.Budget) (privgen.Plan, error) {
	return d.make(s, b, d.job.records, d.job.seed)
}

// systemOf returns the name of a plan's system, without the composition that finds open levels.
func systemOf(p privgen.Plan) string {
	if of, ok := synth.WorkOf(p).(synth.Nested); ok && p.System() == "levels" {
		return of.Plans()[0].System()
	}
	return p.System()
}

func describe(p privgen.Plan, reason string, first bool) planned {
	out := planned{System: systemOf(p), Recommended: first, Reason: reason, Epsilon: p.Total()}
	for line := range strings.Lines(p.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "predicted: "); ok {
			out.Predicted = text
		}
	}
	return out
}

func (r planResult) text(p privgen.Plan) string {
	var b strings.Builder
	fmt.Fprintln(&b, p)
	if r.Reason != "" {
		fmt.Fprintf(&b, "\nwhy %s: %s\n", r.System, r.Reason)
	}
	for _, other := range r.Alternatives {
		place := "or"
		if other.Recommended {
			place = "recommended"
		}
		fmt.Fprintf(&b, "%s --system %s: %s\n", place, other.System, other.Reason)
	}
	if r.Warning != "" {
		fmt.Fprintf(&b, "warning: %s\n", r.Warning)
	}
	b.WriteString("\n" + explained(b.String()))
	if r.File != "" {
		fmt.Fprintf(&b, "\nplan written to %s; nothing was spent\n", r.File)
	}
	return b.String()
}

func (j *planJob) write(p privgen.Plan) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return j.saveJSON(j.out, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// mostPlan is the largest plan file, as for schemas.
const mostPlan = 16 << 20

// openPlan reads a plan file.
func openPlan(path string) (privgen.Plan, error) {
	text, err := readFile(path, mostPlan)
	if err != nil {
		return nil, err
	}
	p, err := privgen.ReadPlan(text)
	if e := (*param.Error)(nil); errors.Is(err, privgen.ErrFormat) ||
		errors.As(err, &e) && e.Path == "synth.Plan.version" {
		return nil, inputf("%s: want a plan, as privgen plan writes it: %w", path, err)
	}
	if err != nil {
		return nil, located(path, err)
	}
	return p, nil
}
