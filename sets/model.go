package sets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// model is the released result of a fit on sets.
type model struct {
	schema  records.Schema
	sampler sampler
}

// sampler draws n sets of distinct items in any order. A set that is not longer than the schema
// allows may share the sampler's memory.
type sampler interface {
	draw(rng *rand.Rand, n int) [][]uint32
	// given returns a sampler of sets that have all items of have and none of lack, and the
	// probability of such sets. The sampler must not be used if the probability is zero.
	given(have, lack map[uint32]bool) (sampler, float64)
	// numbers returns the numbers that draw uses, in addition to those in the header.
	numbers() []float64
	header(*modelHeader)
}

// modelHeader describes a model in a file; the sampler's numbers are its one section.
type modelHeader struct {
	Schema   records.Schema `json:"schema"`
	MaxItems int            `json:"max_items,omitempty"` // of MWEM's domain, like Domain and Seed
	Domain   int            `json:"domain,omitempty"`
	Seed     uint64         `json:"seed,string"`
}

const sectionNumbers = "numbers"

// Schema returns the schema of the synthetic records.
func (m *model) Schema() records.Schema { return m.schema }

// drawChunk is the number of sets that are drawn at a time: a pass over all items takes about as
// long for one set as for many.
const drawChunk = 1 << 13

// Sampler starts a draw. Draw.Means has no effect on sets.
func (m *model) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng := rand.New(rand.NewPCG(d.Seed, 0x62617365))
	var ready [][]uint32
	return synth.Sampler{Schema: m.schema, Next: func(n int) (records.Data, error) {
		if len(ready) < n {
			more := drawChunk
			if n < synth.SampleChunk { // the last records
				more = n - len(ready)
			}
			ready = append(ready, m.draw(rng, more)...)
		}
		rows := ready[:n]
		ready = ready[n:]
		return records.FromItems(m.schema, rows)
	}}, nil
}

// draw truncates sets to the schema's largest size, in the same way as sets that are read.
func (m *model) draw(rng *rand.Rand, n int) [][]uint32 {
	rows := m.sampler.draw(rng, n)
	for i, row := range rows {
		if len(row) > m.schema.MaxItems() {
			slices.Sort(row)
			rows[i] = records.CutSet(row, m.schema.MaxItems())
		}
	}
	return rows
}

// Encode returns a file of the released state, and nothing else.
func (m *model) Encode() (*synth.File, error) {
	h := modelHeader{Schema: m.schema}
	m.sampler.header(&h)
	v := m.sampler.numbers()
	return synth.NewFile(h, synth.FloatsPart(sectionNumbers, &v, len(v)))
}

// readModel rebuilds a model. Its memory is bounded by the section's size or, for MWEM, by the
// sizes that a configuration may have, of which a part of a composition has its share.
func readModel(f *synth.File, l synth.Loading) (synth.Model, error) {
	var h modelHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	if err := h.Schema.Validate(); err != nil || !h.Schema.Sparse() {
		return nil, malformed("the schema is not one of sets")
	}
	data, err := f.Section(sectionNumbers)
	if err != nil {
		return nil, err
	}
	v, err := synth.ReadFloats[float64](data, len(data)/8)
	if err != nil {
		return nil, err
	}
	m := &model{schema: h.Schema}
	if f.Kind == nameIndependent {
		m.sampler, err = readIndependent(h, v)
	} else {
		m.sampler, err = readDomain(h, v, l.Limits)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (p independentItems) numbers() []float64  { return p }
func (p independentItems) header(*modelHeader) {}

func readIndependent(h modelHeader, v []float64) (sampler, error) {
	if len(v) != h.Schema.Dim() {
		return nil, malformed(fmt.Sprintf("%d probabilities; the schema has %d items", len(v),
			h.Schema.Dim()))
	}
	return independentItems(v), nil
}

// domainWeights has MWEM's weights and the description of their domain. The domain is public and is
// drawn again when a model is read.
type domainWeights struct {
	mwem
	*weights
}

func (d *domainWeights) numbers() []float64 { return d.weights.p }

func (d *domainWeights) header(h *modelHeader) {
	h.MaxItems, h.Domain, h.Seed = d.MaxItems, d.Domain, d.Seed
}

func readDomain(h modelHeader, v []float64, l records.Limits) (sampler, error) {
	m := mwem{MWEM{Common: Common{Schema: h.Schema, MaxItems: h.MaxItems, Seed: h.Seed},
		Domain: h.Domain}}
	if h.MaxItems < 1 || h.MaxItems > h.Schema.MaxItems() || h.Domain < 1 || h.Domain > mostDomain ||
		!m.small() {
		return nil, malformed("a domain that no plan has")
	}
	size := setsUpTo(h.Schema.Dim(), h.MaxItems)
	if size > listedDomain {
		size = h.Domain
		if n := h.Domain * h.MaxItems; n > mostInDomain/4 && h.MaxItems > 64 &&
			int64(n/8) > cmp.Or(l.Values, 2<<20) {
			return nil, synth.Malformed(&records.LimitError{Limit: "Values",
				What: fmt.Sprintf("a domain has %d items, more than eight times the limit", n)})
		}
	}
	if len(v) != size {
		return nil, malformed(fmt.Sprintf("%d weights; the domain has %d sets", len(v), size))
	}
	domain := m.domain()
	total := 0.0
	for _, p := range v {
		if !(p >= 0) {
			return nil, malformed("a negative weight")
		}
		total += p
	}
	if !(total > 0 && total <= math.MaxFloat64) { // divided by the total, all would be zero
		return nil, malformed("weights without a positive finite sum")
	}
	w := &weights{domain: domain, p: v}
	w.sum()
	return &domainWeights{mwem: m, weights: w}, nil
}
