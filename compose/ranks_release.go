package compose

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// rankedRelease is what ranks release beside the part's model: the counts and the mapping back.
type rankedRelease struct {
	numbers records.Schema
	cells   int
	parts   [][]float64
	columns []column
	back    []back
}

// schema returns the schema of the synthetic records.
func (m *rankedRelease) schema() records.Schema { return m.numbers }

// sampler draws ranks and maps them back to numbers. Draw.Means has no effect on rows.
func (m *rankedRelease) sampler(all *model, d synth.Draw) (synth.Sampler, error) {
	d.Given, d.Unconstrained, d.Means = nil, true, false
	of, err := all.of[0].Sampler(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	rng := rand.New(rand.NewPCG(d.Seed, 0x72616e6b73))
	var in, out records.Nonzeros
	next := func(n int) (records.Data, error) {
		rows, err := of.Next(n)
		if err != nil {
			return nil, err
		}
		in.Range(rows, 0, rows.Len())
		m.unranked(&in, &out, rng)
		return records.DecodeNonzeros(m.numbers, &out)
	}
	return synth.Sampler{Schema: m.numbers, Next: next, Unaccepted: of.Unaccepted}, nil
}

// viewed returns a batch whose numbers are replaced by ranks, which is what the part's clusters are
// of.
func (m *rankedRelease) viewed(b device.Batch) device.Batch {
	own := device.HostMatrix(b.Rows, b.Dense.Cols, make([]float32, b.Rows*b.Dense.Cols))
	for i := range b.Rows {
		copy(own.Row(i), b.Dense.Row(i))
	}
	b.Dense = own
	ranked{columns: m.columns}.replace(&b)
	return b
}

// unranked replaces the coordinates of ranks by coordinates of numbers.
func (m *rankedRelease) unranked(in, out *records.Nonzeros, rng *rand.Rand) {
	out.Reset()
	row := make([]float32, len(m.columns))
	known := make([]bool, len(m.columns))
	for i := range in.Rows {
		clear(known)
		eachNumber(m.columns, in, i, func(j int, x float32) {
			row[j], known[j] = m.columns[j].scale.Number(m.back[j].rank(x, rng)), true
		})
		places, values := in.Row(i)
		at := 0
		for j, c := range m.columns {
			for ; at < len(places) && int(places[at]) < c.place; at++ {
				out.Append(int(places[at]), values[at])
			}
			if at < len(places) && int(places[at]) == c.place {
				at++
			}
			if known[j] {
				out.Append(c.place, row[j])
			}
		}
		for ; at < len(places); at++ {
			out.Append(int(places[at]), values[at])
		}
		out.End()
	}
	out.Labels = in.Labels
}

// eachNumber calls f with the coordinates of row i in each mapped column, except missing numbers.
func eachNumber(columns []column, z *records.Nonzeros, i int, f func(j int, x float32)) {
	places, values := z.Row(i)
	at := 0
	for j, c := range columns {
		for at < len(places) && int(places[at]) < c.place {
			at++
		}
		x := float32(0)
		if at < len(places) && int(places[at]) == c.place {
			x = values[at]
			at++
		}
		if c.missing && at < len(places) && int(places[at]) == c.place+1 && values[at] > 0.5 {
			continue
		}
		f(j, x)
	}
}

type rankedJSON struct {
	Schema records.Schema `json:"schema"`
	Cells  int            `json:"cells"`
}

const (
	sectionParts = "ranks.parts"
	sectionBack  = "ranks.back"
)

func (m *rankedRelease) header() (any, error) {
	return rankedJSON{m.numbers, m.cells}, nil
}

func (m *rankedRelease) sections() []synth.Part {
	var parts []float64
	var ranks []float32
	for j := range m.columns {
		parts, ranks = append(parts, m.parts[j]...), append(ranks, m.back[j]...)
	}
	return []synth.Part{synth.FloatsPart(sectionParts, &parts, len(parts)),
		synth.FloatsPart(sectionBack, &ranks, len(ranks))}
}

func readRanked(f *synth.File, of []synth.Model, _ synth.Loading) (released, error) {
	var j rankedJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	ranks, err := RankSchema(j.Schema)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	if j.Cells < leastCells || j.Cells > mostCells {
		return nil, synth.Malformed(fmt.Errorf("%d cells; want %d to %d", j.Cells, leastCells, mostCells))
	}
	if !of[0].Schema().Equal(ranks) {
		return nil, synth.Malformed(fmt.Errorf("a model of other records: %w", synth.ErrSchema))
	}
	m := &rankedRelease{numbers: j.Schema, cells: j.Cells}
	return m, m.read(f)
}

// read reads the counts and the mapping back.
func (m *rankedRelease) read(f *synth.File) error {
	attributes := attributesOf(m.numbers, m.cells)
	codes := 0
	for _, a := range attributes {
		codes += a.Codes
	}
	var parts []float64
	var ranks []float32
	if err := f.Load(synth.FloatsPart(sectionParts, &parts, codes)); err != nil {
		return err
	}
	n := len(attributes) * ranksOfBack
	if err := f.Load(synth.FloatsPart(sectionBack, &ranks, n)); err != nil {
		return err
	}
	for _, p := range parts {
		if !(p >= 0 && p <= 2) {
			return synth.Malformed(errors.New("a fraction outside [0, 2]"))
		}
	}
	for i, x := range ranks {
		if !(x >= 0 && x <= 1) || i%ranksOfBack > 0 && x < ranks[i-1] {
			return synth.Malformed(errors.New("quantiles that do not ascend from 0 to 1"))
		}
	}
	for j, a := range attributes {
		m.parts = append(m.parts, parts[:a.Codes])
		m.back = append(m.back, back(ranks[j*ranksOfBack:(j+1)*ranksOfBack]))
		parts = parts[a.Codes:]
	}
	m.columns = columnsOf(attributes, m.parts)
	return nil
}
