package digits

import (
	"fmt"

	"golang.org/x/image/font"
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

// point is a place on the page, in units of the digit's height, y downward.
type point struct{ x, y float64 }

// outline is a digit as closed polygons: outer edges turn one way, holes the
// other.
type outline [][]point

// face holds the ten digits of one font.
type face [10]outline

// fontFiles are the fonts; the lighter ones look most like a pen.
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
	metrics, err := parsed.Metrics(&buf, em, font.HintingNone)
	if err != nil {
		return f, err
	}
	for d := range f {
		glyph, err := parsed.GlyphIndex(&buf, rune('0'+d))
		if err != nil {
			return f, err
		}
		segments, err := parsed.LoadGlyph(&buf, glyph, em, nil)
		if err != nil {
			return f, err
		}
		f[d] = flatten(segments, float64(metrics.CapHeight))
	}
	return f, nil
}

// pieces is how many straight lines stand for one segment; they must be short
// enough to bend when the page is warped.
const pieces = 5

// flatten turns font segments into polygons, scaled by the height of a capital
// and centred on the middle of their bounding box.
func flatten(segments sfnt.Segments, height float64) outline {
	var out outline
	var at point
	for _, s := range segments {
		p := func(i int) point { return point{float64(s.Args[i].X) / height, float64(s.Args[i].Y) / height} }
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
	return out.centred()
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

func (o outline) centred() outline {
	lo, hi := o[0][0], o[0][0]
	for _, polygon := range o {
		for _, p := range polygon {
			lo = point{min(lo.x, p.x), min(lo.y, p.y)}
			hi = point{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	centre := mid(lo, hi)
	for _, polygon := range o {
		for i := range polygon {
			polygon[i].x -= centre.x
			polygon[i].y -= centre.y
		}
	}
	return o
}
