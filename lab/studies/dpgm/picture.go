package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/records"
)

// across is the number of images in a row of the picture.
const across = 16

// picture writes real images, then one row for each cluster.
func picture(ctx context.Context, c config, gen *privgen.Generator, real *records.Table) error {
	sheet := grid.Sheet{Height: side, Width: side,
		Rows: []grid.Row{{Caption: "real", Images: images.First(real, across)}}}
	rows, err := rowsOf(ctx, c, gen, "")
	if err != nil {
		return err
	}
	sheet.Rows = append(sheet.Rows, rows...)
	path := filepath.Join(c.out, "samples.png")
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Printf("wrote %s and %s\n", path, filepath.Join(c.out, "generator.privgen"))
	return nil
}

// rowsOf draws one row for each cluster, as the probability of each pixel.
func rowsOf(ctx context.Context, c config, gen *privgen.Generator,
	prefix string) ([]grid.Row, error) {
	var rows []grid.Row
	for i, w := range gen.Weights() {
		samples, err := gen.Sample(ctx, across, privgen.FromCluster(i), privgen.Means(),
			privgen.Seed(c.seed))
		if err != nil {
			return nil, err
		}
		rows = append(rows,
			grid.Row{Caption: fmt.Sprintf("%s%d: %.0f%%", prefix, i, 100*w),
				Images: images.First(samples, across)})
	}
	return rows, nil
}
