package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/lab/internal/runs"
)

// marker is the line of a page below which writePage writes.
const marker = "<!-- tables of headtohead -->"

// writePage writes tables of all results. It keeps what stands above the marker in the file.
func writePage(path string, f *runs.File) error {
	old, _ := os.ReadFile(path)
	above, _, found := strings.Cut(string(old), marker)
	if !found {
		above = "# Head to head\n\n"
	}
	return program.Save(path, func(w io.Writer) error {
		fmt.Fprint(w, above, marker, "\n")
		_, err := io.WriteString(w, tables(f))
		return err
	})
}

// tables returns a table for every set and ε, with real rows in each.
func tables(f *runs.File) string {
	var b strings.Builder
	groups := f.Groups()
	var done []runs.Key
	for _, g := range groups {
		key := runs.Key{Table: g.Table, Epsilon: g.Epsilon}
		if g.System == real || slices.Contains(done, key) {
			continue
		}
		done = append(done, key)
		var rows []runs.Group
		for _, o := range groups {
			if o.Table == g.Table && (o.System == real || o.Epsilon == g.Epsilon) {
				rows = append(rows, o)
			}
		}
		slices.SortStableFunc(rows, func(a, b runs.Group) int { return rank(a) - rank(b) })
		fmt.Fprintf(&b, "\n## %s, ε = %g\n\n", g.Table, g.Epsilon)
		table(&b, rows)
	}
	return b.String()
}

func rank(g runs.Group) int {
	return slices.IndexFunc(systems, func(s system) bool { return s.name == g.System })
}

func table(b *strings.Builder, rows []runs.Group) {
	fmt.Fprint(b, "| system | runs |")
	for _, m := range measures {
		fmt.Fprintf(b, " %s |", m.title)
	}
	fmt.Fprint(b, "\n|---|---|", strings.Repeat("---|", len(measures)), "\n")
	best := make([]string, len(measures))
	for i, m := range measures {
		best[i] = m.best(rows, i)
	}
	for _, g := range rows {
		fmt.Fprintf(b, "| %s | %d |", g.System, len(g.Runs))
		for i, m := range measures {
			fmt.Fprintf(b, " %s |", m.cell(g, i, best[i]))
		}
		fmt.Fprintln(b)
	}
	for _, g := range rows {
		if late := lateRuns(g); late > 0 {
			fmt.Fprintf(b, "\n%s: %d of %d runs reached the time limit.\n", g.System, late, len(g.Runs))
		}
	}
	var absent []string
	for _, s := range systems {
		if !slices.ContainsFunc(rows, func(g runs.Group) bool { return g.System == s.name }) {
			absent = append(absent, s.name)
		}
	}
	if len(absent) > 0 {
		fmt.Fprintf(b, "\nNot run: %s.\n", strings.Join(absent, ", "))
	}
}

// best returns the text of the best mean of systems; real rows do not compete.
func (m measure) best(rows []runs.Group, i int) (text string) {
	best := 0.0
	for _, g := range rows {
		mean, _, n := g.Mean(i)
		if n > 0 && g.System != real && (text == "" || (mean < best) == m.small) {
			best, text = mean, m.text(mean)
		}
	}
	return text
}

func (m measure) text(x float64) string { // .5 for 0.5, but 10.5
	return strings.Replace(fmt.Sprintf(" %.*f", m.places, x), " 0.", " .", 1)[1:]
}

// cell returns the mean, bold if it is the best, and the spread between runs.
func (m measure) cell(g runs.Group, i int, best string) string {
	mean, spread, n := g.Mean(i)
	if n == 0 {
		return "–"
	}
	text := m.text(mean)
	if text == best && g.System != real {
		text = "**" + text + "**"
	}
	if n > 1 {
		text += " ±" + m.text(spread)
	}
	return text
}

// lateRuns counts runs without measures.
func lateRuns(g runs.Group) (late int) {
	for _, r := range g.Runs {
		if math.IsNaN(r.Measures[0]) {
			late++
		}
	}
	return late
}
