package report

import (
	"fmt"
	"html/template"
)

// heatLow is the score that has the darkest colour.
const heatLow = 0.5

// heatChart draws the scores of pairs.
func heatChart(q *Quality) template.HTML {
	columns := heatColumns(q)
	at := map[string]int{}
	for i, c := range columns {
		at[c] = i
	}
	const left, top, width = 26, 20, narrow
	cell := float64(width-left-2) / float64(len(columns))
	d := &drawing{w: width, h: top + float64(width-left-2) + 44, name: "scores of pairs of columns",
		grow: 1.7}
	every := 1
	if len(columns) > 14 {
		every = 2
	}
	for i := range columns {
		middle := float64(i)*cell + cell/2
		if i%every == 0 {
			d.text(left-5, top+middle+4, "end", "tick", fmt.Sprint(i+1))
			d.text(left+middle, top-6, "middle", "tick", fmt.Sprint(i+1))
		}
		d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" class="axis"/>`,
			left+float64(i)*cell+0.5, top+float64(i)*cell+0.5, cell-1, cell-1)
	}
	for _, p := range q.Synthetic.Pairs {
		i, one := at[p.Columns[0]]
		j, both := at[p.Columns[1]]
		if !one || !both {
			continue
		}
		title := fmt.Sprintf("%s × %s: %s %s", p.Columns[0], p.Columns[1], p.Metric, number4(p.Score))
		for _, place := range [][2]int{{i, j}, {j, i}} {
			x, y := left+float64(place[0])*cell, top+float64(place[1])*cell
			if p.Score.IsNone() {
				d.text(x+cell/2, y+cell/2+4, "middle", "tick", "×")
				continue
			}
			d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`, x,
				y, cell+0.1, cell+0.1, heat(float64(p.Score)), esc(title))
		}
	}
	const steps = 40
	y := top + float64(width-left-2) + 8
	for i := range steps {
		v := heatLow + (1-heatLow)*float64(i)/(steps-1)
		d.add(`<rect x="%.1f" y="%.1f" width="5.2" height="12" fill="%s"/>`, left+5*float64(i), y,
			heat(v))
	}
	d.text(left, y+27, "start", "tick", "≤ 0.5")
	d.text(left+2.5*steps, y+27, "middle", "tick", "0.75")
	d.text(left+5*steps, y+27, "end", "tick", "1")
	d.text(left+5*steps+16, y+11, "start", "tick", "×: no score")
	return d.html()
}

// stops are colours of the map "cividis" (Nuñez, Anderton and Renslow 2018), which looks the same
// to colour-blind readers.
var stops = [][3]float64{{0, 34, 78}, {53, 69, 108}, {102, 105, 112}, {148, 142, 119},
	{200, 184, 102}, {254, 232, 56}}

// heat returns the colour of a score.
func heat(v float64) string {
	at := min(max((v-heatLow)/(1-heatLow), 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	part := at - float64(i)
	var c [3]int
	for k := range c {
		c[k] = int(stops[i][k] + part*(stops[i+1][k]-stops[i][k]) + 0.5)
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}
