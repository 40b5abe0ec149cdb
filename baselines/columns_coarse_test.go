package baselines

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// TestCoarseGroups checks three properties of coarse groups. Groups of numbers are neighbours of
// about equal weight. The least frequent levels are merged. A missing value keeps its own group.
func TestCoarseGroups(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1).WithMissing(),
		records.Categorical("c", "a", "b", "c", "d", "e", "f"), records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	list := marginal.AttributesOf(s)
	part := make([]float64, list[0].Codes)
	for code := range part {
		part[code] = 1 / float64(len(part))
	}
	x := list[0].Grouped(part, 0, 12)
	list[0].Coarsen(&x, 3)
	missing := x.Group[list[0].Codes-1]
	if x.CoarseSize != 4 || slices.Index(x.Coarse, x.Coarse[missing]) != int(missing) {
		t.Fatalf("got %d coarse groups of numbers, want 4 with missing values apart: %v", x.CoarseSize,
			x.Coarse)
	}
	held := make([]float64, 4)
	last := uint16(0)
	for code, group := range x.Group {
		held[x.Coarse[group]] += part[code]
		if group == missing {
			continue
		}
		if x.Coarse[group] < last {
			t.Errorf("code %d is in coarse group %d after %d", code, x.Coarse[group], last)
		}
		last = x.Coarse[group]
	}
	for i, h := range held {
		if i != int(x.Coarse[missing]) && (h < 0.2 || h > 0.45) {
			t.Errorf("coarse group %d holds a fraction %v of the records, want 0.2 to 0.45", i, h)
		}
	}
	c := list[1].Grouped([]float64{.05, .3, .05, .4, .1, .1}, 0, 12)
	list[1].Coarsen(&c, 3)
	if want := []uint16{2, 1, 2, 0, 2, 2}; c.CoarseSize != 3 || !slices.Equal(c.Coarse, want) {
		t.Errorf("coarse groups of levels %v, want %v", c.Coarse, want)
	}
	class := list[2].Grouped([]float64{.5, .5}, 0, 12)
	if list[2].Coarsen(&class, 2); class.Coarse != nil {
		t.Error("classes have coarse groups")
	}
}

// TestPassStates checks that an encoded state is decoded. A state must be refused if it is cut, too
// long, or names a coarse group that the plan does not have.
func TestPassStates(t *testing.T) {
	s, _ := smallTable(t)
	attributes := marginal.AttributesOf(s)
	groups := someGroups(attributes)
	state := marginal.PassState(groups)
	got, ok := marginal.ReadPassState(attributes, state, 2)
	if !ok {
		t.Fatal("an encoded state is refused")
	}
	for i := range got {
		if got[i].Size != groups[i].Size || got[i].CoarseSize != groups[i].CoarseSize ||
			!slices.Equal(got[i].Group, groups[i].Group) || !slices.Equal(got[i].Coarse, groups[i].Coarse) {
			t.Errorf("attribute %d: %v, want %v", i, got[i], groups[i])
		}
	}
	for cut := range state {
		if _, ok := marginal.ReadPassState(attributes, state[:cut], 2); ok {
			t.Errorf("a state cut to %d of %d bytes is accepted", cut, len(state))
		}
	}
	if _, ok := marginal.ReadPassState(attributes, append(slices.Clone(state), 0, 0), 2); ok {
		t.Error("a state with additional bytes is accepted")
	}
	state[len(state)-2] = 3
	if _, ok := marginal.ReadPassState(attributes, state, 2); ok {
		t.Error("a state with a coarse group that the plan does not have is accepted")
	}
}

// TestCoarseCountsAreSumsOfFineOnes compares the counts of every coarse table with sums of counts
// of the fine table of the same attributes.
func TestCoarseCountsAreSumsOfFineOnes(t *testing.T) {
	s, rows := smallTable(t)
	m := methodFor(t, s, 0)
	groups := someGroups(m.attributes)
	domain := columnsOf(groups)
	codes := make([][]uint16, len(m.attributes))
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		table, err := records.FromValues(s, rows[rng.IntN(len(rows))])
		if err != nil {
			t.Fatal(err)
		}
		one := make([][]uint16, len(codes))
		err = network.EachNonzeros(t.Context(), table, 1, func(_ int, z *records.Nonzeros) {
			marginal.CodesOf(m.attributes, z, one)
		})
		if err != nil {
			t.Fatal(err)
		}
		for j := range codes {
			codes[j] = append(codes[j], groups[j].Group[one[j][0]])
		}
	}
	var buffers [][]uint16
	all, ones := withCoarse(groups, codes, &buffers), slices.Repeat([]int64{1}, 100)
	tables := 0
	for _, c := range m.candidates(domain) {
		merged := c.merged(groups)
		if merged == nil {
			continue
		}
		tables++
		fine, got, want := make([]int64, len(merged)), make([]int64, c.cells), make([]int64, c.cells)
		marginal.CountCells(domain, c.attributes, all, ones, fine)
		marginal.CountCells(domain, c.columns, all, ones, got)
		for cell, k := range merged {
			want[k] += fine[cell]
		}
		if !slices.Equal(got, want) {
			t.Errorf("table %v: %v, want %v", c.columns, got, want)
		}
	}
	if tables != 7 {
		t.Errorf("got %d coarse tables, want 7", tables)
	}
}
