package tables

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// smallTable returns a schema with every kind of attribute and few different rows, and those rows.
func smallTable(t *testing.T) (records.Schema, [][]any) {
	t.Helper()
	s := must(records.NewSchema(records.Numeric("x", 0, 1), records.Integer("n", 0, 2).WithMissing(),
		records.Categorical("c", "a", "b"), records.Flag("f", "no", "yes"),
		records.Label("class", "u", "v")))(t)
	var rows [][]any
	for _, x := range []float64{0, 0.4, 1} {
		for _, n := range []any{0, 2, nil} {
			for _, c := range []string{"a", "b"} {
				for _, f := range []string{"no", "yes"} {
					for _, class := range []string{"u", "v"} {
						rows = append(rows, []any{x, n, c, f, class})
					}
				}
			}
		}
	}
	return s, rows
}

func methodFor(t *testing.T, s records.Schema, r accountant.Relation) method {
	t.Helper()
	c := must(Common{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: r},
		Bins: 4}.chosen())(t)
	return method{Common: c, strategy: worstFitted{}, rounds: 6, order: 3, coarse: 2,
		classWeight: 1, attributes: marginal.AttributesIn(s, c.Fine)}
}

// someGroups returns a public grouping of each attribute into at most five groups and two coarse
// groups.
func someGroups(attributes []marginal.Attribute) (list []marginal.Grouping) {
	for _, a := range attributes {
		g := marginal.Grouping{Group: make([]uint16, a.Codes), Part: make([]float64, a.Codes)}
		for code := range g.Group {
			g.Group[code] = uint16(code * min(a.Codes, 5) / a.Codes)
			g.Size = int(g.Group[code]) + 1
			g.Part[code] = 1 / float64(a.Codes)
		}
		a.Coarsen(&g, 2)
		list = append(list, g)
	}
	return list
}

// ofRow returns the sums of one row, in counts.
func ofRow(t *testing.T, s records.Schema, row []any, c *marginal.Histogram) (out []float64) {
	t.Helper()
	table := must(records.FromValues(s, row))(t)
	if err := c.Add(context.Background(), table); err != nil {
		t.Fatal(err)
	}
	for _, sum := range c.Sums() {
		for _, v := range read(t, scaled{sum, 1e3}) { // noise of 1e-5
			out = append(out, math.Round(1e6*v)/1e3)
		}
	}
	return out
}

// TestColumnAndTableSensitivities compares every row of a small table with every other. The release
// of columns changes by at most the declared effect, and attains it. The absolute changes of a
// candidate's counts add up to at most the sensitivity that a choice assumes. Their Euclidean norm
// is at most the sensitivity for which a unit of measurement is priced. Both bounds are attained.
func TestColumnAndTableSensitivities(t *testing.T) {
	const noise = 2.5
	s, rows := smallTable(t)
	both := []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}
	for i := range 8 {
		r, order := both[i/2%2], 2+i%2 // pairs are counted at order 2, and are sums at order 3
		fine, part := []int{126, 8}[i/4], []float64{0.12, 0.3}[i/4]
		t.Run(fmt.Sprintf("%v/order %d/%d cells", r, order, fine), func(t *testing.T) {
			m := methodFor(t, s, r)
			m.order, m.Fine, m.ColumnPart = order, fine, part
			m.attributes = marginal.AttributesIn(s, fine)
			groups := someGroups(m.attributes)
			others, _ := m.survey().Sizes()
			std, classStd := m.survey().Std(m.columnNoise(noise))
			var columns [][]float64
			var tables [][]float64
			for _, row := range rows {
				v := ofRow(t, s, row, m.survey().Counter())
				for i := range v {
					if i < others {
						v[i] /= std
					} else {
						v[i] /= classStd
					}
				}
				columns = append(columns, v)
				tables = append(tables, ofRow(t, s, row, m.counter(groups)))
			}
			if worst, want := worstMove(r, columns), 1/m.columnNoise(noise); worst > want*(1+1e-9) ||
				worst < want*(1-1e-9) {
				t.Errorf("the columns' counts change by %v, want %v", worst, want)
			}
			list := m.candidates(columnsOf(groups))
			want := 5 + 10 + 2 // two columns have coarse groups
			if order == 3 {
				want += 10 + 5
			}
			if len(list) != want {
				t.Fatalf("got %d candidates, want %d", len(list), want)
			}
			total, norm := 0.0, 0.0
			for _, c := range list {
				var own [][]float64
				for _, v := range tables {
					own = append(own, v[c.first:c.first+c.cells])
				}
				total = max(total, worstTotal(r, own))
				norm = max(norm, worstMove(r, own))
			}
			if want := float64(m.change()); total != want {
				t.Errorf("a table's counts change by %v in total, want %v", total, want)
			}
			if got, want := norm/m.unitStd(noise), 1/m.unitNoise(noise); got > want*(1+1e-9) ||
				got < want*(1-1e-9) {
				t.Errorf("a measurement changes by %v, want %v", got, want)
			}
		})
	}
}

// worstTotal is like worstMove for the sum of absolute values.
func worstTotal(r accountant.Relation, all [][]float64) float64 {
	worst := 0.0
	for _, a := range all {
		for _, b := range all {
			sum := 0.0
			for i, x := range a {
				if r == accountant.ReplaceOne {
					x -= b[i]
				}
				sum += math.Abs(x)
			}
			worst = max(worst, sum)
		}
	}
	return worst
}

// TestTableStagesArePriced checks that the fractions of the squared effect add up to 1, by the
// formulas of zero-concentrated differential privacy.
func TestTableStagesArePriced(t *testing.T) {
	s, _ := smallTable(t)
	m := methodFor(t, s, accountant.AddOrRemoveOne)
	const noise = 3.0
	m.ColumnPart, m.WithinPart = 0.25, 0.04
	rho := 1 / (2 * m.columnNoise(noise) * m.columnNoise(noise))
	rho += 1 / (2 * m.withinNoise(noise) * m.withinNoise(noise))
	rho += float64(m.rounds) * m.choiceEpsilon(noise) * m.choiceEpsilon(noise) / 8
	rho += float64(m.units()) / (2 * m.unitNoise(noise) * m.unitNoise(noise))
	if want := 1 / (2 * noise * noise); math.Abs(rho/want-1) > 1e-12 {
		t.Errorf("the stages together have ρ = %v, want %v", rho, want)
	}
}

// halves are the codes of two cells that hold the numbers .4 and .5.
var halves = []int{51, 64}

// TestRowsOfPersonsCountOnce checks that all rows of a person together add 1 to a table, like one
// record.
func TestRowsOfPersonsCountOnce(t *testing.T) {
	s, rows := smallTable(t)
	m := methodFor(t, s, accountant.AddOrRemoveOne)
	groups := someGroups(m.attributes)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + rng.IntN(5)
		var some [][]any
		keys := make([]int, n)
		for range n {
			some = append(some, rows[rng.IntN(len(rows))])
		}
		table := must(records.FromValues(s, some...))(t)
		person := must(records.GroupBy(table, keys, 3))(t)
		in := m.parts(marginal.Division{halves, nil, nil, nil, nil}).Counter()
		if err := in.Add(context.Background(), person); err != nil {
			t.Fatal(err)
		}
		if total := totalOf(t, in.Sums()[0]); total > 1+1e-2 {
			t.Fatalf("a person of %d rows counts %v within cells, want at most 1", n, total)
		}
		for _, c := range []*marginal.Histogram{m.survey().Counter(), m.counter(groups)} {
			if err := c.Add(context.Background(), person); err != nil {
				t.Fatal(err)
			}
			tables := []tableAt{{0, m.attributes[0].Codes}}
			if len(c.Sums()) == 1 {
				tables = nil
				for _, one := range m.candidates(columnsOf(groups)) {
					tables = append(tables, tableAt{one.first, one.cells})
				}
			}
			for _, at := range tables {
				total := totalOf(t, c.Sums()[0].Slice(at.first, at.first+at.cells))
				if math.Abs(total-1) > 1e-2 {
					t.Fatalf("a person of %d rows counts %v in a table, want 1", n, total)
				}
			}
		}
	}
}

type tableAt struct{ first, cells int }

func totalOf(t *testing.T, sum *mechanism.FixedSum) (total float64) {
	t.Helper()
	for _, v := range read(t, scaled{sum, 1e3}) { // noise of 1e-5
		total += 1e3 * v
	}
	return total
}

type scaled struct {
	sum *mechanism.FixedSum
	std float64
}

// read returns the values of an exact sum. It releases the sum with 1e-8 times the real noise.
func read(t *testing.T, s scaled) []float64 {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 0.5})
	grant := must(mechanism.Begin(context.Background(), l).Spend("test",
		accountant.Gaussian{NoiseMultiplier: 1e-3}))(t)
	out := make([]float64, s.sum.Dim())
	if err := grant.Release(1e-9, mechanism.Part{Sum: s.sum, Std: s.std * 1e-8, Out: out}); err !=
		nil {
		t.Fatal(err)
	}
	for i := range out {
		out[i] /= s.std
	}
	return out
}

// worstMove returns the largest distance between the sums of neighbours, over all pairs of records.
func worstMove(r accountant.Relation, all [][]float64) float64 {
	worst := 0.0
	for _, a := range all {
		for _, b := range all {
			sum := 0.0
			for i, x := range a {
				if r == accountant.ReplaceOne {
					x -= b[i]
				}
				sum += x * x
			}
			worst = max(worst, math.Sqrt(sum))
		}
	}
	return worst
}

// TestTablesOfFlagsCountARowOnce checks every candidate of a table of five flags: a row is in one
// cell of it, and rows that differ in one of its columns are in different cells.
func TestTablesOfFlagsCountARowOnce(t *testing.T) {
	var columns []records.Column
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		columns = append(columns, records.Flag(name, "0", "1"))
	}
	s := must(records.NewSchema(columns...))(t)
	m := methodFor(t, s, accountant.AddOrRemoveOne)
	m.order, m.attributes = 3, marginal.AttributesIn(s, 8)
	groups := someGroups(m.attributes)
	list := m.candidates(columnsOf(groups))
	if want := 5 + 10 + 10 + 5 + 1; len(list) != want {
		t.Fatalf("%d candidates, want %d", len(list), want)
	}
	var rows [][]float64
	for bits := range 32 {
		row := make([]any, 5)
		for k := range row {
			row[k] = []string{"0", "1"}[bits>>k&1]
		}
		rows = append(rows, ofRow(t, s, row, m.counter(groups)))
	}
	for _, c := range list {
		seen := map[int]int{}
		for bits, v := range rows {
			cell, total := -1, 0.0
			for k, n := range v[c.first : c.first+c.cells] {
				if total += math.Abs(n); n == 1 {
					cell = k
				}
			}
			if cell < 0 || total != 1 {
				t.Fatalf("columns %v: row %05b counts %v", c.attributes, bits, total)
			}
			seen[cell]++
		}
		if len(seen) != c.cells {
			t.Errorf("columns %v: rows are in %d of %d cells", c.attributes, len(seen), c.cells)
		}
	}
}
