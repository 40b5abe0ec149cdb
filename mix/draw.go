package mix

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// drawing draws records from a population, in chunks.
type drawing struct {
	*population
	draw   synth.Draw
	rng    *rand.Rand
	z, row []float64
}

func (p *population) drawing(d synth.Draw) *drawing {
	return &drawing{population: p, draw: d, rng: rand.New(rand.NewPCG(d.Seed, 0x6d69786472)),
		z: make([]float64, p.factors), row: make([]float64, p.schema.Dim())}
}

// next draws n records. For each record it draws the latent numbers first, and then the
// coordinates.
func (d *drawing) next(n int) (records.Data, error) {
	dim, s := d.schema.Dim(), d.schema
	flat, labels := make([]float32, n*dim), make([]int32, n)
	for i := range n {
		class := d.shares.Pick(d.rng, d.draw.Class)
		labels[i] = int32(class)
		for k := range d.z {
			d.z[k] = d.rng.NormFloat64()
		}
		d.state(&d.classes[class])
		for j, v := range d.row {
			flat[i*dim+j] = float32(v)
		}
	}
	if s.Classes() == 0 {
		labels = nil
	}
	switch {
	case !s.Sparse():
		if !d.draw.Means {
			network.Levels(d.rng, network.TableBlocks(s), flat)
		}
		return records.DecodeFlat(s, flat, labels...)
	case d.draw.Means:
		return records.FromFlat(network.MeansOf(s), flat, labels...)
	}
	return network.Records(d.rng, s, false, flat, labels)
}

// state computes the row of a record from the drawn latent numbers: probabilities of levels, flags
// and items, and the values of numbers.
func (d *drawing) state(m *margins) {
	for j := range d.row {
		d.row[j] = m.intercept[j] + floats.Dot(m.slope[j], d.z)
		if m.rest[j] > 0 && !d.draw.Means {
			d.row[j] += m.rest[j] * d.rng.NormFloat64()
		}
	}
	for _, b := range d.blocks {
		if of := b.of(d.row); b.OneHot {
			softmax(of)
		} else {
			for j, v := range of {
				of[j] = logistic(v)
			}
		}
	}
}
