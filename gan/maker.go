package gan

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// maker turns codes with labels into records, with a generator.
type maker struct {
	be      device.Backend
	net     models.Generator
	latent  int
	classes int
	cum     []float64 // of the classes' weights
	host    []float32
	codes   device.Matrix
	out     device.Matrix
}

func newMaker(be device.Backend, net models.Generator, c Config) *maker {
	m := &maker{be: be, net: net, latent: c.Latent, classes: c.classes()}
	m.weigh(c.ClassWeights)
	return m
}

// weigh says how often classes are drawn: all alike without weights.
func (m *maker) weigh(weights []float64) {
	m.cum = m.cum[:0]
	total := 0.0
	for i := range m.classes {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		total += w
		m.cum = append(m.cum, total)
	}
}

// resize makes room for codes and their records.
func (m *maker) resize(rows int) (host []float32, codes, out device.Matrix) {
	width := codeWidth(m.latent, m.classes)
	if m.codes.Rows < rows {
		room := rows + rows/8
		m.host = make([]float32, room*width)
		m.codes, m.out = m.be.New(room, width), m.be.New(room, m.net.Dim())
	}
	return m.host[:rows*width], m.codes.RowRange(0, rows), m.out.RowRange(0, rows)
}

// pick draws a class, -1 where there are none.
func (m *maker) pick(rng *rand.Rand) int32 {
	if m.classes == 0 {
		return -1
	}
	u := rng.Float64() * m.cum[m.classes-1]
	for c, top := range m.cum {
		if u < top {
			return int32(c)
		}
	}
	return int32(m.classes - 1)
}

// code writes a label into a code whose first coordinates are drawn already. A label that is none
// leaves it without.
func (m *maker) code(row []float32, label int32) {
	clear(row[m.latent:])
	if label >= 0 && int(label) < m.classes {
		row[m.latent+int(label)] = 1
	}
}

// draw uploads random codes for labels.
func (m *maker) draw(rng *rand.Rand, labels []int32) (codes, out device.Matrix) {
	host, codes, out := m.resize(len(labels))
	for i, label := range labels {
		row := host[i*codes.Cols : (i+1)*codes.Cols]
		for j := range m.latent {
			row[j] = float32(rng.NormFloat64())
		}
		m.code(row, label)
	}
	m.be.Upload(codes, host)
	return codes, out
}

// labels draws as many as there is room for.
func (m *maker) labels(rng *rand.Rand, dst []int32) {
	for i := range dst {
		dst[i] = m.pick(rng)
	}
}

// keyed makes one fake for each record, from the record's key and label alone.
func (m *maker) keyed(keys []uint64, labels []int32) device.Matrix {
	host, codes, out := m.resize(len(keys))
	for i, key := range keys {
		row := host[i*codes.Cols : (i+1)*codes.Cols]
		models.KeyedCode(row[:m.latent], key)
		label := int32(-1)
		if labels != nil {
			label = labels[i]
		}
		m.code(row, label)
	}
	m.be.Upload(codes, host)
	m.net.Generate(codes, out)
	return out
}
