package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A picture collects the elements of an SVG file. Its background is opaque and follows the reader's
// choice of light or dark, so text is readable on any page. Colours follow those of Okabe and Ito,
// which colour-blind readers can tell apart; some are darker or lighter. Series also differ in
// form.
type picture struct {
	body   strings.Builder
	width  float64
	height float64
}

const (
	pictureWidth = 760
	margin       = 20
	letter       = 6.9 // mean width of a letter of small text
	colours      = 5
)

const style = `text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.title{font-size:16px;font-weight:600}
.dim{fill:#57606a}
.back{fill:#ffffff;stroke:#d8dee4}
.grid{stroke:#e4e8ec}
.mark{stroke:#57606a;stroke-dasharray:4 3}
.s0{fill:#0072b2;stroke:#0072b2}.s1{fill:#d55e00;stroke:#d55e00}.s2{fill:#008060;stroke:#008060}
.s3{fill:#a8568c;stroke:#a8568c}.s4{fill:#6b6b6b;stroke:#6b6b6b}
.path{fill:none;stroke-width:1.5}
.range{stroke-width:2;stroke-opacity:.45}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b3}
.back{fill:#161b22;stroke:#30363d}.grid{stroke:#2b323b}.mark{stroke:#9da7b3}
.s0{fill:#56b4e9;stroke:#56b4e9}.s1{fill:#f0883e;stroke:#f0883e}.s2{fill:#35c89b;stroke:#35c89b}
.s3{fill:#d992c0;stroke:#d992c0}.s4{fill:#b0b0b0;stroke:#b0b0b0}.path{fill:none}}
`

// bytes returns the file.
func (c *picture) bytes(title, description string) []byte {
	w, h := short(c.width), short(c.height)
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" `+
		`width="%s" height="%s" role="img" aria-labelledby="title description">
<title id="title">%s</title>
<desc id="description">%s</desc>
<style>
%s</style>
<rect class="back" x="0.5" y="0.5" width="%s" height="%s"/>
%s</svg>
`, w, h, w, h, html.EscapeString(title), html.EscapeString(description), style,
		short(c.width-1), short(c.height-1), c.body.String())
}

// short writes a coordinate.
func short(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// text writes a line of text. The anchor is start, middle or end.
func (c *picture) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(&c.body, "<text x=\"%s\" y=\"%s\"", short(x), short(y))
	if anchor != "start" {
		fmt.Fprintf(&c.body, " text-anchor=\"%s\"", anchor)
	}
	if class != "" {
		fmt.Fprintf(&c.body, " class=\"%s\"", class)
	}
	fmt.Fprintf(&c.body, ">%s</text>\n", html.EscapeString(s))
}

func (c *picture) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&c.body, "<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>\n", class,
		short(x1), short(y1), short(x2), short(y2))
}

// shape draws the mark of a series: a circle, a square, a triangle, a diamond or a cross.
func (c *picture) shape(series int, x, y, r float64) {
	path := func(points ...float64) {
		fmt.Fprintf(&c.body, "<path class=\"s%d\" d=\"M", series)
		for i := 0; i < len(points); i += 2 {
			fmt.Fprintf(&c.body, " %s %s", short(x+r*points[i]), short(y+r*points[i+1]))
		}
		c.body.WriteString(" Z\"/>\n")
	}
	switch series {
	case 0:
		fmt.Fprintf(&c.body, "<circle class=\"s0\" cx=\"%s\" cy=\"%s\" r=\"%s\"/>\n", short(x), short(y),
			short(r))
	case 1:
		path(-.9, -.9, .9, -.9, .9, .9, -.9, .9)
	case 2:
		path(0, -1.1, 1.1, .9, -1.1, .9)
	case 3:
		path(0, -1.3, 1.2, 0, 0, 1.3, -1.2, 0)
	default:
		path(-.3, -1, .3, -1, .3, -.3, 1, -.3, 1, .3, .3, .3, .3, 1, -.3, 1, -.3, .3, -1, .3, -1, -.3,
			-.3, -.3)
	}
}

// wide estimates the width of a text.
func wide(s string) float64 { return letter * float64(utf8.RuneCountInString(s)) }

// head writes title, note and legend, and returns the position below them.
func (c *picture) head(p *plot) float64 {
	y := 30.0
	c.text(margin, y, "start", "title", p.Title)
	if p.Note != "" {
		for _, part := range wrapped(p.Note, (pictureWidth-2*margin)/letter) {
			y += 19
			c.text(margin, y, "start", "dim", part)
		}
	}
	if len(p.Series) == 1 && p.Series[0].Name == "" {
		return y + 14
	}
	x := float64(margin)
	y += 24
	for i, s := range p.Series {
		if x > margin && x+wide(s.Name)+20 > pictureWidth-margin {
			x, y = margin, y+20
		}
		c.shape(i, x+6, y-4.5, 5)
		c.text(x+18, y, "start", "", s.Name)
		x += wide(s.Name) + 42
	}
	return y + 14
}

// wrapped divides a text into lines of at most n letters.
func wrapped(s string, n float64) (lines []string) {
	at := ""
	for _, word := range strings.Fields(s) {
		if at != "" && float64(utf8.RuneCountInString(at+" "+word)) > n {
			lines, at = append(lines, at), ""
		}
		at = strings.TrimSpace(at + " " + word)
	}
	return append(lines, at)
}
