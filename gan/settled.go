package gan

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A settled adjusts the output of a generator of tables to the released distributions of each
// class, which is post-processing.
type settled struct {
	bins   int // of numbers
	cells  cells
	of     [][]float64 // by class: probabilities of cells
	shifts [][]float64 // by class and coordinate: shift of the logit
	knots  [][]float64 // by class: quantiles of the output, by ranked column
}

const (
	quantiles    = 65   // evenly spaced quantiles of a ranked column
	settleDraws  = 2048 // draws of each class from which shifts and quantiles are computed
	settleRounds = 12   // rounds of fitting shifts
	settleReach  = 20   // largest shift of a logit
)

// settle fits shifts and quantiles to a generator.
func settle(be device.Backend, net models.Generator, c Config, told *distributions) *settled {
	s := &settled{bins: c.Marginals.bins(), cells: told.cells, of: told.of}
	m := newMaker(be, net, c)
	rng := rand.New(rand.NewPCG(c.Seed, 0x736574746c65))
	dim := c.Schema.Dim()
	flat := make([]float32, settleDraws*dim)
	labels := make([]int32, settleDraws)
	for class := range told.of {
		for i := range labels {
			labels[i] = int32(class)
		}
		be.Download(flat, m.Generate(m.Draw(rng, labels)))
		s.shifts = append(s.shifts, s.fitShifts(flat, dim, class))
		s.knots = append(s.knots, s.fitKnots(flat, dim))
	}
	return s
}

// fitShifts returns shifts of the logits of levels, flags and missing values. With these shifts
// their mean probabilities equal the class's released probabilities.
func (s *settled) fitShifts(flat []float32, dim, class int) []float64 {
	shifts := make([]float64, dim)
	rows := float64(len(flat) / dim)
	row, mean := make([]float64, dim), make([]float64, dim)
	for range settleRounds {
		clear(mean)
		for lo := 0; lo < len(flat); lo += dim {
			for j, v := range flat[lo : lo+dim] {
				row[j] = float64(v)
			}
			s.shift(row, shifts)
			for j, v := range row {
				mean[j] += v / rows
			}
		}
		for _, col := range s.cells.columns {
			col.eachChance(col.within(s.of[class]), func(at int, want float64) {
				shifts[at] += gap(want, mean[at], col.OneHot)
				shifts[at] = min(max(shifts[at], -settleReach), settleReach)
			})
		}
	}
	return shifts
}

// eachChance calls f for every coordinate of the column that is a probability. want is its released
// value.
func (c column) eachChance(p []float64, f func(at int, want float64)) {
	if c.OneHot {
		for j, want := range p {
			f(c.Offset+j, want)
		}
		return
	}
	if c.Width == 2 {
		f(c.Offset+1, p[c.missing()])
	}
	if c.flag() {
		f(c.Offset, p[1]/max(p[0]+p[1], math.SmallestNonzeroFloat64))
	}
}

// gap returns the difference between the logits of two probabilities. If they belong to one of
// several levels, it returns the difference between their logarithms.
func gap(want, have float64, several bool) float64 {
	const least = 1e-6
	want, have = min(max(want, least), 1-least), min(max(have, least), 1-least)
	if several {
		return math.Log(want / have)
	}
	return math.Log(want/have) - math.Log((1-want)/(1-have))
}

// shift shifts the logits of a row's probabilities.
func (s *settled) shift(row, shifts []float64) {
	for _, col := range s.cells.columns {
		if !col.OneHot {
			if col.Width == 2 {
				row[col.Offset+1] = shifted(row[col.Offset+1], shifts[col.Offset+1])
			}
			if col.flag() {
				row[col.Offset] = shifted(row[col.Offset], shifts[col.Offset])
			}
			continue
		}
		total := 0.0
		for j := col.Offset; j < col.Offset+col.Width; j++ {
			row[j] = max(row[j], math.SmallestNonzeroFloat32) * math.Exp(shifts[j])
			total += row[j]
		}
		for j := col.Offset; j < col.Offset+col.Width; j++ {
			row[j] /= total
		}
	}
}

// shifted returns the probability p with by added to its logit.
func shifted(p, by float64) float64 {
	odds := math.Exp(by)
	return p * odds / (1 + p*(odds-1))
}

// fitKnots returns the quantiles of the output for the ranked columns, one column after another.
func (s *settled) fitKnots(flat []float32, dim int) (knots []float64) {
	values := make([]float64, len(flat)/dim)
	for _, col := range s.cells.columns {
		if !col.ranked() {
			continue
		}
		for i := range values {
			values[i] = float64(flat[i*dim+col.Offset])
		}
		slices.Sort(values)
		for q := range quantiles {
			knots = append(knots, values[q*(len(values)-1)/(quantiles-1)])
		}
	}
	return knots
}

// row adjusts one row of the generator's output for a record of the class. room is scratch memory.
func (s *settled) row(row []float32, class int, room []float64) {
	if class < 0 || class >= len(s.of) {
		class = 0
	}
	for j, v := range row {
		room[j] = float64(v)
	}
	s.shift(room, s.shifts[class])
	knots := s.knots[class]
	for _, col := range s.cells.columns {
		if col.ranked() {
			rank := rankAmong(knots[:quantiles], room[col.Offset])
			room[col.Offset] = col.number(col.within(s.of[class]), rank)
			knots = knots[quantiles:]
		}
	}
	for j, v := range room {
		row[j] = float32(v)
	}
}

// rows adjusts many rows; labels has the class of each row.
func (s *settled) rows(flat []float32, labels []int32) {
	if s == nil {
		return
	}
	dim := len(s.shifts[0])
	room := make([]float64, dim)
	for i := range len(flat) / dim {
		class := 0
		if labels != nil {
			class = int(labels[i])
		}
		s.row(flat[i*dim:(i+1)*dim], class, room)
	}
}

// draw adjusts rows and replaces their probabilities by drawn levels.
func (s *settled) draw(rng *rand.Rand, flat []float32, labels []int32) {
	s.rows(flat, labels)
	blocks := make([]network.Block, len(s.cells.columns))
	for j, col := range s.cells.columns {
		blocks[j] = col.Block
	}
	network.Levels(rng, blocks, flat)
}

// rankAmong returns the position of a number among quantiles, as a number from 0 to 1.
func rankAmong(knots []float64, x float64) float64 {
	first, _ := slices.BinarySearch(knots, x)
	last := first
	for last < len(knots) && knots[last] <= x {
		last++
	}
	n := float64(len(knots) - 1)
	switch {
	case last > first: // several quantiles may equal x: return their middle
		return float64(first+last-1) / 2 / n
	case first == 0:
		return 0
	case first == len(knots):
		return 1
	}
	lo, hi := knots[first-1], knots[first]
	return (float64(first-1) + (x-lo)/(hi-lo)) / n
}

const (
	sectionCells  = "distributions"
	sectionShifts = "shifts"
	sectionKnots  = "quantiles"
)

// sections returns the sections of a file that store s.
func (s *settled) sections() []synth.Section {
	if s == nil {
		return nil
	}
	flat := func(name string, lists [][]float64) synth.Section {
		return synth.Section{Name: name, Data: synth.Floats64(slices.Concat(lists...))}
	}
	return []synth.Section{flat(sectionCells, s.of), flat(sectionShifts, s.shifts),
		flat(sectionKnots, s.knots)}
}

// readSettled reads the sections that sections wrote.
//
// Errors: synth.ErrFormat.
func readSettled(f *synth.File, schema records.Schema, bins, classes int) (*settled, error) {
	if bins < 1 || bins > mostBins || schema.Kind() != records.MixedTable {
		return nil, fmt.Errorf("distributions of %v with %d bins, want a table and 1 to %d bins", schema,
			bins, mostBins)
	}
	s := &settled{bins: bins, cells: newCells(schema, bins)}
	ranked := 0
	for _, col := range s.cells.columns {
		if col.ranked() {
			ranked++
		}
	}
	read := func(name string, each int, lo, hi float64) (lists [][]float64, err error) {
		data, err := f.Section(name)
		if err != nil {
			return nil, err
		}
		flat, err := synth.ReadFloats64(data, classes*each)
		if err != nil {
			return nil, err
		}
		for _, v := range flat {
			if !(v >= lo && v <= hi) {
				return nil, synth.Malformed(fmt.Errorf("section %s has the value %v, want %v to %v", name, v,
					lo, hi))
			}
		}
		for c := range classes {
			lists = append(lists, flat[c*each:(c+1)*each])
		}
		return lists, nil
	}
	var errs [3]error
	s.of, errs[0] = read(sectionCells, s.cells.total, 0, 1+1e-9)
	s.shifts, errs[1] = read(sectionShifts, schema.Dim(), -settleReach, settleReach)
	s.knots, errs[2] = read(sectionKnots, ranked*quantiles, 0, 1)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return s, nil
}
