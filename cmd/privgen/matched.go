package main

import (
	"context"
	"iter"
	"os"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/connect/released"
	"github.com/seed7ba64551/privgen/records"
)

// agreement says how close the records are to one released table.
type agreement struct {
	Columns []string `json:"columns"`
	Before  float64  `json:"before"`
	After   float64  `json:"after"`
	Noise   float64  `json:"noise"`
}

// matched draws records that agree with the tables of --released.
func (j *sampleJob) matched(ctx context.Context, gen *privgen.Generator) (
	iter.Seq2[records.Data, error], error) {
	if j.class != "" || len(j.where) > 0 || j.file != "" {
		return nil, usagef("--released: cannot be used with --class, --where or --constraints")
	}
	var tables []released.Table
	for _, path := range j.released {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		list, err := released.Read(f, gen.Schema())
		f.Close()
		if err != nil {
			return nil, inputf("%s: %w", path, err)
		}
		tables = append(tables, list...)
	}
	pool := max(4*j.n, min(1<<17, 1<<24/max(len(tables), 1))) // at most 64 MB, or as n demands
	m, err := released.Match(ctx, gen, tables,
		released.Settings{Pool: pool, Seed: j.seed, Records: j.about})
	if err != nil {
		return nil, inputf("--released: %w", err)
	}
	rows, err := m.Sample(j.n)
	if err != nil {
		return nil, inputf("--released: %w", err)
	}
	worst := released.Fit{}
	for _, f := range m.Fits {
		j.fits = append(j.fits, agreement(f))
		if f.Before > worst.Before {
			worst = f
		}
	}
	j.note("%d released tables are matched: %v was off by %.2g %%, now by %.2g %% (noise alone: %.2g "+
		"%%); the records count as %.0f %% of as many independent ones. The price of these tables is "+
		"not on the generator's ledger.", len(m.Fits), worst.Columns, 100*worst.Before,
		100*worst.After, 100*worst.Noise, 100*m.Effective)
	return func(yield func(records.Data, error) bool) { yield(rows, nil) }, nil
}
