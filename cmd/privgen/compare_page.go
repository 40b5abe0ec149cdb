package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/report"
)

//go:embed compare.html.tmpl
var comparePage string

// rows returns the figures as a table with a line for each figure and a column for each system.
func (c comparison) rows() [][]string {
	head := []string{""}
	for _, s := range c.Systems {
		head = append(head, s.Name)
	}
	rows := [][]string{append(head, "held-out real")}
	for _, f := range figures {
		row, found := []string{f.name}, false
		for _, s := range c.Systems {
			n, ok := s.Figures[f.key]
			if !ok {
				n = none
			}
			row, found = append(row, digits(n)), found || ok
		}
		held, ok := c.HeldOut[f.key]
		if !ok {
			held = none
		}
		if row = append(row, digits(held)); found {
			rows = append(rows, row)
		}
	}
	return rows
}

func (c comparison) text() string {
	var b strings.Builder
	rows := c.rows()
	table(&b, rows)
	b.WriteString("\n" + meanings(firsts(rows)) + "\n")
	if !c.Majority.IsNone() {
		fmt.Fprintf(&b, "accuracy of the most frequent class %s, of independent columns %s\n", digits(c.Majority),
			digits(c.Independent))
	}
	fmt.Fprintf(&b, "everything on the ledger %q: ε ≤ %s at δ = %g\n\n%s", c.Ledger,
		accountant.FormatUpper(c.Guarantee.Epsilon, 4), c.Guarantee.Delta, c.Caveat)
	return b.String()
}

func (c comparison) writeJSON(w io.Writer) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		_, err = w.Write(append(shownJSON(text), '\n'))
	}
	return err
}

// writeHTML writes a page without scripts, with links to the reports in the same folder.
func (c comparison) writeHTML(w io.Writer) error {
	page, err := template.New("compare").Funcs(template.FuncMap{
		"base": filepath.Base, "digits": digits, "none": report.Number.IsNone,
		"upper": accountant.FormatUpper,
	}).Parse(comparePage)
	if err != nil {
		return err
	}
	rows := c.rows()
	return page.Execute(w, struct {
		comparison
		Head   []string
		Rows   [][]string
		Charts []chart
	}{c, rows[0], rows[1:], c.charts()})
}

// chart draws one figure of all systems.
type chart struct {
	Name, Means string
	Bars        []bar
}

// bar is a bar of a chart. Its width is in per cent of the longest that is possible.
type bar struct {
	Name, Value string
	Width       float64
	Held        bool // of held-out real records
}

// charts returns a chart for each figure that a system has. The longest bar is 1, or the largest
// number of a figure that is always small.
func (c comparison) charts() (out []chart) {
	for _, f := range figures {
		bars := []bar{}
		most := 0.0
		add := func(name string, n report.Number, held bool) {
			bars = append(bars, bar{name, digits(n), float64(n), held})
			most = max(most, float64(n))
		}
		for _, s := range c.Systems {
			if n, ok := s.Figures[f.key]; ok && !n.IsNone() {
				add(s.Name, n, false)
			}
		}
		if len(bars) == 0 {
			continue
		}
		if n, ok := c.HeldOut[f.key]; ok && !n.IsNone() {
			add("held-out real", n, true)
		}
		if most > 0.25 {
			most = max(most, 1)
		}
		for i := range bars {
			bars[i].Width = math.Round(100 * bars[i].Width / max(most, 1e-9))
		}
		out = append(out, chart{f.name, f.means, bars})
	}
	return out
}
