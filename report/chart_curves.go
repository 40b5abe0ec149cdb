package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// curve is one line of a figure whose axes are rates.
type curve struct {
	Curve
	class, name string
}

// curves draws lines over rates from 0 to 1, with a legend below.
func curves(name string, list []curve) template.HTML {
	const left, top, side = 38, 8, narrow - 38 - 10
	d := &drawing{w: narrow, h: top + side + 24, name: name}
	x := func(v Number) float64 { return left + float64(v)*side }
	y := func(v Number) float64 { return top + (1-float64(v))*side }
	for _, v := range []Number{0, 0.25, 0.5, 0.75, 1} {
		d.line(x(0), y(v), x(1), y(v), "axis")
		d.line(x(v), y(0), x(v), y(1), "axis")
		d.text(left-5, y(v)+4, "end", "tick", short(100*v))
		anchor := "middle"
		if v == 1 {
			anchor = "end"
		}
		d.text(x(v), top+side+17, anchor, "tick", short(100*v))
	}
	d.line(x(0), y(0), x(1), y(1), "coin")
	legend := []string{key("coin", "a coin")}
	for _, c := range list {
		if len(c.FalsePositive) == 0 {
			continue
		}
		var xs, ys []float64
		for i, f := range c.FalsePositive {
			xs, ys = append(xs, x(f)), append(ys, y(c.TruePositive[i]))
		}
		d.path(xs, ys, c.class, c.name)
		legend = append(legend, key(c.class, c.name))
	}
	return d.html() + template.HTML(`<p class="legend">`+strings.Join(legend, "\n")+`</p>`)
}

// key returns an entry of a legend.
func key(class, name string) string {
	return fmt.Sprintf(`<span><svg viewBox="0 0 26 12" aria-hidden="true">`+
		`<line x1="0" y1="6" x2="26" y2="6" class="%s"/></svg>%s</span>`, class, esc(name))
}

func propensityChart(p *Propensity) template.HTML {
	list := []curve{{p.Curve, "lfake", "synthetic records"}}
	if p.HeldOut != nil {
		list = append(list, curve{*p.HeldOut, "lheld", "held-out real records"})
	}
	return curves("receiver operating characteristic of a discriminator", list)
}

func riskChart(r *Risk) template.HTML {
	list := []curve{{r.Bound, "lbound", "bound: one record, there or replaced"}}
	if doubled(r) {
		list[0].name = "bound: one record, present or absent"
		list = append(list, curve{r.SplitBound, "lsplit", "bound: members against others"})
	}
	for i, a := range r.Attacks {
		list = append(list, curve{a.Curve, []string{"lfake", "lheld"}[i%2], "attack: " + a.Name})
	}
	return curves("membership inference compared with what the guarantee allows", list)
}

// threeChart draws each group as a dot: held-out records on the horizontal axis, synthetic ones on
// the vertical axis.
func threeChart(t *ThreeWay) template.HTML {
	const left, top, side = 42, 8, narrow - 42 - 12
	high := Number(0)
	for _, g := range t.Groups {
		high = larger(high, larger(g.Synthetic, g.HeldOut))
	}
	full := nice(float64(high))
	d := &drawing{w: narrow, h: top + side + 24, name: "total variation distance of three-way tables"}
	x := func(v float64) float64 { return left + v*side }
	y := func(v float64) float64 { return top + (1-v)*side }
	for _, v := range []float64{0, 0.5, 1} {
		d.line(x(0), y(v), x(1), y(v), "axis")
		d.line(x(v), y(0), x(v), y(1), "axis")
		d.text(left-5, y(v)+4, "end", "tick", short(Number(v*full)))
		anchor := "middle"
		if v == 1 {
			anchor = "end"
		}
		if !t.Mean.HeldOut.IsNone() {
			d.text(x(v), top+side+17, anchor, "tick", short(Number(v*full)))
		}
	}
	if !t.Mean.HeldOut.IsNone() {
		d.line(x(0), y(0), x(1), y(1), "coin")
	}
	for i, g := range t.Groups {
		across := float64(g.HeldOut) / full
		if g.HeldOut.IsNone() { // in order of rank
			across = float64(i) / math.Max(float64(len(t.Groups)-1), 1)
		}
		d.add(`<circle cx="%.1f" cy="%.1f" r="3" class="fake" opacity="0.7"><title>%s: synthetic %s, `+
			`held-out %s</title></circle>`, x(across), y(float64(g.Synthetic)/full),
			esc(strings.Join(g.Columns, " × ")), number4(g.Synthetic), number4(g.HeldOut))
	}
	return d.html()
}
