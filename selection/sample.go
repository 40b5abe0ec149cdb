package selection

import (
	"fmt"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Sampler starts a draw of chosen records.
//
// Errors: those of the other model's Sampler.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	all, err := m.Model.Sampler(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	score, err := newScorer(m.config, m.backend, all.Schema, m.params)
	if err != nil {
		return synth.Sampler{}, err
	}
	c := &choice{m: m, draw: d, all: all, score: score, of: make([]*synth.Sampler, all.Schema.Classes())}
	return synth.Sampler{Schema: all.Schema, Next: c.next}, nil
}

// choice is a draw in progress, for one caller.
type choice struct {
	m     *Model
	draw  synth.Draw
	all   synth.Sampler
	of    []*synth.Sampler // of one class each; nil before it is needed
	score *scorer
}

// place is where a chosen record is among the generated ones.
type place struct {
	label  int32
	at     int32
	margin float64
	done   bool
}

// next chooses n records. A record that is not accepted is generated again, of the same class, until
// one is or the tries are over; then the one with the largest margin is taken.
func (c *choice) next(n int) (records.Data, error) {
	first, err := c.all.Next(n)
	if err != nil || n == 0 {
		return first, err
	}
	drawn := []records.Data{first}
	places := make([]place, n)
	labels := labelsOf(first)
	if len(labels) != n {
		return nil, fmt.Errorf("selection: %d labels of %d records of %s", len(labels), n, c.m.system)
	}
	for i, v := range c.score.margins(nil, first) {
		places[i] = place{labels[i], int32(i), v, c.m.accepts(v)}
	}
	generated := n
	for try := 1; try < c.m.config.Tries; try++ {
		open := openByClass(places, len(c.of))
		if open == nil {
			break
		}
		for class, list := range open {
			if len(list) == 0 {
				continue
			}
			rows, err := c.ofClass(class, len(list))
			if err != nil {
				return nil, err
			}
			for i, v := range c.score.margins(nil, rows) {
				p := &places[list[i]]
				if v > p.margin || p.margin != p.margin {
					p.at, p.margin, p.done = int32(generated+i), v, c.m.accepts(v)
				}
			}
			drawn, generated = append(drawn, rows), generated+rows.Len()
		}
	}
	return take(c.all.Schema, drawn, places)
}

// openByClass lists the places without an accepted record; nil if there is none.
func openByClass(places []place, classes int) [][]int {
	var open [][]int
	for i, p := range places {
		if !p.done {
			if open == nil {
				open = make([][]int, classes)
			}
			open[p.label] = append(open[p.label], i)
		}
	}
	return open
}

// ofClass draws records of one class.
func (c *choice) ofClass(class, n int) (records.Data, error) {
	if c.of[class] == nil {
		d := c.draw
		d.Class, d.Seed = class, d.Seed+uint64(class+1)*0x9e3779b97f4a7c15
		s, err := c.m.Model.Sampler(d)
		if err != nil {
			return nil, err
		}
		c.of[class] = &s
	}
	rows, err := c.of[class].Next(n)
	if err == nil && rows.Len() != n {
		err = fmt.Errorf("selection: %d records of %d of %s", rows.Len(), n, c.m.system)
	}
	return rows, err
}

func labelsOf(d records.Data) []int32 {
	if l, ok := d.(interface{ Labels() []int32 }); ok {
		return l.Labels()
	}
	return nil
}

// take returns the records of the places, in their order.
func take(s records.Schema, drawn []records.Data, places []place) (records.Data, error) {
	all, err := records.Concat(s, drawn...)
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(places))
	for i, p := range places {
		rows[i] = p.at
	}
	switch t := all.(type) {
	case *records.Table:
		return t.Take(rows), nil
	case *records.Frame:
		return t.Take(rows), nil
	case *records.SetTable:
		return t.Take(rows), nil
	}
	return nil, fmt.Errorf("selection: records of type %T", all)
}
