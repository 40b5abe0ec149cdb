package dpgm

import (
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/records"
)

// table turns what networks state about rows of a table into rows: levels are drawn, unless the
// most probable ones are wanted.
func (s *sampler) table(schema records.Schema) (records.Data, error) {
	if !s.draw.Means {
		system.Rows(s.rng, s.blocks, s.flat)
	}
	return records.DecodeFlat(schema, s.flat)
}
