package merf

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/system"
	"github.com/seed7ba64551/privgen/records"
)

// decode turns what the network states, probabilities and numbers in [0,1], into records of the draw's schema.
func (s *sampler) decode(flat []float32, n int) (records.Data, error) {
	schema := s.model.DrawSchema(s.draw)
	switch {
	case schema.Kind() == records.MixedTable:
		return s.table(schema, flat)
	case schema.IsBinary():
		system.Bernoulli(s.rng, flat)
	default:
		unitOf(schema).stretch(flat)
		schema.Clamp(flat)
	}
	if schema.Sparse() {
		return s.sets(schema, flat, n)
	}
	return records.FromFlat(schema, flat, s.labels...)
}

// table draws the levels of every row, unless the most probable ones are wanted.
func (s *sampler) table(schema records.Schema, flat []float32) (records.Data, error) {
	if !s.draw.Means {
		t := tableSampler{rng: s.rng, blocks: s.blocks}
		for lo, dim := 0, schema.Dim(); lo < len(flat); lo += dim {
			t.row(flat[lo : lo+dim])
		}
	}
	return records.DecodeFlat(schema, flat, s.labels...)
}

// sets lists the items that were drawn, of too many a random choice.
func (s *sampler) sets(schema records.Schema, flat []float32, n int) (records.Data, error) {
	offsets, items := []int{0}, []uint32(nil)
	dim, most := schema.Dim(), schema.MaxItems()
	for i := range n {
		first := len(items)
		for j, v := range flat[i*dim : (i+1)*dim] {
			if v != 0 {
				items = append(items, uint32(j))
			}
		}
		if set := items[first:]; len(set) > most {
			s.rng.Shuffle(len(set), func(a, b int) { set[a], set[b] = set[b], set[a] })
			items = items[:first+most]
			slices.Sort(items[first:])
		}
		offsets = append(offsets, len(items))
	}
	return records.FromCSR(schema, offsets, items, s.labels...)
}
