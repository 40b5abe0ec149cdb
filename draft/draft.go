package draft

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// Draft is the released result of an estimate: a function of noisy counts.
type Draft struct {
	// Schema is the drafted schema. Write it with records.WriteSchema for a person to review. Records
	// outside its bounds are clamped, and rare levels become the other level, as in any schema. It
	// has as much of the candidates' constraints as its columns can have: rows and bounds of values
	// that are kept. Columns of ordered levels that a constraint compares have the same levels.
	Schema    records.Schema   `json:"schema"`
	Columns   []Column         `json:"columns"` // the estimated columns
	Std       float64          `json:"std"`     // standard deviation of the noise on each count
	Threshold float64          `json:"threshold"`
	Guarantee ledger.Guarantee `json:"guarantee"` // guarantee of everything on the ledger
}

// Column is the noisy histogram of one column.
type Column struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"`
}

// Cell is one noisy count. A bin holds the numbers from Lo, included, to Hi, excluded; the last bin
// includes Hi.
type Cell struct {
	Kind  string  `json:"kind"` // bin, level, none of the levels, or missing
	Level string  `json:"level,omitempty"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
	Count float64 `json:"count"`
	// Kept reports whether the cell is a bin within the drafted bounds, or another cell whose count
	// reaches the threshold.
	Kept bool `json:"kept"`
}

// The kinds of cell.
const (
	bin     = "bin"
	level   = "level"
	stray   = "none of the levels"
	missing = "missing"
)

// interpret makes a schema from noisy counts.
func (p *Plan) interpret(noisy []float64, texts []map[string]float64,
	g ledger.Guarantee) (*Draft, error) {
	d := &Draft{Std: p.Std, Threshold: p.Threshold, Guarantee: g}
	columns := p.Config.Candidates.Columns()
	for _, h := range p.Config.histograms() {
		c := columns[h.column]
		cells := h.name(c, noisy[h.first:h.first+h.cells], p.Threshold)
		d.Columns = append(d.Columns, Column{c.Name(), cells})
		columns[h.column] = narrowed(c, cells, &h)
	}
	d.opened(columns, open(p.Config.Candidates), texts)
	align(p.Config.Candidates, columns)
	s, err := records.NewSchema(columns...)
	var rules []records.Constraint
	for _, c := range p.Config.Candidates.Constraints() {
		if own, ok := held(s, p.Config.Candidates, c); ok {
			rules = append(rules, own)
		}
	}
	d.Schema = s.WithConstraints(rules...)
	return d, err
}

// name returns the cells of a column: what each counts, and whether it is kept.
func (h *histogram) name(c records.Column, counts []float64, threshold float64) []Cell {
	cells := make([]Cell, len(counts))
	levels := c.Levels()
	for i, count := range counts {
		cell := Cell{Kind: missing, Count: count, Kept: count >= threshold}
		switch {
		case h.number && i < h.bins():
			cell.Kind, cell.Lo, cell.Hi = bin, h.edges[i], h.edges[i+1]
		case !h.number && i < h.levels:
			cell.Kind, cell.Level = level, levels[i]
		case !h.number && i == h.levels:
			cell.Kind = stray
		}
		cells[i] = cell
	}
	if h.number {
		h.mark(cells[:h.bins()], threshold)
	}
	return cells
}

// mark keeps the bins from the first to the last run that has records.
func (h *histogram) mark(bins []Cell, threshold float64) {
	counts := make([]float64, len(bins))
	for i, b := range bins {
		counts[i] = b.Count
	}
	first, last := span(counts, threshold)
	for i := range bins {
		bins[i].Kept = i >= first && i <= last
	}
}

// narrowed returns the column with the cells that are kept. If none is kept, the column stays as
// declared.
func narrowed(c records.Column, cells []Cell, h *histogram) records.Column {
	first, last := h.bins(), -1
	for i, cell := range cells[:h.bins()] {
		if cell.Kept {
			first, last = min(first, i), max(last, i)
		}
	}
	if last < 0 {
		return c
	}
	if c.HasMissing() && !cells[len(cells)-1].Kept {
		c = c.WithoutMissing()
	}
	switch c.Kind() {
	case records.CategoricalColumn:
		return frequent(c, cells[:h.bins()])
	case records.OrdinalColumn:
		return spanned(c, first, last)
	}
	return bounded(c, cells[first].Lo, cells[last].Hi, last == h.bins()-1)
}

// bounded returns the column with the outer edges of the kept bins as bounds. A bin of whole
// numbers excludes its upper edge, unless it is the last.
func bounded(c records.Column, lo, hi float64, closed bool) records.Column {
	if c.Kind() != records.IntegerColumn || closed {
		return c.WithBounds(lo, hi)
	}
	if hi--; hi == lo { // a single number: bounds need two
		hi++
	}
	return c.WithBounds(lo, hi)
}

// frequent returns the column with the levels that are kept and the level for all others.
func frequent(c records.Column, cells []Cell) records.Column {
	var kept []string
	for _, cell := range cells {
		if cell.Kept || cell.Level == c.Other() {
			kept = append(kept, cell.Level)
		}
	}
	return c.WithLevels(kept...)
}

// spanned returns the column with all levels from the first to the last kept level, at least two,
// and the level for all others. Levels in between stay, so that the order keeps its scale.
func spanned(c records.Column, first, last int) records.Column {
	levels := c.Levels()
	for i, l := range levels {
		if l == c.Other() {
			first, last = min(first, i), max(last, i)
		}
	}
	if first == last {
		if last+1 < len(levels) {
			last++
		} else {
			first--
		}
	}
	return c.WithLevels(levels[first : last+1]...)
}

// String lists the kept cells, column by column.
func (d *Draft) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "draft: %v\n", d.Schema)
	fmt.Fprintf(&b, "noise on a count: %.4g; a level is kept from a count of %.4g\n",
		d.Std, d.Threshold)
	for _, c := range d.Columns {
		fmt.Fprintf(&b, "  %s:", c.Name)
		for _, cell := range c.Cells {
			if cell.Kept {
				fmt.Fprintf(&b, " %v", cell)
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "ε = %s, δ = %g, %v", accountant.FormatUpper(d.Guarantee.Epsilon, 4),
		d.Guarantee.Delta, d.Guarantee.Relation)
	return b.String()
}

// String returns the cell and its count.
func (c Cell) String() string {
	switch c.Kind {
	case bin:
		return fmt.Sprintf("[%.4g, %.4g): %.0f;", c.Lo, c.Hi, c.Count)
	case level:
		return fmt.Sprintf("%s: %.0f;", c.Level, c.Count)
	}
	return fmt.Sprintf("%s: %.0f;", string(c.Kind), c.Count)
}
