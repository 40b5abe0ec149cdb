package privacytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// Pair holds a data set and a neighbour of that data set.
type Pair struct {
	Name            string
	Data, Neighbour records.Data
}

// Neighbours returns pairs of neighbouring data sets that are hard cases for a schema. The common
// records are none, few, many or all equal. The added, removed or changed record is the most
// extreme record that the schema permits, or lies outside the schema. Its values may be NaN,
// infinite, −0 or far out of bounds. It may have the largest number of items or none, or a label
// that does not exist. All such values may occur, because records are clamped when they are read,
// not when they are made.
//
// Under AddOrRemoveOne the neighbour has one record more. Under ReplaceOne one of its records
// differs: the last, the first, or one in the middle. n bounds the number of common records. The
// same seed gives the same pairs. If the schema's records are grouped by person
// (records.Schema.ByPerson), a whole person with one row or many rows is added, removed or changed.
// For code that processes many records in chunks, use [Edges] too.
func Neighbours(tb testing.TB, s records.Schema, r accountant.Relation, n int, seed uint64) []Pair {
	tb.Helper()
	g := generator{tb: tb, schema: s, rng: newRand(seed)}
	if s.RowsPerPerson() > 0 {
		return g.personPairs(r, n)
	}
	var pairs []Pair
	for _, base := range g.bases(n) {
		size := len(base.rows)
		for i, odd := range g.oddities() {
			pairs = append(pairs, g.pairs(r, base, odd, size, "")...)
			if size < 2 {
				continue
			}
			if i%2 == 0 {
				pairs = append(pairs, g.pairs(r, base, odd, 0, ", in front")...)
			} else {
				pairs = append(pairs, g.pairs(r, base, odd, size/2, ", in the middle")...)
			}
		}
	}
	return pairs
}

// chunkEdges returns the chunk sizes that code is likely to use. A record must count once, also if
// it is the first or the last record of a chunk.
func chunkEdges() []int { return []int{2048, 4096, 8192} }

// Edges returns pairs of neighbouring data sets of more than 8,192 records. They differ at the
// front, in the middle, at the end, and near the boundaries of chunks. The chunks have 2,048, 4,096
// or 8,192 records, and the pairs differ on either side of a boundary.
func Edges(tb testing.TB, s records.Schema, r accountant.Relation, seed uint64) []Pair {
	tb.Helper()
	return edges(tb, s, r, seed, func(int, int) bool { return true })
}

// edges returns the pairs of Edges for which wanted is true. Its arguments are the number of the
// pair and the number of all pairs.
func edges(tb testing.TB, s records.Schema, r accountant.Relation, seed uint64,
	wanted func(i, n int) bool) []Pair {
	tb.Helper()
	g := generator{tb: tb, schema: s, rng: newRand(seed)}
	const distinct = 50
	list := make([]row, distinct)
	for i := range list {
		list[i] = g.random()
	}
	base := namedRows{"many chunks of records", nil}
	sizes := chunkEdges()
	for i := range sizes[len(sizes)-1] + 3 {
		base.rows = append(base.rows, list[i%distinct])
	}
	pair, places := g.recordEdge, []int{0, 1000, len(base.rows)}
	for _, e := range sizes {
		places = append(places, e-1, e)
	}
	if most := s.RowsPerPerson(); most > 0 {
		pair, places = g.personEdge, []int{0, len(base.rows)}
		for _, e := range sizes {
			places = append(places, e-most, e-1, e)
		}
	}
	var pairs []Pair
	for i, at := range places {
		if wanted(i, len(places)) {
			pairs = append(pairs, pair(r, base, at))
		}
	}
	return pairs
}

// recordEdge returns a pair that differs in the heaviest record.
func (g *generator) recordEdge(r accountant.Relation, base namedRows, at int) Pair {
	odd := namedRow{"the heaviest record", g.heaviest()}
	where := fmt.Sprintf(", at row %d", at)
	return g.pair(r, base, odd, at, where, g.random)
}

// pairs inserts an odd record into base at one place.
func (g *generator) pairs(r accountant.Relation, base namedRows, odd namedRow, at int,
	where string) []Pair {
	list := []Pair{g.pair(r, base, odd, at, where, g.random)}
	if r == accountant.ReplaceOne {
		zero := func() row { return g.filled(0) }
		list = append(list, g.pair(r, base, odd, at, where, zero))
	}
	return list
}

// pair inserts an odd record into base at one place. Under replace-one it replaces another record.
func (g *generator) pair(r accountant.Relation, base namedRows, odd namedRow, at int, where string,
	other func() row) Pair {
	with := func(extra row) records.Data {
		return g.table(slices.Insert(slices.Clone(base.rows), at, extra))
	}
	p := Pair{Name: fmt.Sprintf("%s, %s%s", base.name, odd.name, where), Neighbour: with(odd.row)}
	if r == accountant.AddOrRemoveOne {
		p.Data = g.table(base.rows)
	} else {
		p.Data = with(other())
	}
	return p
}

// heaviest returns a record of the largest norm that the schema permits.
func (g *generator) heaviest() row {
	if g.schema.Sparse() {
		return g.heavy()
	}
	lo, hi := g.schema.Bounds()
	if math.Abs(lo) > math.Abs(hi) {
		hi = lo
	}
	return g.filled(float32(hi))
}

// row is one record: values, or the items of a set.
type row struct {
	values []float32
	items  []uint32
	label  int32
}

type generator struct {
	tb     testing.TB
	schema records.Schema
	rng    *rand.Rand
}

type namedRows struct {
	name string
	rows []row
}

// bases returns the records that neighbours share.
func (g *generator) bases(n int) []namedRows {
	many := make([]row, max(n, 0))
	same := make([]row, max(n, 0))
	twin := g.random()
	for i := range many {
		many[i], same[i] = g.random(), twin
	}
	return []namedRows{
		{"no records", nil}, {"one record", []row{g.random()}}, {"many records", many},
		{"equal records", same},
	}
}

type namedRow struct {
	name string
	row  row
}

// oddities returns the records that are added, removed or changed.
func (g *generator) oddities() []namedRow {
	list := []namedRow{{"a random record", g.random()}}
	if g.schema.Sparse() {
		return append(list, namedRow{"an empty set", row{}}, namedRow{"the heaviest set", g.heavy()})
	}
	lo, hi := g.schema.Bounds()
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"all lowest", lo}, {"all highest", hi}, {"all NaN", math.NaN()},
		{"all infinite", math.Inf(1)}, {"all minus infinity", math.Inf(-1)},
		{"minus zero", math.Copysign(0, -1)}, {"far out of bounds", 1e30},
	} {
		list = append(list, namedRow{v.name, g.filled(float32(v.value))})
	}
	spike := g.filled(0)
	if len(spike.values) > 0 {
		spike.values[len(spike.values)-1] = float32(math.NaN())
	}
	list = append(list, namedRow{"one NaN", spike})
	if g.schema.Classes() > 0 {
		stray := g.random()
		stray.label = int32(g.schema.Classes())
		list = append(list, namedRow{"a label that does not exist", stray})
	}
	return list
}

func (g *generator) random() row {
	if g.schema.Sparse() {
		return g.randomSet()
	}
	r := g.filled(0)
	lo, hi := g.schema.Bounds()
	for i := range r.values {
		r.values[i] = float32(lo + (hi-lo)*g.rng.Float64())
		if g.schema.IsBinary() {
			r.values[i] = float32(g.rng.IntN(2))
		}
	}
	return r
}

func (g *generator) filled(v float32) row {
	if g.schema.Sparse() {
		return row{label: g.label()}
	}
	r := row{values: make([]float32, g.schema.Dim()), label: g.label()}
	for i := range r.values {
		r.values[i] = v
	}
	return r
}

func (g *generator) label() int32 {
	if g.schema.Classes() == 0 {
		return 0
	}
	return g.rng.Int32N(int32(g.schema.Classes()))
}

func (g *generator) randomSet() row {
	r := row{label: g.label()}
	for range g.rng.IntN(max(min(g.schema.MaxItems(), 8), 1) + 1) {
		r.items = append(r.items, uint32(g.rng.IntN(g.schema.Dim())))
	}
	return r
}

func (g *generator) heavy() row {
	r := row{label: g.label()}
	for i := range min(g.schema.MaxItems(), g.schema.Dim()) {
		r.items = append(r.items, uint32(i))
	}
	return r
}

// table builds a data set of rows. The shapes of rows are right by construction.
func (g *generator) table(rows []row) records.Data {
	g.tb.Helper()
	var labels []int32
	if g.schema.Classes() > 0 {
		labels = make([]int32, len(rows))
		for i, r := range rows {
			labels[i] = r.label
		}
	}
	var d records.Data
	var err error
	if g.schema.Kind() == records.MixedTable {
		d, err = g.frame(rows)
	} else if g.schema.Sparse() {
		sets := make([][]uint32, len(rows))
		for i, r := range rows {
			sets[i] = r.items
		}
		d, err = records.FromItems(g.schema, sets, labels...)
	} else {
		var flat []float32
		for _, r := range rows {
			flat = append(flat, r.values...)
		}
		d, err = records.FromFlat(g.schema, flat, labels...)
	}
	if err != nil {
		g.tb.Fatalf("privacytest: %v", err)
	}
	return d
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
