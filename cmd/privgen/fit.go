package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

type fitJob struct {
	*app
	in           layout
	where        where
	out          string
	checkpoint   string
	noCheckpoint bool
	force        bool
	workers      int
}

func newFit(a *app) *cobra.Command {
	j := &fitJob{app: a}
	c := &cobra.Command{
		Use:     "fit PLAN RECORDS",
		GroupID: "work",
		Short:   "Learn a generator from private records, paid for on a ledger",
		Long: "Fit runs a plan. The whole price is reserved on the ledger before the first noise is " +
			"drawn,\nand is never refunded.\n\n" +
			"Fit saves its progress in a checkpoint. After a kill, a crash or an interrupt, the same " +
			"command\ncontinues the run and spends nothing more. The checkpoint of a finished run holds " +
			"the result:\nthe same command then changes nothing, or writes the generator again if its file " +
			"is gone. To start a\nnew fit, write to another file.\n\n" +
			"For a plan of several tables, RECORDS is a folder with a CSV or Parquet file for\neach, or an SQLite database.",
		Example: "  privgen fit plan.json people.csv --ledger people --new-ledger -o people.gen\n" +
			"  zcat people.csv.gz | privgen fit plan.json - --ledger people -o people.gen",
		Args:              arguments("PLAN", "RECORDS"),
		ValidArgsFunction: files("json", "csv", "gz", "zst", "xlsx", "jsonl", "parquet", "npz"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args[0], args[1])
		}),
	}
	f := c.Flags()
	j.where.flags(c)
	j.in.flags(f)
	f.StringVarP(&j.out, "out", "o", "", "generator `file` to write")
	f.StringVar(&j.checkpoint, "checkpoint", "",
		"`file` to save progress in; by default the generator's name followed by .ckpt")
	f.BoolVar(&j.noCheckpoint, "no-checkpoint", false,
		"save no progress: after an interruption the budget is spent and the work is lost")
	f.BoolVar(&j.force, "force", false,
		"replace the generator of another run; refused if the checkpoint holds a finished run")
	f.IntVar(&j.workers, "workers", 0, "processor `cores` to use; 0 for all")
	c.MarkFlagsMutuallyExclusive("checkpoint", "no-checkpoint")
	c.MarkFlagRequired("out")
	return c
}

// fitResult is what --json prints. Nothing in it was computed from records without noise.
type fitResult struct {
	Generator  string `json:"generator_file"`
	System     string `json:"system"`
	Checkpoint string `json:"checkpoint_file,omitempty"`
	Ledger     string `json:"ledger"`
	// ε of this fit alone, at the ledger's δ
	PlanEpsilon accountant.Bound `json:"plan_epsilon"`
	// guarantee of everything on the ledger when the generator was made
	Guarantee ledger.Guarantee `json:"guarantee"`
}

func (j *fitJob) check() error {
	if j.out == stdio {
		return usagef("--out: want a file: the generator is paid for, and a broken pipe would lose it")
	}
	if err := checkWorkers(j.workers); err != nil {
		return err
	}
	if j.checkpoint == "" && !j.noCheckpoint {
		j.checkpoint = j.out + ".ckpt"
	}
	if j.force || j.checkpoint != "" && exists(j.checkpoint) {
		return nil
	}
	return unpaid(j.out, ", or --force to replace it")
}

// checkWorkers bounds the number of goroutines that a device starts.
func checkWorkers(n int) error {
	if n < 0 || n > 1024 {
		return usagef("--workers: %d: want a number of cores up to 1024, or 0 for all", n)
	}
	return nil
}

func (j *fitJob) run(ctx context.Context, planFile, path string) error {
	if err := j.check(); err != nil {
		return err
	}
	p, err := openPlan(planFile)
	if err != nil {
		return err
	}
	if err := j.in.checkRows(p.Schema()); err != nil {
		return err
	}
	data, err := j.readFor(ctx, p, path, j.in)
	if err != nil {
		return err
	}
	files := j.where.files()
	if j.checkpoint != "" {
		files = append(files, j.checkpoint, j.checkpoint+".lock")
	}
	if err := j.paid(j.out, files...); err != nil {
		return err
	}
	j.warnStrays(path, data)
	j.warnCrowded(path, data)
	ledger, err := j.where.use(j.app, ctx, termsOf(p))
	if err != nil {
		return err
	}
	defer ledger.Close()
	gen, err := j.fitTo(ctx, p, ledger, data, j.out, j.force, options(j.checkpoint, j.workers)...)
	if errors.Is(err, privgen.ErrPlan) {
		err = fmt.Errorf("%w: give another --out to start a new fit, or the checkpoint's own plan to resume", err)
	}
	if err != nil {
		return err
	}
	j.warnAgain()
	return j.finish(p, gen)
}

// fitTo runs a plan and writes the generator. It leaves a file alone that the run with the same
// checkpoint made before. It holds a lock on the file's name, since a run with another checkpoint,
// or none, would pay too, and replace this one's result.
func (a *app) fitTo(ctx context.Context, p privgen.Plan, ledger *ledger.Ledger,
	data records.Data, out string, force bool, opts ...privgen.Option) (gen *privgen.Generator,
	err error) {
	unlock, err := alone(out)
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, made, err := pending(ctx, p, ledger, data, out, force, opts...)
	if err != nil {
		return nil, err
	}
	if made {
		return openGenerator(out)
	}
	meter := a.meter()
	gen, err = p.FitOn(ctx, ledger, data, append(opts, privgen.OnProgress(meter.show))...)
	meter.end()
	if gen == nil && err != nil {
		return nil, err
	}
	return gen, writeGenerator(gen, out, err)
}

// alone locks the name of a result that is paid for until unlock is called.
func alone(out string) (unlock func(), err error) {
	lock, err := durable.NewLock(out)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return func() { _ = lock.Close() }, nil // its file is harmless
}

// pending returns the transaction of a run, and whether the file that it would write is its result.
// A result of another run that is there when the run begins is replaced by force only. Force also
// says that a new result is wanted. A finished run does not give one: it would return the old one,
// whatever the records.
func pending(ctx context.Context, p privgen.Plan, l *ledger.Ledger, data records.Data,
	out string, force bool, opts ...privgen.Option) (t ledger.Transaction, made bool, err error) {
	if t, err = synth.Pending(ctx, p, l, data, opts...); err != nil {
		return t, false, err
	}
	made = madeBy(l, t.ID, out)
	finished := slices.ContainsFunc(l.Releases(), func(r ledger.Release) bool {
		return t.ID != "" && r.Transaction == t.ID
	})
	switch {
	case force && finished:
		err = usagef("--force: the checkpoint holds a finished run, so no records would be read: want " +
			"another --out or --checkpoint to pay for a new result, or no --force to keep this one")
	case force || made || !exists(out):
	case t.ID != "" && !finished: // perhaps the ledger failed when the result was written
		err = usagef("--out: %s exists, and the ledger does not know it as the result of this run: move it "+
			"away, and the same command continues the run", out)
	default:
		err = usagef("--out: %s exists, and is not the result of this run: want another name", out)
	}
	return t, made, err
}

// madeBy reports whether the ledger names a file as the result of a transaction.
func madeBy(l *ledger.Ledger, transaction, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	return slices.ContainsFunc(l.Releases(), func(r ledger.Release) bool {
		return transaction != "" && r.Transaction == transaction && r.Artefact == hash
	})
}

// termsOf returns the terms of a ledger for one plan.
func termsOf(p privgen.Plan) ledger.Terms {
	terms := termsFor(p.Budget(), p.Schema())
	if _, several := compose.TablesOf(p); several {
		terms.Unit = records.UnitUser
	}
	return terms
}

// termsFor returns the terms of a ledger for the records, or the persons, of a schema.
func termsFor(b accountant.Budget, s records.Schema) ledger.Terms {
	terms := ledger.Terms{Budget: b}
	if s.RowsPerPerson() > 0 {
		terms.Unit = records.UnitUser
	}
	return terms
}

// writeGenerator writes the generator, which is paid for, even if the ledger could not record its
// hash.
func writeGenerator(gen *privgen.Generator, path string, late error) error {
	if err := gen.SaveFile(path); err != nil {
		return err
	}
	if late != nil {
		return fmt.Errorf("%s is written and paid for, but its hash could not be recorded on the ledger "+
			"(if it is moved away and has a checkpoint, the same command writes and records it again): %w",
			path, late)
	}
	return nil
}

// options returns the options of a run. An empty checkpoint means that none is kept.
func options(checkpoint string, workers int) (opts []privgen.Option) {
	if checkpoint != "" {
		opts = append(opts, privgen.Checkpoint(checkpoint))
	}
	if workers > 0 {
		opts = append(opts, privgen.On(device.CPUWith(workers)))
	}
	return opts
}

func (j *fitJob) finish(p privgen.Plan, gen *privgen.Generator) error {
	g := gen.Guarantee()
	r := fitResult{Generator: j.out, System: gen.System(), Checkpoint: j.checkpoint,
		Ledger: j.where.ledger, PlanEpsilon: p.Total(), Guarantee: g}
	return j.result(r, func() string {
		text := fmt.Sprintf("%s: a generator of %v by the system %s\n"+
			"guarantee: ε ≤ %s at δ = %g (%s: %s), for everything on the ledger %q so far",
			r.Generator, gen.Schema(), r.System, accountant.FormatUpper(g.Epsilon, 4), g.Delta, g.Relation,
			g.Relation.Meaning(g.Unit), r.Ledger)
		if r.Checkpoint != "" {
			text += fmt.Sprintf("\ncheckpoint: %s: while it exists, the same command spends nothing more",
				r.Checkpoint)
		}
		return text
	})
}
