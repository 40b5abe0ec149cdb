package digits

import (
	"fmt"
	"math"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// point is a position on the page, in units of the digit's height; y points down.
type point struct{ x, y float64 }

// outline is a digit as closed polygons. Outer edges have one orientation, and holes have the
// other.
type outline [][]point

// shape is an outline and the width of its strokes, in units of its height.
type shape struct {
	outline
	stroke float64
}

// face holds, for each digit, the shapes of one font that are used for it.
type face [10][]shape

// letter is a character of a font that is used as a digit. It is stretched to height 1, and to the
// given width if width is not 0.
type letter struct {
	char  rune
	width float64
}

// letters lists the characters that are drawn for a digit. The fonts' 0 has a bar across it and
// their 1 has a foot, which are rare in handwriting. So an O is drawn for 0, and mostly a bar for
// 1.
func letters(digit int) []letter {
	switch digit {
	case 0:
		return []letter{{'O', 0.70}}
	case 1:
		return []letter{{'1', 0}, {'|', 0}, {'|', 0}}
	}
	return []letter{{rune('0' + digit), 0}}
}

// fontFiles returns the fonts. Light fonts look most like handwriting.
func fontFiles() [][]byte {
	return [][]byte{
		goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF,
		gomono.TTF, gomonoitalic.TTF, gosmallcaps.TTF, gobold.TTF,
	}
}

func loadFaces() ([]face, error) {
	var faces []face
	for _, file := range fontFiles() {
		f, err := loadFace(file)
		if err != nil {
			return nil, fmt.Errorf("digits: %w", err)
		}
		faces = append(faces, f)
	}
	return faces, nil
}

func loadFace(file []byte) (f face, err error) {
	parsed, err := sfnt.Parse(file)
	if err != nil {
		return f, err
	}
	var buf sfnt.Buffer
	em := fixed.I(1000)
	for d := range f {
		for _, l := range letters(d) {
			glyph, err := parsed.GlyphIndex(&buf, l.char)
			if err != nil {
				return f, err
			}
			segments, err := parsed.LoadGlyph(&buf, glyph, em, nil)
			if err != nil {
				return f, err
			}
			f[d] = append(f[d], newShape(flatten(segments), l.width))
		}
	}
	return f, nil
}

// pieces is the number of straight lines that replace one segment. The lines must be short enough
// that the result looks curved after the warp.
const pieces = 6

// flatten turns font segments into polygons.
func flatten(segments sfnt.Segments) outline {
	var out outline
	var at point
	for _, s := range segments {
		p := func(i int) point { return point{float64(s.Args[i].X), float64(s.Args[i].Y)} }
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			at = p(0)
			out = append(out, nil)
		case sfnt.SegmentOpLineTo:
			at = out.bend(at, mid(at, p(0)), p(0))
		case sfnt.SegmentOpQuadTo:
			at = out.bend(at, p(0), p(1))
		}
	}
	return out
}

func mid(a, b point) point { return point{(a.x + b.x) / 2, (a.y + b.y) / 2} }

// bend appends a quadratic curve from a to c to the last polygon.
func (o outline) bend(a, b, c point) point {
	last := len(o) - 1
	for i := 1; i <= pieces; i++ {
		t := float64(i) / pieces
		u, v, w := (1-t)*(1-t), 2*t*(1-t), t*t
		o[last] = append(o[last], point{u*a.x + v*b.x + w*c.x, u*a.y + v*b.y + w*c.y})
	}
	return c
}

// newShape scales an outline to height 1, scales it to the given width if width is not 0, and moves
// its middle to the origin.
func newShape(o outline, width float64) shape {
	lo, hi := o.box()
	middle, high, wide := mid(lo, hi), hi.y-lo.y, hi.y-lo.y
	if width > 0 {
		wide = (hi.x - lo.x) / width
	}
	for _, polygon := range o {
		for i, p := range polygon {
			polygon[i] = point{(p.x - middle.x) / wide, (p.y - middle.y) / high}
		}
	}
	return shape{o, o.stroke()}
}

func (o outline) box() (lo, hi point) {
	lo, hi = o[0][0], o[0][0]
	for _, polygon := range o {
		for _, p := range polygon {
			lo = point{min(lo.x, p.x), min(lo.y, p.y)}
			hi = point{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	return lo, hi
}

// stroke returns the width of the strokes: the area of a long stroke is its width times half the
// length of its outline.
func (o outline) stroke() float64 {
	area, length := 0.0, 0.0
	for _, polygon := range o {
		before := polygon[len(polygon)-1]
		for _, p := range polygon {
			area += (before.x*p.y - p.x*before.y) / 2
			length += math.Hypot(p.x-before.x, p.y-before.y)
			before = p
		}
	}
	return 2 * math.Abs(area) / length
}
