package compose

import (
	"fmt"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// sampler starts a draw of records that the classifier accepts.
//
// Errors: all errors of the part's Sampler.
func (l *labelled) sampler(m *model, d synth.Draw) (synth.Sampler, error) {
	c, err := l.drawing(m, d, nil)
	if err != nil {
		return synth.Sampler{}, err
	}
	return synth.Sampler{Schema: c.schema, Next: c.kept,
		Unaccepted: func() int { return c.unaccepted }}, nil
}

// A labelsDraw is the state of one caller's draw.
type labelsDraw struct {
	*labelled
	part   synth.Model
	draw   synth.Draw
	schema records.Schema
	all    *synth.Sampler   // draws all classes; nil until it is needed
	of     []*synth.Sampler // by class: draws that class; nil until it is needed
	score  *scorer

	unaccepted int // number of returned places that ran out of attempts
}

func (l *labelled) drawing(m *model, d synth.Draw, score *scorer) (*labelsDraw, error) {
	part := m.of[0]
	all, err := part.Sampler(d)
	if err == nil && score == nil {
		score, err = newScorer(l.config, l.backend, all.Schema, l.params)
	}
	if err != nil {
		return nil, err
	}
	s := all.Schema
	c := &labelsDraw{labelled: l, part: part, draw: d, schema: s, score: score,
		of: make([]*synth.Sampler, s.Classes())}
	if d.Class >= 0 {
		c.of[d.Class] = &all
	} else {
		c.all = &all
	}
	return c, nil
}

// generate draws n records of a class, or of all classes if class is negative.
func (c *labelsDraw) generate(class, n int) (records.Data, error) {
	at := &c.all
	if class >= 0 {
		at = &c.of[class]
	}
	if *at == nil {
		d := c.draw
		d.Class, d.Seed = class, d.Seed+uint64(class+2)*0x9e3779b97f4a7c15
		s, err := c.part.Sampler(d)
		if err != nil {
			return nil, err
		}
		*at = &s
	}
	rows, err := (*at).Next(n)
	if err == nil && (rows.Len() != n || len(labelsOf(rows)) != n) {
		err = fmt.Errorf("labels: got %d labelled records, want %d", len(labelsOf(rows)), n)
	}
	return rows, err
}

// mostRejected is the number of rejected records that may stay in memory besides as many as are
// wanted. To free them copies all records.
const mostRejected = 16

// A place is one record of the result: the generated record that is chosen for it so far.
type place struct {
	label  int32
	at     int32   // index of the chosen record among the generated ones
	margin float64 // of the chosen record
	done   bool    // the chosen record is accepted
}

// kept returns n records that the classifier accepts. It replaces a record that is not accepted by
// new records of the same class until one is accepted. If the attempts run out first, it takes the
// record with the largest margin.
func (c *labelsDraw) kept(n int) (records.Data, error) {
	if n == 0 {
		return records.Concat(c.schema)
	}
	first, err := c.generate(c.draw.Class, n)
	if err != nil {
		return nil, err
	}
	drawn := []records.Data{first}
	places := make([]place, n)
	labels := labelsOf(first)
	for i, v := range c.score.margins(first) {
		places[i] = place{labels[i], int32(i), v, c.accepts(v)}
	}
	generated := n
	for try := 1; try < c.config.Tries && c.draw.Err() == nil; try++ {
		open := openByClass(places, len(c.of))
		if open == nil {
			break
		}
		for class, list := range open {
			if len(list) == 0 {
				continue
			}
			rows, err := c.generate(class, len(list))
			if err != nil {
				return nil, err
			}
			for i, v := range c.score.margins(rows) {
				p := &places[list[i]]
				if v > p.margin || p.margin != p.margin {
					p.at, p.margin, p.done = int32(generated+i), v, c.accepts(v)
				}
			}
			drawn, generated = append(drawn, rows), generated+rows.Len()
		}
		if generated < 2*n+mostRejected {
			continue
		}
		rows, err := chosen(c.schema, drawn, places) // frees the rejected records
		if err != nil {
			return nil, err
		}
		for i := range places {
			places[i].at = int32(i)
		}
		drawn, generated = []records.Data{rows}, n
	}
	for _, list := range openByClass(places, len(c.of)) {
		c.unaccepted += len(list)
	}
	return chosen(c.schema, drawn, places)
}

// openByClass returns, for each class, the indices of the places without an accepted record. It
// returns nil if there are none.
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

func labelsOf(d records.Data) []int32 {
	if l, ok := d.(interface{ Labels() []int32 }); ok {
		return l.Labels()
	}
	return nil
}

// chosen returns the records of the places, in the order of the places.
func chosen(s records.Schema, drawn []records.Data, places []place) (records.Data, error) {
	all, err := records.Concat(s, drawn...)
	if err != nil {
		return nil, err
	}
	rows := make([]int32, len(places))
	for i, p := range places {
		rows[i] = p.at
	}
	return take(all, rows)
}
