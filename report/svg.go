package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"strings"
)

// drawing is an SVG figure under construction. Its unit is a pixel on a narrow screen and slightly
// more on a wide one.
type drawing struct {
	b    strings.Builder
	w, h float64
	grow float64 // largest magnification; 0 for 1.3
	name string  // description for readers who cannot see the figure
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func esc(s string) string { return template.HTMLEscapeString(s) }

// text writes text at a position; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, class, s string) {
	d.add(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, esc(s))
}

// bar draws a rectangle with a title that appears under the pointer.
func (d *drawing) bar(x, y, w, h float64, class, title string) {
	d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"><title>%s</title></rect>`, x, y,
		math.Max(w, 0), math.Max(h, 0), class, esc(title))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// path draws a line through points.
func (d *drawing) path(xs, ys []float64, class, title string) {
	var p strings.Builder
	for i := range xs {
		fmt.Fprintf(&p, "%.1f,%.1f ", xs[i], ys[i])
	}
	d.add(`<polyline points="%s" class="%s"><title>%s</title></polyline>`,
		strings.TrimSpace(p.String()), class, esc(title))
}

// html returns the figure.
func (d *drawing) html() template.HTML {
	return template.HTML(fmt.Sprintf(
		`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" style="max-width:%.0fpx">`+"\n%s</svg>",
		d.w, d.h, esc(d.name), cmp.Or(d.grow, 1.3)*d.w, d.b.String()))
}

// cut shortens a text to at most the given number of characters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// nice returns the smallest 1, 2 or 5 times a power of ten that is at least v.
func nice(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	for p := math.Pow(10, math.Floor(math.Log10(v))); ; p *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if m*p >= v*(1-1e-9) {
				return m * p
			}
		}
	}
}

// short formats a number for an axis.
func short(v Number) string {
	switch x := math.Abs(float64(v)); {
	case v.IsNone():
		return ""
	case x >= 1e6 || x > 0 && x < 1e-3:
		return fmt.Sprintf("%.2g", float64(v))
	case x >= 100:
		return fmt.Sprintf("%.0f", float64(v))
	default:
		return fmt.Sprintf("%.3g", float64(v))
	}
}

// hundred formats a fraction as a percentage, for texts in figures.
func hundred(n Number) string {
	if n.IsNone() {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*float64(n))
}
