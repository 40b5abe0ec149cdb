package report

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// narrow is the width of a figure, chosen to fit a small screen.
const narrow = 360

// billChart draws one bar for the ε of each line of the bill, and one for the total.
func billChart(r *Report) template.HTML {
	const rowHeight = 36
	d := &drawing{w: narrow, name: "ε of each line of the bill, as if it were the only one"}
	top := 0.0
	for _, l := range r.Bill {
		if v := float64(l.Epsilon); v > top && !math.IsInf(v, 0) {
			top = v
		}
	}
	together := math.NaN()
	if a := r.Promise.Auditor; a != nil && !math.IsInf(a.Epsilon, 0) {
		together = a.Epsilon
		top = math.Max(top, together)
	}
	scale := (narrow - 70) / nice(top)
	row := func(i int, name string, v float64, class string) {
		y := float64(i * rowHeight)
		d.text(0, y+13, "start", "", cut(name, 50))
		d.bar(0, y+18, v*scale, 12, class, fmt.Sprintf("%s: ε = %s", name, upper(v, 6)))
		text := "unknown"
		if !math.IsNaN(v) {
			text = upper(v, 4)
		}
		d.text(math.Max(v*scale, 0)+5, y+28, "start", "", text)
		if math.IsNaN(v) {
			d.text(5, y+28, "start", "", text)
		}
	}
	for i, l := range r.Bill {
		row(i, l.Purpose, float64(l.Epsilon), "real")
	}
	n := len(r.Bill)
	if !math.IsNaN(together) {
		row(n, "everything together", together, "held")
		n++
	}
	d.h = float64(n*rowHeight + 4)
	return d.html()
}

// columnChart draws the real and the synthetic values of one column.
func columnChart(c Column) template.HTML {
	if c.Number {
		return histogram(c.Name, c.Bars, c.Missing, axisOf(c.Kind))
	}
	bars := c.Bars
	if c.Missing != nil {
		bars = append(bars[:len(bars):len(bars)], *c.Missing)
	}
	return levels(c.Name, bars)
}

// barsChart draws bars for sets: a histogram of their sizes, or the shares of their items.
func barsChart(bars []Bar) template.HTML {
	if len(bars) > 0 && !bars[0].From.IsNone() {
		return histogram("number of items", bars, nil, short)
	}
	return levels("items", bars)
}

// levels draws a pair of bars for every level: real records above synthetic ones.
func levels(name string, bars []Bar) template.HTML {
	const rowHeight, left, right = 31, 150, 44
	d := &drawing{w: narrow, h: float64(len(bars)*rowHeight + 4),
		name: "shares of the levels of " + name}
	top := Number(0)
	for _, b := range bars {
		top = larger(top, larger(b.Real, b.Synthetic))
	}
	scale := (narrow - left - right) / math.Max(float64(top), 1e-9)
	for i, b := range bars {
		y := float64(i * rowHeight)
		d.add(`<g><title>%s</title>`, esc(b.Label))
		d.text(left-6, y+18, "end", "", cut(b.Label, 21))
		d.add(`</g>`)
		if !b.Real.IsNone() {
			w := float64(b.Real) * scale
			d.bar(left, y+2, w, 11, "real", b.Label+", real: "+percent(b.Real))
			d.text(left+w+4, y+12, "start", "", hundred(b.Real))
		}
		if !b.Synthetic.IsNone() {
			w := float64(b.Synthetic) * scale
			d.bar(left+1, y+15, w-1, 10, "lfake", b.Label+", synthetic: "+percent(b.Synthetic))
			d.text(left+w+4, y+25, "start", "", hundred(b.Synthetic))
		}
	}
	return d.html()
}

// larger returns the larger of two numbers. The value none counts as smaller than every number.
func larger(a, b Number) Number {
	if a.IsNone() || b > a {
		return b
	}
	return a
}

// histogram draws bins of equal width: real records filled, synthetic ones as an outline.
func histogram(name string, bars []Bar, missing *Bar,
	write func(Number) string) template.HTML {
	const left, top, bottom, height = 34, 8, 20, 172
	d := &drawing{w: narrow, h: height, name: "histogram of " + name}
	width := float64(narrow - left - 4)
	if missing != nil {
		width -= 66
	}
	high := Number(0)
	for _, b := range bars {
		high = larger(high, larger(b.Real, b.Synthetic))
	}
	if missing != nil {
		high = larger(high, larger(missing.Real, missing.Synthetic))
	}
	full := nice(100 * float64(high))
	base := float64(height - bottom)
	at := func(n Number) float64 { return base - 100*float64(n)/full*(base-top) }
	for _, part := range []float64{0, 0.5, 1} {
		y := base - part*(base-top)
		d.line(left, y, narrow-4, y, "axis")
		d.text(left-4, y+4, "end", "tick", short(Number(part*full)))
	}
	step := width / float64(max(len(bars), 1))
	var xs, ys []float64
	for i, b := range bars {
		x := left + float64(i)*step
		title := fmt.Sprintf("%s to %s: ", write(b.From), write(b.To))
		if !b.Real.IsNone() {
			d.bar(x+0.5, at(b.Real), step-1, base-at(b.Real), "real", title+"real "+percent(b.Real)+
				", synthetic "+percent(b.Synthetic))
		} else {
			d.bar(x, at(b.Synthetic), step, base-at(b.Synthetic), "pass", title+"synthetic "+
				percent(b.Synthetic))
		}
		xs, ys = append(xs, x, x+step), append(ys, at(b.Synthetic), at(b.Synthetic))
	}
	d.path(xs, ys, "lfake", "synthetic records")
	if n := len(bars); n > 0 {
		d.text(left, height-5, "start", "tick", write(bars[0].From))
		d.text(left+width/2, height-5, "middle", "tick", write(middle(bars)))
		d.text(left+width, height-5, "end", "tick", write(bars[n-1].To))
	}
	if missing != nil {
		x := left + width + 26
		if !missing.Real.IsNone() {
			d.bar(x, at(missing.Real), 14, base-at(missing.Real), "real", "missing, real "+
				percent(missing.Real))
		}
		d.bar(x+17, at(missing.Synthetic), 13, base-at(missing.Synthetic), "lfake",
			"missing, synthetic "+percent(missing.Synthetic))
		d.text(x+14, height-5, "middle", "tick", "missing")
	}
	return d.html()
}

// axisOf returns the function that formats the numbers on the axis of a column of the given kind.
func axisOf(kind string) func(Number) string {
	switch kind {
	case records.DatetimeColumn.String():
		return func(v Number) string {
			return time.Unix(int64(v), 0).UTC().Format(time.DateOnly)
		}
	case records.DurationColumn.String():
		return func(v Number) string {
			return time.Duration(float64(v) * float64(time.Second)).Round(time.Second).String()
		}
	}
	return short
}

// middle returns the number at the middle of the axis of a histogram.
func middle(bars []Bar) Number {
	if n := len(bars); n%2 == 1 {
		return (bars[n/2].From + bars[n/2].To) / 2
	}
	return bars[len(bars)/2].From
}

// classifierChart draws the accuracy of every classifier.
func classifierChart(c *Classifiers) template.HTML {
	var bars []Bar
	for _, r := range c.Rows {
		bars = append(bars, Bar{r.Method, none, none, r.Real.Accuracy, r.Synthetic.Accuracy})
	}
	bars = append(bars, Bar{"majority", none, none, c.Majority.Accuracy, none},
		Bar{"independent", none, none, c.Independent.Accuracy, none})
	return levels("classifiers by accuracy", bars)
}
