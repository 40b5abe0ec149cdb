package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/fidelity"
	"github.com/seed7ba64551/privgen/synth"
)

type fidelityJob struct {
	*app
	in     layout
	where  where
	budget accountant.Budget
	n      int
	seed   uint64
	out    string
}

func newFidelity(a *app) *cobra.Command {
	j := &fidelityJob{app: a}
	c := &cobra.Command{
		Use:     "fidelity GENERATOR RECORDS",
		GroupID: "work",
		Short:   "Release figures of quality with noise, paid for on the ledger",
		Long: "Fidelity releases figures of quality with noise: the error of each column of the " +
			"synthetic\nrecords, and the accuracy on real records of classifiers trained on synthetic " +
			"ones. The ledger\npays for the release. The figures may be published: see privgen report " +
			"--publish. Each run is a\nfurther release.\n\n" +
			"If the generator protects persons, so does the release: --person names their column, and " +
			"the\nledger must protect users.",
		Example: "  privgen fidelity people.gen people.csv --ledger people --epsilon 0.2 -o figures.json",
		Args:    arguments("GENERATOR", "RECORDS"),
		RunE: a.action(func(c *cobra.Command, args []string) error {
			return j.run(c.Context(), args[0], args[1])
		}),
	}
	f := c.Flags()
	budgetFlags(f, &j.budget, 0.1, 1e-6)
	j.where.flags(c)
	j.in.flags(f)
	f.IntVarP(&j.n, "n", "n", 10000, "`number` of synthetic records to judge")
	f.Uint64Var(&j.seed, "seed", 1, "seed of the synthetic records, a `number`; the noise has no seed")
	f.StringVarP(&j.out, "out", "o", "", "`file` for the figures")
	c.MarkFlagRequired("out")
	return c
}

// fidelityResult is what --json prints.
type fidelityResult struct {
	File   string `json:"fidelity_file"`
	Ledger string `json:"ledger"`
	*fidelity.Released
}

func (j *fidelityJob) check() error {
	switch {
	case j.n < 100:
		return usagef("-n: %d: want at least 100 records", j.n)
	case j.out == stdio:
		return usagef("--out: want a file: the figures are paid for, and a broken pipe would lose them")
	}
	if err := unpaid(j.out, ""); err != nil {
		return err
	}
	return checkGaussian(j.budget)
}

func (j *fidelityJob) run(ctx context.Context, generator, path string) error {
	if err := j.check(); err != nil {
		return err
	}
	unlock, err := alone(j.out)
	if err != nil {
		return err
	}
	defer unlock()
	if err := unpaid(j.out, ""); err != nil { // another run may have ended meanwhile
		return err
	}
	gen, err := openGenerator(generator)
	if err != nil {
		return err
	}
	schema := gen.Schema() // by person if the generator protects persons
	if g := gen.Guarantee(); g.Unit == records.UnitUser {
		schema = schema.ByPerson(g.RowsPerUnit)
	}
	plan, err := fidelity.Config{Schema: schema, Budget: j.budget, Seed: j.seed}.Plan()
	if err := errors.Join(err, j.in.checkRows(schema)); err != nil {
		return err
	}
	data, err := j.read(path, j.in, schema)
	if err != nil {
		return err
	}
	synthetic, err := gen.Sample(ctx, j.n, privgen.Seed(j.seed), synth.Unidentified())
	if err != nil {
		return err
	}
	if err := j.paid(j.out, j.where.files()...); err != nil {
		return err
	}
	ledger, err := j.where.use(j.app, ctx, termsFor(j.budget, schema))
	if err != nil {
		return err
	}
	defer ledger.Close()
	ctx = context.WithoutCancel(ctx) // there is no checkpoint: an interrupt loses nothing paid for
	out, err := fidelity.Release(ctx, plan, data, records.DeclarePublic(synthetic), ledger)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(append(shownJSON(text), '\n'))
		return err
	}
	if err := j.orPrinted(j.save(j.out, write), write); err != nil {
		return err
	}
	return j.result(fidelityResult{j.out, j.where.ledger, out}, func() string {
		return fmt.Sprintf("%s: the figures are released; ε ≤ %s at δ = %g for everything on the ledger %q so far\n"+
			"columns: mean similarity %.3f of 1; noise alone lowers it by about %.3f", j.out,
			accountant.FormatUpper(out.Guarantee.Epsilon, 4), out.Guarantee.Delta, j.where.ledger, out.Mean,
			out.MeanNoise)
	})
}
