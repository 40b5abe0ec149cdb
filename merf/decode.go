package merf

import (
	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/records"
)

// decode turns what the network states, probabilities and numbers in [0,1], into records of the draw's schema.
func (s *sampler) decode(flat []float32) (records.Data, error) {
	schema := s.model.DrawSchema(s.draw)
	if schema.Kind() == records.MixedTable {
		return s.table(schema, flat)
	}
	return system.Records(s.rng, schema, flat, s.labels)
}

// table draws the levels of every row, unless the most probable ones are wanted.
func (s *sampler) table(schema records.Schema, flat []float32) (records.Data, error) {
	if !s.draw.Means {
		system.Rows(s.rng, s.blocks, flat)
	}
	return records.DecodeFlat(schema, flat, s.labels...)
}
