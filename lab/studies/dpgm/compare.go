package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/records"
)

// compare draws the papers' Fig. 4 at two budgets: real images, samples of one network for all
// records, and samples of a mixture of each kind of network. It prints the scores of a classifier
// for each.
func compare(ctx context.Context, c config) error {
	train, test, err := c.load()
	if err != nil {
		return err
	}
	for _, epsilon := range []float64{1.74, 4} {
		sheet := grid.Sheet{Height: side, Width: side,
			Rows: []grid.Row{{Caption: "real", Images: images.First(train, across)}}}
		for _, v := range []struct {
			model string
			k     int
		}{{"vae", 1}, {"vae", c.k}, {"rbm", c.k}} {
			one := c
			one.budget.Epsilon, one.model, one.k, one.lr, one.clip = epsilon, v.model, v.k, 0, 0
			rows, err := one.withDefaults().fitAndReport(ctx, train, test)
			if err != nil {
				return err
			}
			sheet.Rows = append(sheet.Rows, rows...)
		}
		path := filepath.Join(c.out, fmt.Sprintf("compare-%g.png", epsilon))
		if err := sheet.Save(path); err != nil {
			return err
		}
		fmt.Printf("wrote %s\n\n", path)
	}
	return nil
}

// fitAndReport runs one configuration and returns its rows of the picture.
func (c config) fitAndReport(ctx context.Context, train, test *records.Table) ([]grid.Row, error) {
	gen, err := c.chain().Fit(ctx, train.WithoutLabels(), privgen.OnProgress(newMeter().Show))
	if err != nil {
		return nil, err
	}
	g := gen.Guarantee()
	fmt.Printf("== %s, k = %d: ε = %s, δ = %g, %v\n", c.model, c.k,
		accountant.FormatUpper(g.Epsilon, 4), g.Delta, g.Relation)
	if err := report(ctx, c, gen, train, test); err != nil {
		return nil, err
	}
	return rowsOf(ctx, c, gen, c.model+" ")
}
