package report

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// The grid has gridColumns columns, and one row for each class or, without classes, gridRows rows.
const (
	gridColumns = 10
	gridRows    = 5
	mostClasses = 20
)

// images draws the grids of real and synthetic images.
func (m *maker) images(context.Context) error {
	s := m.schema()
	if !s.IsImage() {
		return nil
	}
	rows := gridRows
	if k := s.Classes(); k > 0 {
		rows = min(k, mostClasses)
	}
	out := &Images{Height: s.Height(), Width: s.Width(), Rows: rows, Columns: gridColumns}
	var err error
	if out.Synthetic, out.MeanSynthetic, err = m.grids(m.in.Synthetic, rows, 2); err != nil {
		return err
	}
	if m.in.Real != nil {
		if out.Real, out.MeanReal, err = m.grids(m.in.Real, rows, 3); err != nil {
			return err
		}
	}
	m.out.Images = out
	return nil
}

// inGrey returns an image with the mean of each pixel's colours.
func inGrey(pixels []float32, channels int) []float32 {
	if channels == 1 {
		return pixels
	}
	out := make([]float32, len(pixels)/channels)
	for i, v := range pixels {
		out[i/channels] += v / float32(channels)
	}
	return out
}

// grids returns some images in rows, with one row for each class if there are classes, and the mean
// of each row.
func (m *maker) grids(d records.Data, rows int, seed uint64) (grid, means []byte, err error) {
	s := d.Schema()
	d = atMost(d, min(m.set.Rows, 10_000), m.set.Seed+seed)
	h, w := s.Height(), s.Width()
	some := canvas(rows, gridColumns, h, w)
	mean := canvas(1, rows, h, w)
	if s.Classes() == 0 {
		mean = canvas(1, 1, h, w)
	}
	filled, counts := make([]int, rows), make([]int, rows)
	sums := make([][]float64, rows)
	for _, b := range judge.Batches(judge.InSchema(d)) {
		for i := range b.Rows {
			pixels := inGrey(b.Dense.Row(i), s.Channels())
			row := 0
			if s.Classes() > 0 {
				row = int(b.Labels[i])
			} else if filled[0] == gridColumns {
				for row < rows-1 && filled[row] == gridColumns {
					row++
				}
			}
			if row >= rows {
				continue
			}
			if filled[row] < gridColumns {
				paint(some, pixels, row, filled[row], h, w)
				filled[row]++
			}
			if s.Classes() == 0 {
				row = 0
			}
			if sums[row] == nil {
				sums[row] = make([]float64, len(pixels))
			}
			counts[row]++
			for k, v := range pixels {
				sums[row][k] += float64(v)
			}
		}
	}
	for row, sum := range sums {
		average := make([]float32, len(sum))
		for k, v := range sum {
			average[k] = float32(v / float64(counts[row]))
		}
		if sum != nil {
			paint(mean, average, 0, row, h, w)
		}
	}
	if grid, err = encode(some); err != nil {
		return nil, nil, err
	}
	means, err = encode(mean)
	return grid, means, err
}

// canvas returns an image with room for a grid of images, separated by lines.
func canvas(rows, columns, h, w int) *image.Gray {
	c := image.NewGray(image.Rect(0, 0, columns*(w+1)-1, rows*(h+1)-1))
	for i := range c.Pix {
		c.Pix[i] = 128
	}
	return c
}

func paint(c *image.Gray, pixels []float32, row, column, h, w int) {
	for y := range h {
		for x := range w {
			v := min(max(pixels[y*w+x], 0), 1)
			c.SetGray(column*(w+1)+x, row*(h+1)+y, color.Gray{Y: uint8(255*v + 0.5)})
		}
	}
}

func encode(c *image.Gray) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, c)
	return b.Bytes(), err
}
