package mix

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// drawing makes records of a population, in chunks.
type drawing struct {
	*population
	draw synth.Draw
	rng  *rand.Rand
	z    []float64
	odds []float64
}

func (p *population) drawing(d synth.Draw) *drawing {
	return &drawing{population: p, draw: d, rng: rand.New(rand.NewPCG(d.Seed, 0x6d69786472)),
		z: make([]float64, p.factors)}
}

// next draws n records.
func (d *drawing) next(n int) (records.Data, error) {
	dim := d.schema.Dim()
	flat, labels := make([]float32, n*dim), make([]int32, n)
	for i := range n {
		class := d.draw.Class
		if class < 0 {
			class = d.pick(d.rng)
		}
		labels[i] = int32(class)
		for k := range d.z {
			d.z[k] = d.rng.NormFloat64()
		}
		d.record(&d.classes[class], flat[i*dim:(i+1)*dim])
	}
	if d.schema.Classes() == 0 {
		labels = nil
	}
	switch {
	case !d.schema.Sparse():
		return records.DecodeFlat(d.schema, flat, labels...)
	case d.draw.Means:
		return records.FromFlat(network.MeansOf(d.schema), flat, labels...)
	}
	return network.Records(d.rng, d.schema, flat, labels)
}

// record writes the encoded form of a record. Items of a set are left as probabilities.
func (d *drawing) record(m *margins, row []float32) {
	sparse := d.schema.Sparse()
	for _, b := range d.blocks {
		switch {
		case b.kind == levelBlock:
			d.level(m, b, row)
		case sparse:
			row[b.offset] = float32(d.chance(m, b.offset))
		default:
			d.value(m, b, row)
		}
	}
}

// chance is the probability of a choice.
func (d *drawing) chance(m *margins, j int) float64 {
	return logistic(m.intercept[j] + dot(m.slope[j], d.z))
}

// happens draws a choice, or takes the likelier side where means are wanted.
func (d *drawing) happens(m *margins, j int) bool {
	u := d.rng.Float64()
	if d.draw.Means {
		u = 0.5
	}
	return u < d.chance(m, j)
}

// value writes a flag or a number, or that it is missing.
func (d *drawing) value(m *margins, b block, row []float32) {
	if b.missing && d.happens(m, b.offset+1) {
		row[b.offset+1] = 1
		return
	}
	j := b.offset
	switch e := d.rng.NormFloat64(); {
	case b.kind == choiceBlock:
		if d.happens(m, j) {
			row[j] = 1
		}
	case d.draw.Means:
		row[j] = float32(d.chance(m, j))
	default:
		row[j] = float32(logistic(m.intercept[j] + dot(m.slope[j], d.z) + m.rest[j]*e))
	}
}

// level writes one level of a column, drawn or the most probable.
func (d *drawing) level(m *margins, b block, row []float32) {
	d.odds = d.odds[:0]
	for j := b.offset; j < b.offset+b.width; j++ {
		d.odds = append(d.odds, m.intercept[j]+dot(m.slope[j], d.z))
	}
	softmax(d.odds)
	u, chosen := d.rng.Float64(), 0
	for j, p := range d.odds {
		if d.draw.Means {
			if p > d.odds[chosen] {
				chosen = j
			}
			continue
		}
		if chosen = j; u < p {
			break
		}
		u -= p
	}
	row[b.offset+chosen] = 1
}
