package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/tables"
)

// openTables reads a description of several tables; ok is false for a file that describes one table.
func openTables(path string) (t records.Tables, ok bool, err error) {
	text, err := readFile(path, mostPlan)
	if err != nil {
		return t, false, err
	}
	var head map[string]any
	if param.Decode(text, &head) != nil || head["key"] == nil {
		return t, false, nil
	}
	if err = param.Decode(text, &t); err == nil {
		err = t.Validate()
	}
	if err != nil {
		return t, true, located(path, err)
	}
	return t, true, nil
}

// runLinked plans the system for several tables.
func (j *planJob) runLinked(t records.Tables) error {
	if j.rows > 0 {
		return usagef("--rows-per-person: not allowed for several tables, which state their largest " +
			"numbers of rows")
	}
	if err := oneOf("system", j.system, "auto", "aim"); err != nil {
		return err
	}
	of := privgen.AIM(t.Full(), j.budget).Nominal(j.records).Seed(j.seed)
	each := tables.AIM{Common: tables.Common{Nominal: j.records, Seed: j.seed}}
	p, err := compose.Linked{Tables: t, Of: of, Each: each}.PlanFor(t.Full(), j.budget)
	if err != nil {
		return err
	}
	return j.end(p, planResult{planned: describe(p, "", true), Alternatives: []planned{},
		Warning: j.budget.Caution(j.records)})
}

// readFor reads the records of a plan: a file, or a folder with a file for each of its tables.
func (a *app) readFor(p privgen.Plan, path string, l layout) (records.Data, error) {
	if t, several := compose.TablesOf(p); several {
		return a.readTables(path, t, l)
	}
	return a.read(path, l, p.Schema())
}

// readTables reads the files of a folder.
func (a *app) readTables(path string, t records.Tables, l layout) (records.Data, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, usagef("%s: want a folder with a CSV file for each table of the plan", path)
	}
	c, err := l.csv()
	if err != nil {
		return nil, err
	}
	c.Limits = records.Limits{}
	for _, name := range t.Names() {
		a.inputs = append(a.inputs, filepath.Join(path, name+".csv"))
	}
	d, err := c.ReadTables(os.DirFS(path), t)
	if err != nil {
		return nil, located(path, err)
	}
	return d, nil
}

// tables draws rows of all tables into a new folder, which appears whole or not at all.
func (j *sampleJob) tables(ctx context.Context, gen *privgen.Generator) (err error) {
	switch {
	case j.out == stdio:
		return usagef("--out: want the name of a new folder, since the generator draws several tables")
	case exists(j.out):
		return usagef("--out: %s exists: want the name of a new folder", j.out)
	case j.format != "auto" && j.format != "csv" || len(j.released) > 0 || j.guard || j.noHeader:
		return usagef("several tables are written as CSV files with headers, without --released and --guard")
	}
	comma, err := character("comma", j.comma)
	if err != nil {
		return err
	}
	opts, err := j.options(gen.Schema())
	if err != nil {
		return err
	}
	conditions, err := j.conditions(gen.Schema())
	if err != nil {
		return err
	}
	opts = append(opts, privgen.Given(conditions...), privgen.Effort(j.attempts))
	if err := j.begin(); err != nil {
		return err
	}
	room, err := os.MkdirTemp(filepath.Dir(j.out), ".tables-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(room) }() // gone if all is well
	rows, name := 0, ""
	drawn := func(yield func(*records.Linked, error) bool) {
		for l, err := range compose.DrawTables(ctx, gen, j.n, j.seed, opts...) {
			if err == nil {
				rows, name = rows+l.Len(), l.Tables().Name
			}
			if !yield(l, err) {
				return
			}
		}
	}
	err = records.CSV{Comma: comma}.WriteTables(func(name string) (io.WriteCloser, error) {
		return os.OpenFile(filepath.Join(room, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}, drawn)
	if err == nil {
		err = os.Rename(room, j.out)
	}
	if errors.Is(err, fs.ErrExist) {
		return usagef("--out: %s exists: want the name of a new folder", j.out)
	}
	if err != nil {
		return err
	}
	r := sampleResult{File: j.out, Format: "csv", Records: rows, Seed: fmt.Sprint(j.seed), Class: j.class}
	return j.result(r, func() string {
		return fmt.Sprintf("%s: %d rows of %s with all that belongs to them (csv, seed %s)", r.File,
			r.Records, name, r.Seed)
	})
}
