// Package grid writes images side by side into one PNG, with a captioned row for each group.
package grid

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// Sheet is a grid of images of one size, in grey or in colour.
type Sheet struct {
	Height, Width int // size of one image in pixels
	Colours       int // 1, or 3 for red, green and blue; 0 means 1
	Zoom          int // screen pixels for each pixel of an image; 0 means 2
	Rows          []Row
}

// Row is a caption and the images to the right of it. Each image has Height·Width·Colours values in
// [0, 1], where 0 is black. The colours of a pixel are next to each other.
type Row struct {
	Caption string
	Images  [][]float32
}

// gap is the number of white pixels between images.
const gap = 2

// Save writes the sheet to a PNG file.
func (s Sheet) Save(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := s.Encode(w); err != nil {
		return err
	}
	return w.Flush()
}

// Encode writes the sheet as PNG.
func (s Sheet) Encode(w io.Writer) error {
	picture, err := s.Render()
	if err != nil {
		return err
	}
	return png.Encode(w, picture)
}

// Render draws the sheet.
func (s Sheet) Render() (draw.Image, error) {
	if s.Height < 1 || s.Width < 1 || s.Zoom < 0 {
		return nil, fmt.Errorf("grid: images of %d×%d pixels at zoom %d: must be positive",
			s.Height, s.Width, s.Zoom)
	}
	if s.Colours == 0 {
		s.Colours = 1
	}
	if s.Colours != 1 && s.Colours != 3 {
		return nil, fmt.Errorf("grid: %d colours, want 1 or 3", s.Colours)
	}
	if s.Zoom == 0 {
		s.Zoom = 2
	}
	columns, margin := s.extent()
	high, wide := s.Height*s.Zoom+gap, s.Width*s.Zoom+gap
	out := s.blank(image.Rect(0, 0, margin+columns*wide+gap, len(s.Rows)*high+gap))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	for r, row := range s.Rows {
		top := r*high + gap
		caption(out, row.Caption, top+(high-gap)/2)
		for c, pixels := range row.Images {
			if len(pixels) != s.Height*s.Width*s.Colours {
				return nil, fmt.Errorf("grid: row %d, image %d: %d pixels, want %d", r, c, len(pixels),
					s.Height*s.Width*s.Colours)
			}
			s.paint(out, margin+c*wide, top, pixels)
		}
	}
	return out, nil
}

func (s Sheet) blank(r image.Rectangle) draw.Image {
	if s.Colours == 3 {
		return image.NewRGBA(r)
	}
	return image.NewGray(r)
}

// extent returns the number of columns, and the width of the captions.
func (s Sheet) extent() (columns, margin int) {
	for _, row := range s.Rows {
		columns = max(columns, len(row.Images))
		if row.Caption != "" {
			margin = max(margin, font.MeasureString(basicfont.Face7x13, row.Caption).Ceil()+8)
		}
	}
	return columns, max(margin, gap)
}

func caption(out draw.Image, text string, middle int) {
	d := font.Drawer{Dst: out, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(4, middle+4)}
	d.DrawString(text)
}

func (s Sheet) paint(out draw.Image, left, top int, pixels []float32) {
	for y := range s.Height * s.Zoom {
		for x := range s.Width * s.Zoom {
			p := pixels[(y/s.Zoom*s.Width+x/s.Zoom)*s.Colours:]
			if s.Colours == 3 {
				out.Set(left+x, top+y, color.RGBA{level(p[0]), level(p[1]), level(p[2]), 255})
			} else {
				out.Set(left+x, top+y, color.Gray{Y: level(p[0])})
			}
		}
	}
}

// level returns the nearest of 256 levels, and 0 for a value that is not a number.
func level(v float32) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(math.Round(255 * min(float64(v), 1)))
}
