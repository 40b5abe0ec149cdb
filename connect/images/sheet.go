package images

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// maxPicture is the largest number of pixels of a picture. It bounds the memory for the picture of
// a large table.
const maxPicture = 1 << 28

// imageGap is the width of the light lines between images.
const imageGap = 2

// WritePNG writes images as one picture with the given number of images in a row. If the schema has
// classes, images are ordered by class, and each class begins a new row.
//
// Errors: *param.Error for records that are not images, if across is not positive, and for a
// picture of more than 2^28 pixels; the writer's.
func WritePNG(w io.Writer, t *records.Table, across int) error {
	var k param.Checker
	if t == nil {
		k.OK(false, "images.WritePNG.t", nil, "images")
	} else {
		k.OK(t.Schema().IsImage(), "images.WritePNG.t", t.Schema(), "images")
	}
	k.OK(across > 0, "images.WritePNG.across", across, "a positive number of images per row")
	if err := k.Err(); err != nil {
		return err
	}
	p := imageSheet{table: t, across: across}
	p.arrange()
	if err := p.tooLarge(); err != nil {
		return err
	}
	if err := png.Encode(w, p.draw()); err != nil {
		return fmt.Errorf("images: writing: %w", err)
	}
	return nil
}

// imageSheet is a picture of images in rows.
type imageSheet struct {
	table  *records.Table
	across int
	rows   [][]int32 // the images of each row
}

// arrange distributes the images of each class over rows.
func (p *imageSheet) arrange() {
	groups := make([][]int32, max(p.table.Schema().Classes(), 1))
	for i := range p.table.Len() {
		class := 0
		if p.table.Schema().Classes() > 0 {
			class = p.table.Label(i)
		}
		groups[class] = append(groups[class], int32(i))
	}
	for _, group := range groups {
		for len(group) > 0 {
			n := min(p.across, len(group))
			p.rows, group = append(p.rows, group[:n]), group[n:]
		}
	}
}

// size returns the width and the height in pixels.
func (p *imageSheet) size() (width, height int) {
	columns := 1
	for _, row := range p.rows {
		columns = max(columns, len(row))
	}
	s := p.table.Schema()
	return columns*(s.Width()+imageGap) + imageGap,
		max(len(p.rows), 1)*(s.Height()+imageGap) + imageGap
}

func (p *imageSheet) tooLarge() error {
	if width, height := p.size(); width > maxPicture/height {
		return param.New("images.WritePNG.t", "too many images",
			"fewer: their picture would have more than 2^28 pixels")
	}
	return nil
}

func (p *imageSheet) draw() image.Image {
	width, height := p.size()
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range out.Pix {
		out.Pix[i] = 0xe0
		if i%4 == 3 {
			out.Pix[i] = 0xff
		}
	}
	s := p.table.Schema()
	channels, row := s.Channels(), []float32(nil)
	for down, images := range p.rows {
		for column, i := range images {
			row = p.table.Row(row, int(i))
			left := imageGap + column*(s.Width()+imageGap)
			top := imageGap + down*(s.Height()+imageGap)
			for at := range s.Height() * s.Width() {
				pixel := row[at*channels : (at+1)*channels]
				out.SetRGBA(left+at%s.Width(), top+at/s.Width(), pixelColour(pixel))
			}
		}
	}
	return out
}

func pixelColour(pixel []float32) color.RGBA {
	level := func(i int) uint8 { return uint8(255*min(max(pixel[i], 0), 1) + 0.5) }
	last := len(pixel) - 1
	return color.RGBA{level(0), level(min(1, last)), level(last), 255}
}
