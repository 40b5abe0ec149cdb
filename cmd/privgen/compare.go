package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/synth"
)

type compareJob struct {
	*app
	in       layout
	where    where
	holdout  string
	settings report.Settings
	workers  int
	out      string
	force    bool
}

func newCompare(a *app) *cobra.Command {
	j := &compareJob{app: a}
	c := &cobra.Command{
		Use:     "compare RECORDS PLAN...",
		GroupID: "work",
		Short:   "Fit several plans on one ledger and report on them side by side",
		Long: "Compare fits every plan to the same private records on one ledger. Nothing is spent " +
			"unless the\nledger has room for all plans together. Compare writes a generator, a checkpoint " +
			"and a report for\neach plan into a folder, and a page and a JSON file that compare them with " +
			"held-out real records,\nwith the most frequent class and with independent columns. After an " +
			"interruption, run the same\ncommand again to continue.\n\nThe reports are not private. " +
			"Choosing a system by them is a further release, which no ε covers.",
		Example: "  privgen ledger create people --epsilon 2\n" +
			"  privgen compare people.csv merf.json gan.json --ledger people --holdout others.csv -o out",
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: files("json", "csv", "gz", "zst", "xlsx", "jsonl", "parquet", "npz"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args[0], args[1:])
		}),
	}
	f := c.Flags()
	j.where.plans = true
	j.where.flags(c)
	f.MarkHidden("new-ledger")
	j.in.flags(f)
	f.StringVar(&j.holdout, "holdout", "", "`file` of real records that no generator has seen")
	f.IntVar(&j.settings.Rows, "rows", 0, "`number` of records of each kind to compare; 0 for 50,000")
	f.IntVar(&j.settings.Train, "train", 0,
		"`number` of records of each kind to train classifiers on; 0 for 10,000")
	f.Uint64Var(&j.settings.Seed, "seed", 0, "seed of the draws of records and groups, a `number`")
	f.IntVar(&j.workers, "workers", 0, "processor `cores` to use; 0 for all")
	f.StringVarP(&j.out, "out", "o", "", "`folder` to write the results to")
	f.BoolVar(&j.force, "force", false, "replace the pages of a comparison of other plans")
	c.MarkFlagRequired("out")
	return c
}

// entrant is one plan of a comparison.
type entrant struct {
	name string
	plan privgen.Plan
	gen  *privgen.Generator
	page *report.Report
}

// comparison is what --json prints, and what compare.json holds.
type comparison struct {
	Caveat    string           `json:"caveat"`
	Ledger    string           `json:"ledger"`
	Guarantee ledger.Guarantee `json:"guarantee"` // the guarantee of all generators together
	Systems   []compared       `json:"systems"`
	// figures by name, of held-out real records or of classifiers trained on real records
	HeldOut  map[string]report.Number `json:"held_out"`
	Majority report.Number            `json:"majority_accuracy"`
	// accuracy of a classifier trained on real records whose columns were shuffled independently
	Independent report.Number `json:"independent_columns_accuracy"`
}

type compared struct {
	Name      string                   `json:"name"`
	System    string                   `json:"system"`
	Epsilon   float64                  `json:"plan_epsilon"`
	Generator string                   `json:"generator_file"`
	Report    string                   `json:"report_file"`
	Figures   map[string]report.Number `json:"figures"`
}

func (j *compareJob) run(ctx context.Context, path string, plans []string) error {
	if err := checkWorkers(j.workers); err != nil {
		return err
	}
	list, err := entrants(plans)
	if err != nil {
		return err
	}
	s := list[0].plan.Schema()
	if err := j.in.checkRows(s); err != nil {
		return err
	}
	data, err := j.read(path, j.in, s)
	if err != nil {
		return err
	}
	var held records.Data
	if j.holdout != "" {
		if held, err = j.readReal(j.holdout, j.in, s); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return err
	}
	if err := j.writable(list); err != nil {
		return err
	}
	j.warnStrays(path, data)
	j.where.make = false
	l, err := j.where.use(j.app, ctx, ledger.Terms{})
	if err != nil {
		return err
	}
	defer l.Close()
	if err := j.fit(ctx, l, data, list); err != nil {
		return err
	}
	for i := range list {
		if err := j.judge(ctx, &list[i], data, held); err != nil {
			return err
		}
	}
	j.warnAgain()
	return j.finish(l, list)
}

// entrants reads the plans. Each plan has the name of its file.
func entrants(files []string) (list []entrant, err error) {
	seen := map[string]bool{"compare": true} // the page of the comparison has this name
	for _, file := range files {
		e := entrant{name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))}
		if e.plan, err = openPlan(file); err != nil {
			return nil, err
		}
		name := strings.ToLower(e.name) // some file systems do not distinguish capitals
		if seen[name] {
			return nil, usagef("%s: the results of %q would replace other results of the command: want "+
				"another file name", file, e.name)
		}
		seen[name] = true
		s, first := e.plan.Schema(), list0(list, e).plan.Schema()
		if !s.Equal(first) || s.RowsPerPerson() != first.RowsPerPerson() {
			return nil, inputf("%s: the schema or the number of rows per person differs from that of %s", file,
				files[0])
		}
		if released := (synth.Inner{Plan: e.plan}).Releases(); released.Classes() != s.Classes() {
			return nil, inputf("%s: %s draws records without classes, which no report compares with the "+
				"real records: want another system", file, e.plan.System())
		}
		list = append(list, e)
	}
	return list, nil
}

func list0(list []entrant, e entrant) entrant {
	if len(list) == 0 {
		return e
	}
	return list[0]
}

// writable reports, before anything is spent, whether every result can be written.
func (j *compareJob) writable(list []entrant) error {
	names := []string{"compare.json", "compare.html"}
	for _, e := range list {
		names = append(names, e.name+".gen", e.name+".html")
	}
	for _, name := range names {
		if err := j.paid(j.path(name), j.where.files()...); err != nil {
			return err
		}
	}
	return j.another(list)
}

// another returns an error if the folder holds the pages of a comparison of other plans, which this
// one would replace. The same comparison writes the same pages again.
func (j *compareJob) another(list []entrant) error {
	path := j.path("compare.json")
	if j.force || !exists(path) {
		return nil
	}
	text, err := readFile(path, mostPlan)
	if err != nil {
		return err
	}
	var old comparison
	same := func(c compared, e entrant) bool { return c.Name == e.name }
	if param.Decode(text, &old) != nil || !slices.EqualFunc(old.Systems, list, same) {
		return usagef("--out: %s holds another comparison: want another folder, or --force to replace its "+
			"pages", path)
	}
	return nil
}

func (j *compareJob) path(name string) string { return filepath.Join(j.out, name) }

func (j *compareJob) generator(e entrant) string { return j.path(e.name + ".gen") }

func (j *compareJob) checkpoint(e entrant) string { return j.generator(e) + ".ckpt" }

// fit makes all generators if the ledger has enough budget for all that it does not hold yet.
func (j *compareJob) fit(ctx context.Context, l *ledger.Ledger, data records.Data,
	list []entrant) error {
	var all []ledger.Transaction
	for _, e := range list {
		t, _, err := pending(ctx, e.plan, l, data, j.generator(e), false,
			options(j.checkpoint(e), j.workers)...)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		all = append(all, t)
	}
	if err := l.Affords(all...); err != nil {
		return fmt.Errorf("all plans together: %w", err)
	}
	for i, e := range list {
		var err error
		list[i].gen, err = j.fitTo(ctx, e.plan, l, data, j.generator(e), false,
			options(j.checkpoint(e), j.workers)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// judge writes the report on one generator.
func (j *compareJob) judge(ctx context.Context, e *entrant, real, held records.Data) (err error) {
	in := report.Input{Title: e.name, Generator: e.gen, Plan: e.plan, Real: real, HeldOut: held}
	if e.page, err = report.Compute(ctx, in, j.settings); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return j.save(j.path(e.name+".html"), e.page.WriteHTML)
}

func (j *compareJob) finish(ledger *ledger.Ledger, list []entrant) error {
	out := comparison{Caveat: report.Caveat, Ledger: j.where.ledger, Guarantee: ledger.Guarantee(),
		HeldOut: map[string]report.Number{}, Majority: none, Independent: none}
	for _, e := range list {
		c := compared{Name: e.name, System: e.plan.System(), Epsilon: e.plan.Total().Upper,
			Generator: j.generator(e), Report: j.path(e.name + ".html"),
			Figures: map[string]report.Number{}}
		for _, f := range figures {
			synthetic, held := f.of(e.page)
			if !synthetic.IsNone() {
				c.Figures[f.key] = synthetic
			}
			if !held.IsNone() {
				out.HeldOut[f.key] = held
			}
		}
		if k := e.page.Classifiers; k != nil {
			out.Majority, out.Independent = k.Majority.Accuracy, k.Independent.Accuracy
		}
		out.Systems = append(out.Systems, c)
	}
	if err := j.save(j.path("compare.json"), out.writeJSON); err != nil {
		return err
	}
	if err := j.save(j.path("compare.html"), out.writeHTML); err != nil {
		return err
	}
	return j.result(out, func() string { return j.path("compare.html") + "\n" + out.text() })
}
