package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestViewsMapCells compares all that views do with the same done cell by cell, for tables of up to
// five attributes of one to four values and all kinds of targets.
func TestViewsMapCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	pairs, repeated := 0, 0
	for range 2000 {
		d := make(Domain, 1+rng.IntN(5))
		for a := range d {
			d[a] = 1 + rng.IntN(4)
		}
		all := seq(len(d))
		var to []int
		for _, a := range all {
			if rng.IntN(2) > 0 {
				to = append(to, a)
			}
		}
		v := d.newView(all, to)
		if v.kept && v.run == 2 {
			pairs++
		}
		if v.kept && v.times > 1 {
			repeated++
		}
		table, target := make([]float64, int(d.Cells(all))), make([]float64, int(d.Cells(to)))
		for i := range table {
			table[i] = -3 * rng.Float64()
		}
		for i := range target {
			target[i] = rng.Float64()
		}
		at := make([]int, len(table)) // target cells
		values := make([]int, len(d))
		for cell := range table {
			for a, left := len(d)-1, cell; a >= 0; a-- {
				values[a], left = left%d[a], left/d[a]
			}
			for _, a := range to {
				at[cell] = at[cell]*d[a] + values[a]
			}
		}
		sum, top := make([]float64, len(target)), slices.Repeat([]float64{-math.MaxFloat64}, len(target))
		added, scaled, grown := slices.Clone(table), slices.Clone(table), slices.Clone(table)
		cells := make([][]int32, len(target))
		for cell, x := range table {
			k := at[cell]
			sum[k] += x
			top[k] = max(top[k], x)
			added[cell] += target[k]
			scaled[cell] *= target[k]
			grown[cell] = math.Exp(x - target[k])
			cells[k] = append(cells[k], int32(cell))
		}
		gotSum := slices.Repeat([]float64{7}, len(target))
		gotTop := slices.Clone(gotSum)
		gotAdded, gotScaled, gotGrown := slices.Clone(table), slices.Clone(table), slices.Clone(table)
		v.sum(gotSum, table)
		v.top(gotTop, table)
		v.add(gotAdded, target)
		v.scale(gotScaled, table, target)
		v.scale(table, table, target)
		v.grow(gotGrown, target)
		for name, pair := range map[string][2][]float64{"sum": {gotSum, sum}, "top": {gotTop, top},
			"add": {gotAdded, added}, "scale": {gotScaled, scaled}, "scale in place": {table, scaled},
			"grow": {gotGrown, grown}} {
			for i, x := range pair[0] {
				if !(math.Abs(x-pair[1][i]) <= 1e-9) {
					t.Fatalf("%v to %v: %s of cell %d is %v, want %v", d, to, name, i, x, pair[1][i])
				}
			}
		}
		for k, list := range v.cellsOf() {
			if !slices.Equal(list, cells[k]) {
				t.Fatalf("%v to %v: cell %d is %v, want %v", d, to, k, list, cells[k])
			}
		}
	}
	if pairs < 100 || repeated < 100 {
		t.Errorf("%d views of pairs, %d of repeated runs", pairs, repeated)
	}
}

// TestProductsAreExact compares messages in products with messages in logarithms, in random trees
// with factors of all ranges. Whatever products report as exact must be so, also if most cells
// underflow.
func TestProductsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	quick, lost := 0, 0
	for range 400 {
		m := random(rng)
		scale := math.Pow(10, 4*rng.Float64())
		for _, f := range m.Factors {
			for i := range f.Theta {
				f.Theta[i] = scale * rng.NormFloat64()
			}
		}
		if !m.quick() {
			lost++
			continue
		}
		quick++
		m.down()
		var laws [][]float64
		for _, n := range m.nodes {
			laws = append(laws, slices.Clone(n.law))
		}
		m.careful()
		m.down()
		for i, n := range m.nodes {
			for cell, p := range n.law {
				if !(math.Abs(p-laws[i][cell]) <= 1e-8) {
					t.Fatalf("clique %d, cell %d: %v in products, %v in logarithms", i, cell,
						laws[i][cell], p)
				}
			}
		}
	}
	if quick < 100 || lost < 30 {
		t.Errorf("%d in products, %d lost", quick, lost)
	}
}
