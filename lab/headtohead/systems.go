package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/records"
)

const delta = 1e-5

// A system draws as many rows as it is given. It has either a plan of this library, or a command of
// another program that reads the job's schema and rows and writes the drawn rows.
type system struct {
	name    string
	plan    rivals.Planner
	command func(ctx context.Context, python string, j rivals.Job) *exec.Cmd
	python  bool // the command needs a Python
}

// real is the system of the real training rows: what other rows of the same source reach.
const real = "real"

// systems lists the systems, in the order of the page.
var systems = []system{
	{name: real},
	{name: "ours", plan: recommended},
	{name: "aim", plan: rivals.Plans["aim"]},
	{name: "mst", plan: rivals.Plans["mst"]},
	{name: "merf", plan: rivals.Plans["merf"]},
	{name: "ranks", plan: rivals.Plans["merf-quantiles"]},
	{name: "pool", plan: rivals.Plans["pool"]},
	dpmm("aim"), dpmm("mst"), dpmm("privbayes"),
}

// recommended returns the default choice. A warning that noise is large does not stop it.
func recommended(s records.Schema, b accountant.Budget, n int, _ uint64) (privgen.Plan, error) {
	list, err := privgen.Recommend(s, b, n)
	if len(list) == 0 {
		return nil, errors.Join(err, errors.New("no plan is recommended"))
	}
	return list[0].Plan, nil
}

// dpmm returns a system of package dpmm.
func dpmm(name string) system {
	return system{name: "dpmm-" + name, python: true,
		command: func(ctx context.Context, python string, j rivals.Job) *exec.Cmd {
			return rivals.Reference(ctx, python, "reference.py", name, j)
		}}
}

// draw runs a plan of this library on a job.
func (s system) draw(ctx context.Context, j rivals.Job) error {
	schema, err := records.OpenSchema(j.Schema)
	if err != nil {
		return err
	}
	rows, err := rivals.Rows(j.Train, schema)
	if err != nil {
		return err
	}
	p, err := s.plan(schema, accountant.Budget{Epsilon: j.Epsilon, Delta: delta}, rows.Len(), j.Seed)
	if err != nil {
		return err
	}
	gen, err := p.Fit(ctx, rows)
	if err != nil {
		return err
	}
	drawn, err := gen.Sample(ctx, rows.Len(), privgen.Seed(j.Seed))
	if err != nil {
		return err
	}
	frame, ok := drawn.(*records.Frame)
	if !ok {
		return errors.New("the system draws no rows of a table")
	}
	return rivals.SaveRows(j.Out, frame)
}

func jobIn(folder, out string, epsilon float64, seed uint64) rivals.Job {
	return rivals.Job{Schema: filepath.Join(folder, schemaFile),
		Train: filepath.Join(folder, trainFile), Out: filepath.Join(folder, out),
		Epsilon: epsilon, Seed: seed}
}
