package tables

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// pairsOf returns a schema of flags, and factors of all pairs of them, whose tree is one clique.
func pairsOf(t *testing.T, flags int) (s records.Schema, groups []marginal.Grouping,
	factors []graphical.Factor) {
	t.Helper()
	var columns []records.Column
	for i := range flags {
		columns = append(columns, records.Flag(fmt.Sprint("f", i), "no", "yes"))
		groups = append(groups, marginal.Grouping{Group: []uint16{0, 1}, Size: 2,
			Part: []float64{0.5, 0.5}})
		for j := range i {
			factors = append(factors, graphical.Factor{Attributes: []int{j, i}, Theta: make([]float64, 4)})
		}
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	return s, groups, factors
}

// TestSmallFileOfLargeTree: the size of a file says nothing about its tree, so a tree that would
// take a reader more than some ten megabytes is refused.
func TestSmallFileOfLargeTree(t *testing.T) {
	for flags, good := range map[int]bool{16: true, 21: false} {
		s, groups, factors := pairsOf(t, flags)
		m := newModel(s, leastFine, groups, &graphical.Model{Factors: factors})
		f, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readModel(f, synth.Loading{}); errors.Is(err, synth.ErrFormat) == good ||
			(err == nil) != good {
			t.Errorf("a tree of 2^%d cells: got %v", flags, err)
		}
	}
}

// TestManyConditions: a file may hold many constraints, each of which would need a new model of
// half a million cells.
func TestManyConditions(t *testing.T) {
	const flags = 19
	s, groups, _ := pairsOf(t, flags)
	one := graphical.Factor{Theta: make([]float64, 1<<flags)}
	for i := range flags {
		one.Attributes = append(one.Attributes, i)
	}
	m := newModel(s, leastFine, groups, graphical.NewModel(domainOf(groups),
		[]graphical.Factor{one}))
	var list []records.Constraint
	for k := range 100 {
		list = append(list, records.Combinations([]string{fmt.Sprint("f", k%flags),
			fmt.Sprint("f", (k+1)%flags)}, []string{"no", "no"}, []string{"yes", "yes"}))
	}
	given, met, p := m.Condition(list)
	if n := len(met); n == 0 || n > mostSpent>>flags {
		t.Errorf("conditioned on %d of 100 constraints, want at most %d", n, mostSpent>>flags)
	}
	if p < 0x1p-18*0.999 || p > 0x1p-18*1.001 {
		t.Errorf("got the probability %v, want 2^-18", p)
	}
	sampler, err := given.Sampler(synth.Draw{Cluster: -1, Class: -1})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := sampler.Next(10); err != nil || rows.Len() != 10 {
		t.Error(rows, err)
	}
}
