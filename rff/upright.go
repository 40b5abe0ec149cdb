package rff

import "math"

// Limits on the changes to an image.
const (
	mostSlant  = 1.0 // a shear by 45 degrees
	mostResize = 2.0
)

// moments holds the moments of an image's ink: the mass, the centre (x, y) and the central second
// moments xy and yy.
type moments struct{ mass, x, y, xy, yy float64 }

func (d *drawing) moments() (m moments) {
	for i, v := range d.grey {
		m.mass += v
		m.x += v * float64(i%d.width)
		m.y += v * float64(i/d.width)
	}
	m.x /= m.mass
	m.y /= m.mass
	for i, v := range d.grey {
		dx, dy := float64(i%d.width)-m.x, float64(i/d.width)-m.y
		m.xy += v * dx * dy
		m.yy += v * dy * dy
	}
	m.xy /= m.mass
	m.yy /= m.mass
	return m
}

// straighten writes the image in grey to upright. It centres the image, shears it such that the
// coordinates of the ink are uncorrelated, and resizes it. An image without ink stays empty.
func (d *drawing) straighten() {
	clear(d.upright)
	m := d.moments()
	pixel := float64(d.height) / 28
	slant, size := m.xy/(m.yy+pixel*pixel), 1.0
	if d.Spread > 0 {
		size = math.Sqrt(max(m.yy, 0)) / (d.Spread * float64(d.height))
	}
	if !(m.mass > 1e-9 && m.mass < 1e18) || math.IsNaN(slant) || math.IsNaN(size) ||
		!(math.Abs(m.x)+math.Abs(m.y) < 1e9) {
		return
	}
	slant = min(max(slant, -mostSlant), mostSlant)
	size = min(max(size, 1/mostResize), mostResize)
	middleX, middleY := float64(d.width-1)/2, float64(d.height-1)/2
	for y := range d.height {
		dy := (float64(y) - middleY) * size
		for x := range d.width {
			dx := (float64(x)-middleX)*size + slant*dy
			d.upright[y*d.width+x] = d.between(m.x+dx, m.y+dy)
		}
	}
}

// between interpolates between the image's pixels. Values outside the image are 0.
func (d *drawing) between(x, y float64) float64 {
	column, right := split(x)
	row, down := split(y)
	if column < -1 || row < -1 || column >= d.width || row >= d.height {
		return 0
	}
	return (1-down)*((1-right)*d.pixel(column, row)+right*d.pixel(column+1, row)) +
		down*((1-right)*d.pixel(column, row+1)+right*d.pixel(column+1, row+1))
}

func (d *drawing) pixel(x, y int) float64 {
	if x < 0 || y < 0 || x >= d.width || y >= d.height {
		return 0
	}
	return d.grey[y*d.width+x]
}
