package privacytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// Pair is a data set and a neighbour of it.
type Pair struct {
	Name            string
	Data, Neighbour records.Data
}

// Neighbours returns pairs of neighbouring data sets that are bad cases for a
// schema: no records at all, few, many, equal ones; and a record that comes,
// goes or changes and is as extreme as the schema lets it be, or worse: not a number,
// infinite, −0, far out of bounds, with the heaviest or no items, with a label that does
// not exist. All such values may occur, because records are clamped when they
// are read, not when they are made.
//
// Under AddOrRemoveOne the neighbour has one record more, at the end; under
// ReplaceOne its last record differs. n bounds the common records; the same seed gives
// the same pairs.
func Neighbours(tb testing.TB, s records.Schema, r accountant.Relation, n int, seed uint64) []Pair {
	tb.Helper()
	g := generator{tb: tb, schema: s, rng: newRand(seed)}
	var pairs []Pair
	for _, base := range g.bases(n) {
		for _, odd := range g.oddities() {
			name := fmt.Sprintf("%s, %s", base.name, odd.name)
			if r == accountant.AddOrRemoveOne {
				with := append(base.rows[:len(base.rows):len(base.rows)], odd.row)
				pairs = append(pairs, Pair{name, g.table(base.rows), g.table(with)})
				continue
			}
			for _, other := range []row{g.random(), g.filled(0)} {
				pairs = append(pairs, Pair{name, g.table(append(base.rows[:len(base.rows):len(base.rows)], other)),
					g.table(append(base.rows[:len(base.rows):len(base.rows)], odd.row))})
			}
		}
	}
	return pairs
}

// row is one record of either kind.
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

// bases are the records that neighbours share.
func (g *generator) bases(n int) []namedRows {
	many := make([]row, max(n, 0))
	same := make([]row, max(n, 0))
	twin := g.random()
	for i := range many {
		many[i], same[i] = g.random(), twin
	}
	return []namedRows{
		{"no records", nil}, {"one record", []row{g.random()}}, {"many records", many}, {"equal records", same},
	}
}

type namedRow struct {
	name string
	row  row
}

// oddities are the records that come and go.
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

// table builds the data set; shapes are right by construction.
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
