package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/lab/internal/runs"
	"github.com/seed7ba64551/privgen/records"
)

// synthetic draws rows from a system. The number of rows is the number of real rows. For the
// reference it also returns the processor time that its program reports.
func (c config) synthetic(ctx context.Context, t table, key runs.Key) (records.Data, float64,
	error) {
	s, b, n := t.rows.Schema(), accountant.Budget{Epsilon: key.Epsilon, Delta: 1e-5}, t.rows.Len()
	if key.System == "real" {
		return t.rows, 0, nil
	}
	if strings.HasPrefix(key.System, "reference-") {
		return c.reference(ctx, t, key)
	}
	plan, ok := rivals.Plans[key.System]
	if !ok {
		return nil, 0, errors.New("unknown system")
	}
	p, err := plan(s, b, n, key.Seed)
	if err != nil {
		return nil, 0, err
	}
	gen, err := p.Fit(ctx, t.rows)
	if err != nil {
		return nil, 0, err
	}
	rows, err := gen.Sample(ctx, n, privgen.Seed(key.Seed))
	return rows, 0, err
}

// referencePrograms has the program of each reference.
var referencePrograms = map[string]string{
	"aim":  "reference.py",
	"mst":  "reference.py",
	"merf": "merf.py",
}

// reference runs the reference implementation on the same rows. The real rows are written to a
// temporary folder, which is removed.
func (c config) reference(ctx context.Context, t table, key runs.Key) (records.Data, float64,
	error) {
	folder, err := os.MkdirTemp("", "marginals")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(folder)
	job := rivals.Job{Schema: filepath.Join(folder, "schema.json"),
		Train: filepath.Join(folder, "train.csv"), Out: filepath.Join(folder, "out.csv"),
		Epsilon: key.Epsilon, Seed: key.Seed}
	if err := rivals.SaveSchema(job.Schema, t.rows.Schema()); err != nil {
		return nil, 0, err
	}
	if err := rivals.SaveRows(job.Train, t.rows); err != nil {
		return nil, 0, err
	}
	system := strings.TrimPrefix(key.System, "reference-")
	command := rivals.Reference(ctx, c.python, referencePrograms[system], system, job)
	if err := command.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s %s: %w", c.python, system, err)
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	rows, err := rivals.Rows(job.Out, t.rows.Schema())
	return rows, used.Seconds(), err
}
