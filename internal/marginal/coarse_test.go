package marginal

import (
	"slices"
	"testing"

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
	list := AttributesOf(s)
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
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Flag("f", "no", "yes"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	attributes := AttributesOf(s)
	var groups []Grouping
	for _, a := range attributes {
		g := Grouping{Group: make([]uint16, a.Codes), Part: make([]float64, a.Codes)}
		for code := range g.Group {
			g.Group[code] = uint16(code * min(a.Codes, 5) / a.Codes)
			g.Size = int(g.Group[code]) + 1
			g.Part[code] = 1 / float64(a.Codes)
		}
		a.Coarsen(&g, 2)
		groups = append(groups, g)
	}
	state := PassState(groups)
	got, ok := ReadPassState(attributes, state, 2)
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
		if _, ok := ReadPassState(attributes, state[:cut], 2); ok {
			t.Errorf("a state cut to %d of %d bytes is accepted", cut, len(state))
		}
	}
	if _, ok := ReadPassState(attributes, append(slices.Clone(state), 0, 0), 2); ok {
		t.Error("a state with additional bytes is accepted")
	}
	state[len(state)-2] = 3
	if _, ok := ReadPassState(attributes, state, 2); ok {
		t.Error("a state with a coarse group that the plan does not have is accepted")
	}
}

// TestFewCoarseGroups: groups are merged into two or more, and by a third at least.
func TestFewCoarseGroups(t *testing.T) {
	a := AttributesOf(must(t, records.Integer("x", 0, 30)))[0]
	for _, c := range []struct {
		groups, coarse int
		want           bool
	}{{31, 0, false}, {31, 1, false}, {31, 2, true}, {3, 2, true}, {2, 2, false}, {15, 10, true},
		{14, 10, false}} {
		if got := a.Coarsens(c.groups, c.coarse); got != c.want {
			t.Errorf("%d groups in %d: %v", c.groups, c.coarse, got)
		}
	}
	if (Attribute{Codes: 9}).Coarsens(9, 2) {
		t.Error("classes are merged")
	}
}
