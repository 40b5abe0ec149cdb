package network

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Codes creates the inputs of a generator: rows of Latent numbers, followed by the one-hot class if
// Classes is positive.
type Codes struct {
	Backend         device.Backend
	Latent, Classes int

	host   []float32
	matrix device.Matrix
}

// Width returns the length of a code.
func (c *Codes) Width() int { return c.Latent + c.Classes }

// Fill returns n codes and calls write to set the numbers of each code. If a label is not one of
// the classes, its code has no class; labels may be nil. The result is valid until the next call.
func (c *Codes) Fill(n int, labels []int32, write func(i int, code []float32)) device.Matrix {
	width := c.Width()
	if c.matrix.Rows < n {
		c.matrix = c.Backend.New(n+n/8, width)
		c.host = make([]float32, c.matrix.Rows*width)
	}
	for i := range n {
		row := c.host[i*width : (i+1)*width]
		write(i, row[:c.Latent])
		clear(row[c.Latent:])
		if labels != nil && labels[i] >= 0 && int(labels[i]) < c.Classes {
			row[c.Latent+int(labels[i])] = 1
		}
	}
	out := c.matrix.RowRange(0, n)
	c.Backend.Upload(out, c.host[:n*width])
	return out
}

// Draw returns codes of standard normal numbers, one code for each label.
func (c *Codes) Draw(rng *rand.Rand, labels []int32) device.Matrix {
	return c.Fill(len(labels), labels, func(_ int, code []float32) {
		for j := range code {
			code[j] = float32(rng.NormFloat64())
		}
	})
}

// A Maker generates records from codes. It is not safe for concurrent use.
type Maker struct {
	Codes
	Net    models.Generator
	Others []models.Generator // networks that take turns with Net
	Choice Choice             // draws classes; nil if there are none
	out    device.Matrix

	made              int           // number of records generated so far
	turn, turnRecords device.Matrix // codes and records of the network whose turn it is
}

// Labels sets all labels to asked if asked is not negative, and draws them otherwise. Without
// classes, labels are -1.
func (m *Maker) Labels(rng *rand.Rand, asked int, dst []int32) {
	for i := range dst {
		dst[i] = -1
		if m.Choice != nil {
			dst[i] = int32(m.Choice.Pick(rng, asked))
		}
	}
}

// Generate returns the record of each code. A record does not depend on other codes. The result is
// valid until the next call.
func (m *Maker) Generate(codes device.Matrix) device.Matrix {
	if m.out.Rows < codes.Rows {
		m.out = m.Backend.New(codes.Rows+codes.Rows/8, m.Net.Dim())
	}
	out := m.out.RowRange(0, codes.Rows)
	if len(m.Others) == 0 {
		m.Net.Generate(codes, out)
	} else {
		m.inTurn(codes, out)
	}
	m.made += codes.Rows
	return out
}

// inTurn generates every network's records of the batch. Net generates the first record of a draw.
func (m *Maker) inTurn(codes, out device.Matrix) {
	n := 1 + len(m.Others)
	if most := (codes.Rows + n - 1) / n; m.turn.Rows < most {
		m.turn, m.turnRecords = m.Backend.New(most, codes.Cols), m.Backend.New(most, out.Cols)
	}
	for first := range min(n, codes.Rows) {
		net := m.Net
		if i := (m.made + first) % n; i > 0 {
			net = m.Others[i-1]
		}
		from, to := everyNth(codes, first, n), everyNth(out, first, n)
		turn, made := m.turn.RowRange(0, from.Rows), m.turnRecords.RowRange(0, from.Rows)
		m.Backend.Apply(device.Identity, turn, from)
		net.Generate(turn, made)
		m.Backend.Apply(device.Identity, to, made)
	}
}

// everyNth returns rows first, first+n, first+2n, … of a matrix.
func everyNth(m device.Matrix, first, n int) device.Matrix {
	out := m.RowRange(first, m.Rows)
	out.Rows = (out.Rows + n - 1) / n
	out.Stride *= n
	return out
}

// State returns the generator's output for n records, and their classes. The caller may keep both.
func (m *Maker) State(rng *rand.Rand, asked, n int) (labels []int32, flat []float32) {
	labels = make([]int32, n)
	m.Labels(rng, asked, labels)
	out := m.Generate(m.Draw(rng, labels))
	flat = make([]float32, n*out.Cols)
	m.Backend.Download(flat, out)
	return labels, flat
}

// Sampler returns a Sampler of records of a schema. With d.Means, binary coordinates are means
// instead of draws, and columns of tables have their most probable level instead of a drawn level.
func (m *Maker) Sampler(s records.Schema, d synth.Draw, rng *rand.Rand) synth.Sampler {
	if d.Means && s.IsBinary() {
		s = MeansOf(s)
	}
	return synth.Sampler{Schema: s, Next: func(n int) (records.Data, error) {
		labels, flat := m.State(rng, d.Class, n)
		if s.Classes() == 0 {
			labels = nil
		}
		return Records(rng, s, d.Means, flat, labels)
	}}
}
