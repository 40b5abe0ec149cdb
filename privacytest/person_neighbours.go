package privacytest

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// personPairs are Neighbours of persons: a whole person comes, goes or is replaced, who has one
// row, as many as are kept, or ten times as many. The rows are those of every oddity in turn, all
// of the heaviest, or random; they stand together in front, in the middle or at the end, or among
// the rows of others, of whom each has two.
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

// placement is where a person's rows stand.
type placement struct {
	at    int
	among bool // the rows after the first with one of others' between
}

// personPair puts a person among others.
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

// persons groups rows of which two in a row are one person's, and those of one person more.
func (g *generator) persons(base, own []row, p placement) records.Data {
	g.tb.Helper()
	list, keys := slices.Clone(base[:p.at]), make([]int, p.at)
	for i := range keys {
		keys[i] = i / 2
	}
	rest := base[p.at:]
	for i, r := range own {
		list, keys = append(list, r), append(keys, -1)
		if p.among && len(rest) > 0 && i > 0 {
			list, keys = append(list, rest[0]), append(keys, (len(base)-len(rest))/2)
			rest = rest[1:]
		}
	}
	for i, r := range rest {
		list, keys = append(list, r), append(keys, (len(base)-len(rest)+i)/2)
	}
	most := g.schema.RowsPerPerson()
	d, err := records.GroupBy(g.table(list), keys, most)
	if err != nil {
		g.tb.Fatalf("privacytest: %v", err)
	}
	return d
}

// personEdges are Edges of persons: the rows of one of them begin and end around where chunks meet.
func (g *generator) personEdges(r accountant.Relation, base namedRows) []Pair {
	most := g.schema.RowsPerPerson()
	own := make([]row, most)
	for i := range own {
		own[i] = g.heaviest()
	}
	places := []int{0, len(base.rows)}
	for _, e := range chunkEdges() {
		places = append(places, e-most, e-1, e)
	}
	var pairs []Pair
	for _, at := range places {
		pairs = append(pairs, g.personPair(r, base, own, placement{at: at},
			fmt.Sprintf("%s, a person of %d rows, at row %d", base.name, most, at)))
	}
	return pairs
}
