package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/grid"
	"github.com/seed7ba64551/privgen/mix"
)

const (
	across = 16 // images in a row of a picture
	down   = 10
)

// pictureOf shows mixtures as they are released and after smoothing.
func (c config) pictureOf(m *mix.Model) error {
	if c.project > 0 {
		return nil // the rows are not images
	}
	smooth, err := mix.Denoise(m.Rows(), digits.Schema(), 1)
	if err != nil {
		return err
	}
	sheet := grid.Sheet{Height: digits.Side, Width: digits.Side}
	for _, r := range []struct {
		caption string
		rows    *mix.Rows
	}{{"released", m.Rows()}, {"smoothed", smooth}} {
		for line := range 3 {
			row := grid.Row{Caption: r.caption}
			for k := range across {
				row.Images = append(row.Images, clamped(r.rows.Features((line*across+k)%r.rows.Len())))
			}
			sheet.Rows = append(sheet.Rows, row)
		}
	}
	return save(sheet, filepath.Join(c.out, "mixtures.png"))
}

// pictureOfDrawn shows images drawn from class moments, one row for each class.
func (c config) pictureOfDrawn(ctx context.Context, moments *mix.Moments) error {
	drawn, err := moments.Sample(ctx, 40*across, c.seed)
	if err != nil {
		return err
	}
	sheet := grid.Sheet{Height: digits.Side, Width: digits.Side}
	for class, rows := range drawn.RowsByLabel() {
		if class == down {
			break
		}
		var b device.Batch
		drawn.Gather(rows[:min(across, len(rows))], &b)
		row := grid.Row{Caption: fmt.Sprintf("%d: %d", class, moments.Components(class))}
		for i := range b.Rows {
			row.Images = append(row.Images, append([]float32(nil), b.Dense.Row(i)...))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return save(sheet, filepath.Join(c.out, "drawn.png"))
}

func clamped(x []float32) []float32 {
	out := append([]float32(nil), x...)
	digits.Schema().Clamp(out)
	return out
}

func save(sheet grid.Sheet, path string) error {
	if err := sheet.Save(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
