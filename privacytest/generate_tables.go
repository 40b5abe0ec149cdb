package privacytest

import (
	"math"

	"github.com/seed7ba64551/privgen/records"
)

// frame builds a mixed table. Coordinates in [0, 1] become the raw cells that they encode. A
// coordinate outside [0, 1] becomes a cell outside the schema: the unscaled number, or a level that
// does not exist.
func (g *generator) frame(rows []row) (records.Data, error) {
	b, err := records.NewFrameBuilder(g.schema)
	if err != nil {
		return nil, err
	}
	columns, blocks := g.schema.Columns(), g.schema.Blocks()
	for _, r := range rows {
		cells := make([]any, len(columns))
		for j, c := range columns {
			if c.Kind() == records.LabelColumn {
				cells[j] = levelAt(c, int(r.label))
			}
		}
		for _, block := range blocks {
			if block.Part != 0 {
				continue // the cell was made at part 0
			}
			cells[block.Column] = cell(columns[block.Column], block, r.values[block.Offset:][:block.Width])
		}
		if err := b.Append(cells...); err != nil {
			return nil, err
		}
	}
	return b.Frame(), nil
}

// cell returns the raw value that the coordinates v of one column encode.
func cell(c records.Column, block records.Block, v []float32) any {
	first := float64(v[0])
	inside := first >= 0 && first <= 1
	if c.IsNumber() {
		if block.Width == 2 && v[1] > 0.5 && v[1] <= 1 {
			return nil
		}
		if lo, hi := c.Bounds(); inside {
			return lo + first*(hi-lo)
		}
		return first
	}
	if !inside {
		return levelAt(c, -1)
	}
	if !block.OneHot {
		return levelAt(c, int(math.Round(first*float64(len(c.Levels())-1))))
	}
	best := 0
	for i := range v {
		if v[i] > v[best] {
			best = i
		}
	}
	if best == len(c.Levels()) {
		return nil
	}
	return levelAt(c, best)
}

// levelAt returns the name of level i, or a text that names no level.
func levelAt(c records.Column, i int) string {
	if levels := c.Levels(); i >= 0 && i < len(levels) {
		return levels[i]
	}
	return "no such level\x00"
}
