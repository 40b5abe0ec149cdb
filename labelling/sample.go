package labelling

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Sampler starts a draw of records with the classifier's labels.
//
// Errors: those of the other model's Sampler.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	c, err := m.drawing(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	next := c.relabelled
	switch {
	case m.config.Rule == Keep:
		next = c.kept
	case d.Class >= 0:
		next = c.named
	}
	return synth.Sampler{Schema: c.schema, Next: next}, nil
}

// drawing is a draw in progress, for one caller.
type drawing struct {
	m      *Model
	draw   synth.Draw
	schema records.Schema
	all    *synth.Sampler   // nil before it is needed
	of     []*synth.Sampler // of one class each; nil before it is needed
	score  *scorer
}

func (m *Model) drawing(d synth.Draw) (*drawing, error) {
	all, err := m.Model.Sampler(d)
	if err != nil {
		return nil, err
	}
	score, err := newScorer(m.config, m.backend, all.Schema, m.params)
	if err != nil {
		return nil, err
	}
	s := all.Schema
	c := &drawing{m: m, draw: d, schema: s, score: score, of: make([]*synth.Sampler, s.Classes())}
	if d.Class >= 0 {
		c.of[d.Class] = &all
	} else {
		c.all = &all
	}
	return c, nil
}

// generate draws records of a class, or of all if it is negative.
func (c *drawing) generate(class, n int) (records.Data, error) {
	at := &c.all
	if class >= 0 {
		at = &c.of[class]
	}
	if *at == nil {
		d := c.draw
		d.Class, d.Seed = class, d.Seed+uint64(class+2)*0x9e3779b97f4a7c15
		s, err := c.m.Model.Sampler(d)
		if err != nil {
			return nil, err
		}
		*at = &s
	}
	rows, err := (*at).Next(n)
	if err == nil && (rows.Len() != n || len(labelsOf(rows)) != n) {
		err = fmt.Errorf("labelling: %d records with labels of %d of %s", len(labelsOf(rows)), n,
			c.m.system)
	}
	return rows, err
}

// relabelled draws records of all classes and gives them the classifier's labels.
func (c *drawing) relabelled(n int) (records.Data, error) {
	if n == 0 {
		return records.Concat(c.schema)
	}
	rows, err := c.generate(-1, n)
	if err != nil {
		return nil, err
	}
	labels, _ := c.score.labels(rows, -1)
	return withLabels(c.schema, rows, labels)
}

// named draws records of all classes and returns those to which the classifier gives the draw's
// class. If the tries are over, it goes on with the most probable of the rest.
func (c *drawing) named(n int) (records.Data, error) {
	var drawn []records.Data
	var good, rest []place
	generated := 0
	for try := 0; len(good) < n && try < c.m.config.Tries*len(c.of); try++ {
		rows, err := c.generate(-1, n)
		if err != nil {
			return nil, err
		}
		labels, sure := c.score.labels(rows, c.draw.Class)
		for i, label := range labels {
			p := place{at: int32(generated + i), margin: sure[i]}
			if int(label) == c.draw.Class {
				good = append(good, p)
			} else {
				rest = append(rest, p)
			}
		}
		drawn, generated = append(drawn, rows), generated+n
	}
	if missing := n - len(good); missing > 0 {
		slices.SortStableFunc(rest, func(a, b place) int { return cmp.Compare(b.margin, a.margin) })
		good = append(good, rest[:min(missing, len(rest))]...)
	}
	rows, err := take(c.schema, drawn, good[:min(n, len(good))])
	if err != nil {
		return nil, err
	}
	labels := make([]int32, rows.Len())
	for i := range labels {
		labels[i] = int32(c.draw.Class)
	}
	return withLabels(c.schema, rows, labels)
}

// withLabels returns copies of records with other labels.
func withLabels(s records.Schema, rows records.Data, labels []int32) (records.Data, error) {
	var b device.Batch
	rows.Range(0, rows.Len(), &b)
	if b.Sparse != nil {
		return records.FromCSR(s, b.Sparse.Offsets, b.Sparse.Items, labels...)
	}
	flat := make([]float32, 0, b.Rows*s.Dim())
	for i := range b.Rows {
		flat = append(flat, b.Dense.Row(i)...)
	}
	if s.Kind() == records.MixedTable {
		return records.DecodeFlat(s, flat, labels...)
	}
	return records.FromFlat(s, flat, labels...)
}

// place is where a chosen record is among the generated ones.
type place struct {
	label  int32
	at     int32
	margin float64
	done   bool
}

// kept chooses n records. A record that is not accepted is generated again, of the same class,
// until one is or the tries are over; then the one with the largest margin is taken.
func (c *drawing) kept(n int) (records.Data, error) {
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
			rows, err := c.generate(class, len(list))
			if err != nil {
				return nil, err
			}
			for i, v := range c.score.margins(rows) {
				p := &places[list[i]]
				if v > p.margin || p.margin != p.margin {
					p.at, p.margin, p.done = int32(generated+i), v, c.m.accepts(v)
				}
			}
			drawn, generated = append(drawn, rows), generated+rows.Len()
		}
	}
	return take(c.schema, drawn, places)
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
	return nil, fmt.Errorf("labelling: records of type %T", all)
}
