package report

import (
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// outside notes how many cells of each column of real records are outside the schema. The numbers
// have no noise, like all figures of a report on real records.
func (m *maker) outside(kind string, d records.Data) {
	f, ok := records.AsFrame(d)
	if !ok {
		return
	}
	var parts []string
	for j, column := range f.Schema().Columns() {
		if n := f.Strays(j); n > 0 {
			parts = append(parts, fmt.Sprintf("column %s in %d", param.OneLine(column.Name()), n))
		}
	}
	if len(parts) > 0 {
		m.out.Sizes.Outside = append(m.out.Sizes.Outside, fmt.Sprintf("Not private: some values of the "+
			"%s records are outside the schema and were clamped or replaced: %s of %d records.", kind,
			strings.Join(parts, ", "), f.Len()))
	}
}
