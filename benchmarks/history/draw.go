package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// scale maps numbers of an axis to positions.
type scale struct {
	axis     axis
	from, to float64 // positions of the ends of the axis
}

func (s scale) at(x float64) float64 {
	f := func(x float64) float64 { return x }
	if s.axis.Log {
		f = math.Log
	}
	lo, hi := f(s.axis.From), f(s.axis.To)
	return s.from + (s.to-s.from)*(f(x)-lo)/(hi-lo)
}

// number writes a number with about three significant digits.
func number(x float64) string {
	switch {
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// tick writes the number of a tick.
func tick(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// draw returns the picture of a plot whose numbers are known.
func (p *plot) draw() []byte {
	c := &picture{width: pictureWidth}
	top := c.head(p)
	switch p.Kind {
	case "dots":
		p.drawDots(c, top)
	case "sorted":
		p.drawSorted(c, top)
	default:
		p.drawScatter(c, top)
	}
	return c.bytes(p.Title, p.Description)
}

// rows returns the labels of all points in the order of their first use.
func (p *plot) rows() (list []string) {
	for _, s := range p.Series {
		for _, m := range s.marks {
			if !slices.Contains(list, m.label) {
				list = append(list, m.label)
			}
		}
	}
	return list
}

// drawDots draws a line of text and dots for each row. A thin line joins the lowest and the highest
// repetition.
func (p *plot) drawDots(c *picture, top float64) {
	const step, gap = 19, 12
	left := 0.0
	for _, r := range p.rows() {
		left = max(left, wide(r))
	}
	x := scale{p.X, margin + left + 22, pictureWidth - margin - 48}
	y := top + gap
	if len(p.X.Lines) > 0 {
		y += 16
	}
	start := y
	var dots picture
	for _, row := range p.rows() {
		first := y
		for i, s := range p.Series {
			for _, m := range s.marks {
				if m.label == row {
					y += step
					dots.dot(i, x, m, y-step/2)
				}
			}
		}
		dots.text(margin+left, (first+y)/2+4.5, "end", "", row)
		y += gap
	}
	c.across(x, start-2, y)
	c.body.WriteString(dots.body.String())
	c.height = y + 58
}

func (c *picture) dot(series int, x scale, m mark, y float64) {
	if m.high > m.lowest {
		c.line(fmt.Sprintf("s%d range", series), x.at(m.lowest), y, x.at(m.high), y)
	}
	c.shape(series, x.at(m.x), y, 5)
	c.text(x.at(m.high)+11, y+4.5, "start", "dim", number(m.x))
}

// across draws a horizontal axis below the given range, with lines at its ticks.
func (c *picture) across(x scale, top, bottom float64) {
	for _, t := range x.axis.Ticks {
		c.line("grid", x.at(t), top, x.at(t), bottom)
		c.text(x.at(t), bottom+18, "middle", "dim", tick(t))
	}
	for _, l := range x.axis.Lines {
		c.line("mark", x.at(l.At), top, x.at(l.At), bottom)
		c.text(x.at(l.At), top-6, "middle", "dim", l.Text)
	}
	c.text((x.from+x.to)/2, bottom+42, "middle", "", x.axis.Label)
}

// up draws a vertical axis left of the given range.
func (c *picture) up(y scale, left, right float64) {
	for _, t := range y.axis.Ticks {
		c.line("grid", left, y.at(t), right, y.at(t))
		c.text(left-8, y.at(t)+4.5, "end", "dim", tick(t))
	}
	for _, l := range y.axis.Lines {
		c.line("mark", left, y.at(l.At), right, y.at(l.At))
		c.text(right, y.at(l.At)-5, "end", "dim", l.Text)
	}
}

// frame is the space of a plot with two axes.
const (
	frameLeft   = margin + 44
	frameHeight = 290
)

// drawSorted draws the numbers of each series in ascending order. All series have the same width.
func (p *plot) drawSorted(c *picture, top float64) {
	c.text(margin, top+12, "start", "", p.Y.Label)
	top += 30
	y := scale{p.Y, top + frameHeight, top}
	const right = pictureWidth - margin - 12
	c.up(y, frameLeft, right)
	for i, s := range p.Series {
		slices.SortFunc(s.marks, func(a, b mark) int {
			if a.y < b.y {
				return -1
			}
			return 1
		})
		var path []string
		var marks picture
		for j, m := range s.marks {
			at := frameLeft + 10 + (right-frameLeft-20)*float64(j)/float64(max(len(s.marks)-1, 1))
			path = append(path, short(at)+","+short(y.at(m.y)))
			marks.shape(i, at, y.at(m.y), 2.6)
		}
		fmt.Fprintf(&c.body, "<polyline class=\"s%d path\" points=\"%s\"/>\n", i, strings.Join(path, " "))
		c.body.WriteString(marks.body.String())
	}
	c.text((frameLeft+right)/2, top+frameHeight+26, "middle", "", p.X.Label)
	c.height = top + frameHeight + 44
}

// drawScatter draws points with their labels. A line joins the points of a series.
func (p *plot) drawScatter(c *picture, top float64) {
	c.text(margin, top+12, "start", "", p.Y.Label)
	top += 30
	x := scale{p.X, frameLeft, pictureWidth - margin - 12}
	y := scale{p.Y, top + frameHeight, top}
	c.up(y, x.from, x.to)
	c.across(x, top, top+frameHeight)
	for i, s := range p.Series {
		var path []string
		for _, m := range s.marks {
			path = append(path, short(x.at(m.x))+","+short(y.at(m.y)))
		}
		fmt.Fprintf(&c.body, "<polyline class=\"s%d path\" points=\"%s\"/>\n", i, strings.Join(path, " "))
		for _, m := range s.marks {
			c.shape(i, x.at(m.x), y.at(m.y), 5)
			c.beside(x.at(m.x), y.at(m.y), m)
		}
	}
	c.height = top + frameHeight + 58
}

// beside writes the label of a point.
func (c *picture) beside(x, y float64, m mark) {
	switch m.place {
	case "left":
		c.text(x-10, y+4.5, "end", "dim", m.label)
	case "above":
		c.text(x, y-11, "middle", "dim", m.label)
	case "below":
		c.text(x, y+20, "middle", "dim", m.label)
	default:
		c.text(x+10, y+4.5, "start", "dim", m.label)
	}
}
