package evaluate

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// column is one column of records for comparison: levels, or numbers on the schema's encoded scale.
// Numbers also have levels: bins of equal width between the public bounds, and a level for missing
// values.
type column struct {
	name   string
	number bool
	values []float64 // NaN for missing; nil for levels
	codes  []uint16
	levels int
}

// layout describes the positions of columns in encoded records.
type layout struct {
	schema records.Schema
	blocks []records.Block
	bins   int
}

func newLayout(s records.Schema, bins int) layout {
	l := layout{s, s.Blocks(), bins}
	if l.blocks == nil {
		for j := range s.Dim() {
			l.blocks = append(l.blocks, records.Block{Column: j, Offset: j, Width: 1})
		}
	}
	return l
}

// read copies all columns, the class last if there is one.
func (l layout) read(d records.Data) []column {
	out := l.empty(d.Len())
	for lo, b := range judge.Batches(judge.InSchema(d)) {
		judge.ToUnit(l.schema, b)
		rows := compare.NewReader(*b)
		for i := range b.Rows {
			row := rows.Row(i)
			for j, block := range l.blocks {
				out[j].set(lo+i, row[block.Offset:block.Offset+block.Width], block, l.bins)
			}
			if b.Labels != nil {
				out[len(l.blocks)].codes[lo+i] = uint16(b.Labels[i])
			}
		}
	}
	return out
}

// empty returns a column with room for n records.
func (l layout) empty(n int) []column {
	out := make([]column, 0, len(l.blocks)+1)
	declared := l.schema.Columns()
	for _, b := range l.blocks {
		c := column{name: fmt.Sprintf("coordinate %d", b.Column), number: !l.schema.IsBinary(), levels: 2}
		if declared != nil {
			c.name = declared[b.Column].Name() + strings.TrimPrefix(b.Part.String(), ",")
			c.number = !b.OneHot && declared[b.Column].Kind() != records.FlagColumn
		}
		if b.OneHot {
			c.levels = b.Width
		} else if b.Width > 1 {
			c.levels++
		}
		if c.number {
			c.levels, c.values = l.bins+1, make([]float64, n)
		}
		c.codes = make([]uint16, n)
		out = append(out, c)
	}
	if k := l.schema.Classes(); k > 0 {
		out = append(out, column{name: l.labelName(), codes: make([]uint16, n), levels: k})
	}
	return out
}

func (l layout) labelName() string {
	for _, c := range l.schema.Columns() {
		if c.Kind() == records.LabelColumn {
			return c.Name()
		}
	}
	return "class"
}

// set decodes one cell.
func (c *column) set(i int, cell []float32, b records.Block, bins int) {
	missing := !b.OneHot && len(cell) > 1 && cell[1] >= 0.5
	switch {
	case b.OneHot:
		best := 0
		for j, v := range cell {
			if v > cell[best] {
				best = j
			}
		}
		c.codes[i] = uint16(best)
	case c.number && missing:
		c.values[i], c.codes[i] = math.NaN(), uint16(bins)
	case c.number:
		v := float64(cell[0])
		c.values[i], c.codes[i] = v, uint16(min(max(int(v*float64(bins)), 0), bins-1))
	case missing:
		c.codes[i] = 2
	default:
		c.codes[i] = 0
		if cell[0] >= 0.5 {
			c.codes[i] = 1
		}
	}
}

// shape returns the similarity of the distributions of two columns, 1 for identical ones. For
// levels it is 1 minus the total variation distance. For numbers it is 1 minus the
// Kolmogorov–Smirnov distance of the numbers that are not missing, times 1 minus the difference
// between the fractions of missing values.
func (c column) shape(o column) float64 {
	if !c.number {
		return 1 - totalVariation(histogram(len(c.codes), c), histogram(len(o.codes), o))
	}
	a, b := c.present(), o.present()
	missing := math.Abs(1 - compare.Share(len(a), len(c.values)) - 1 +
		compare.Share(len(b), len(o.values)))
	return (1 - kolmogorovSmirnov(a, b)) * (1 - missing)
}

// measure returns the name of the distance that shape uses.
func (c column) measure() string {
	if c.number {
		return "Kolmogorov–Smirnov"
	}
	return "total variation"
}
