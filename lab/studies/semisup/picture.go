package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/records"
)

const (
	across = 16 // images in a row of the picture
	down   = 4  // rows of samples
)

// picture draws the classifiers' training data: public images and, below them, samples of the
// generator.
func (c config) picture(m *gan.Model, public *records.Table) error {
	x, _, err := sample(m, down*across, public.Schema().Dim(), rand.New(rand.NewPCG(c.seed, 5)))
	if err != nil {
		return err
	}
	sheet := grid.Sheet{Height: digits.Side, Width: digits.Side}
	sheet.Rows = append(sheet.Rows, grid.Row{Caption: "public", Images: images.First(public, across)})
	for line := range down {
		row := grid.Row{Caption: "samples"}
		for i := range across {
			row.Images = append(row.Images, x.Row(line*across+i))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	path := filepath.Join(c.out, "samples.png")
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Printf("wrote %s\n\n", path)
	return nil
}
