package tables

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

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
