package privacytest

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// personPairs implements Neighbours for persons. A whole person is added, removed or replaced. The
// person has one row, RowsPerPerson rows, or ten times that number. The rows are the oddities in
// turn, the heaviest row repeated, or random rows. They are together at the front, in the middle or
// at the end, or mixed with the rows of other persons. The other persons have one row and
// RowsPerPerson rows in turn.
func (g *generator) personPairs(r accountant.Relation, n int) []Pair {
	most := g.schema.RowsPerPerson()
	var odd []row
	for _, o := range g.oddities() {
		odd = append(odd, o.row)
	}
	contents := []struct {
		name string
		row  func(i int) row
	}{
		{"of every oddity", func(i int) row { return odd[i%len(odd)] }},
		{"the heaviest", func(int) row { return g.heaviest() }},
		{"random", func(int) row { return g.random() }},
	}
	var pairs []Pair
	for _, base := range g.bases(n) {
		size := len(base.rows)
		for i, count := range []int{1, most, 10 * most} {
			for j, c := range contents {
				rows := make([]row, count)
				for k := range rows {
					rows[k] = c.row(k)
				}
				place := placement{at: []int{size, 0, size / 2}[(i+j)%3], among: (i+j)%2 == 0}
				pairs = append(pairs, g.personPair(r, base, rows, place,
					fmt.Sprintf("%s, a person of %d rows, %s, %v", base.name, count, c.name, place)))
			}
		}
	}
	return pairs
}

// placement says where a person's rows are inserted.
type placement struct {
	at    int
	among bool // every row after the first is followed by a row of another person
}

// personPair inserts a person into base.
func (g *generator) personPair(r accountant.Relation, base namedRows, rows []row, p placement,
	name string) Pair {
	if r == accountant.AddOrRemoveOne {
		return Pair{name, g.persons(base.rows, nil, p), g.persons(base.rows, rows, p)}
	}
	other := make([]row, 1+g.rng.IntN(2*len(rows)))
	for i := range other {
		other[i] = g.random()
	}
	return Pair{name, g.persons(base.rows, other, p), g.persons(base.rows, rows, p)}
}

// owner returns the person of row i of base: persons have one row and RowsPerPerson rows in turn.
func (g *generator) owner(i int) int {
	two := 1 + g.schema.RowsPerPerson()
	return i/two*2 + min(i%two, 1)
}

// persons groups base into persons of consecutive rows, and adds one more person with the rows own.
func (g *generator) persons(base, own []row, p placement) records.Data {
	g.tb.Helper()
	list, keys := slices.Clone(base[:p.at]), make([]int, p.at)
	for i := range keys {
		keys[i] = g.owner(i)
	}
	rest := base[p.at:]
	for i, r := range own {
		list, keys = append(list, r), append(keys, -1)
		if p.among && len(rest) > 0 && i > 0 {
			list, keys = append(list, rest[0]), append(keys, g.owner(len(base)-len(rest)))
			rest = rest[1:]
		}
	}
	for i, r := range rest {
		list, keys = append(list, r), append(keys, g.owner(len(base)-len(rest)+i))
	}
	most := g.schema.RowsPerPerson()
	d, err := records.GroupBy(g.table(list), keys, most)
	if err != nil {
		g.tb.Fatalf("privacytest: %v", err)
	}
	return d
}

// personEdge implements Edges for persons: the rows of one person begin or end near the boundary
// of two chunks.
func (g *generator) personEdge(r accountant.Relation, base namedRows, at int) Pair {
	own := make([]row, g.schema.RowsPerPerson())
	for i := range own {
		own[i] = g.heaviest()
	}
	return g.personPair(r, base, own, placement{at: at},
		fmt.Sprintf("%s, a person of %d rows, at row %d", base.name, len(own), at))
}
