package merf

import (
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// decode turns what the network states, probabilities and numbers in [0,1], into records of the
// draw's schema.
func (s *sampler) decode(flat []float32) (records.Data, error) {
	if s.schema.Kind() == records.MixedTable {
		return s.table(s.schema, flat)
	}
	return network.Records(s.rng, s.schema, flat, s.labels)
}

// table draws the levels of every row, unless the most probable ones are wanted.
func (s *sampler) table(schema records.Schema, flat []float32) (records.Data, error) {
	if !s.draw.Means {
		network.Rows(s.rng, s.blocks, flat)
	}
	return records.DecodeFlat(schema, flat, s.labels...)
}
