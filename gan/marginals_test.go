package gan

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// mixedTable returns a schema with columns of every kind.
func mixedTable(t testing.TB) records.Schema {
	t.Helper()
	s, err := records.NewSchema(records.Numeric("x", 0, 10), records.Integer("few", 0, 4),
		records.Numeric("gap", -1, 1).WithMissing(), records.Flag("flag", "no", "yes").WithMissing(),
		records.Categorical("kind", "a", "b", "c").WithMissing(), records.Ordinal("size", "s", "m", "l"),
		records.Label("class", "p", "q", "r"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mixedRows returns rows with values at the ends and in the middle of columns.
func mixedRows() [][]any {
	return [][]any{{0.0, 0, nil, nil, nil, "s", "p"}, {10.0, 4, 1.0, true, "c", "l", "r"},
		{5.0, 2, 0.0, false, "b", "m", "q"}, {9.99, 3, -1.0, true, "a", "m", "q"},
		{math.NaN(), 1, 0.5, nil, "a", "s", "r"}}
}

// TestMarginalsSensitivity replaces, adds and removes records of every kind. The largest change of
// the release must equal its declared effect.
func TestMarginalsSensitivity(t *testing.T) {
	s := mixedTable(t)
	contribution := func(r accountant.Relation, row []any) []float64 {
		m := newMarginalSums(Config{Schema: s, Budget: accountant.Budget{Relation: r},
			Marginals: &Marginals{NoiseMultiplier: 3, Bins: 5}})
		data, err := records.FromValues(s, row)
		if err == nil {
			err = m.add(context.Background(), data)
		}
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, m.size())
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1e9, Delta: 0.5})
		g, err := mechanism.Begin(context.Background(), ledger).Spend("test",
			accountant.Gaussian{NoiseMultiplier: 1e-3})
		if err == nil { // 1e-7 of the real noise leaves the sum readable
			err = g.Release(1e-9, mechanism.Part{Sum: m.sum, Std: m.std * 1e-7, Out: out})
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range out {
			out[i] /= m.std
		}
		return out
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		worst := 0.0
		for _, a := range mixedRows() {
			for _, b := range mixedRows() {
				x, y := contribution(r, a), contribution(r, b)
				if r == accountant.AddOrRemoveOne {
					clear(y)
				}
				sum := 0.0
				for i := range x {
					sum += (x[i] - y[i]) * (x[i] - y[i])
				}
				worst = max(worst, math.Sqrt(sum))
			}
		}
		if math.Abs(worst-1.0/3) > 1e-5 {
			t.Errorf("%v: the largest change is %v standard deviations, want 1/3", r, worst)
		}
	}
}

// TestCells checks that every number, even NaN, is in one cell. The numbers of a cell must be in
// its span, and number must be the inverse of rank.
func TestCells(t *testing.T) {
	l := newCells(mixedTable(t), 7)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, col := range l.columns {
		row := make([]float32, col.Offset+col.Width)
		p := make([]float64, col.n)
		for j := range p {
			p[j] = rng.Float64() + 0.01
		}
		for range 300 {
			for j := range row {
				row[j] = float32(rng.IntN(13)-1) / 11
			}
			cell := col.cell(row)
			if cell < 0 || cell >= col.n {
				t.Fatalf("%+v: got cell %d for %v", col, cell, row)
			}
			if col.OneHot || cell == col.missing() {
				continue
			}
			x := min(max(float64(row[col.Offset]), 0), 1)
			lo, hi := col.span(cell)
			if hi > lo && (x < lo-1e-6 || x > hi+1e-6) {
				t.Errorf("%+v: %v is in the cell from %v to %v", col, x, lo, hi)
			}
			if back := col.number(p, col.rank(p, x, cell)); hi > lo && math.Abs(back-x) > 1e-6 ||
				hi == lo && back != lo {
				t.Errorf("%+v: the number of the rank of %v is %v", col, x, back)
			}
		}
		row[col.Offset] = float32(math.NaN())
		if cell := col.cell(row); cell < 0 || cell >= col.n {
			t.Errorf("%+v: NaN is in cell %d", col, cell)
		}
	}
}

// TestSettled draws records from a generator that has learnt nothing. In every class, their columns
// must have the released distributions. Tolerances are five standard errors, of 6,000 draws and of
// the 2,048 draws from which shifts are fitted, plus 0.01 for the 65 quantiles of a number. The
// false-alarm probability over all cells is below 1e-4.
func TestSettled(t *testing.T) {
	s := mixedTable(t)
	c := Config{Schema: s, Generator: models.MLP{Hidden: []int{8}}, Latent: 4,
		Marginals: &Marginals{NoiseMultiplier: 1, Bins: 5}, Seed: 3}
	net, err := c.newGenerator(device.CPU())
	if err != nil {
		t.Fatal(err)
	}
	l := newCells(s, 5)
	rng := rand.New(rand.NewPCG(7, 7))
	noisy := make([]float64, 3*l.total)
	for i := range noisy {
		noisy[i] = 1000 * rng.Float64()
	}
	told := newDistributions(l, 3, noisy, 1)
	m := &Model{config: c, backend: device.CPU(), net: net}
	m.settled = settle(m.backend, net, c, told)
	const draws = 6000
	flat, labels := make([]float32, draws*s.Dim()), make([]int32, draws)
	mk := newMaker(m.backend, net, c)
	for class := range 3 {
		for i := range labels {
			labels[i] = int32(class)
		}
		m.backend.Download(flat, mk.Generate(mk.Draw(rng, labels)))
		m.settled.draw(rng, flat, labels)
		got := make([]float64, l.total)
		for i := range draws {
			for _, col := range l.columns {
				got[col.first+col.cell(flat[i*s.Dim():(i+1)*s.Dim()])] += 1.0 / draws
			}
		}
		for j, want := range told.of[class] {
			tol := 5 * math.Sqrt(want*(1-want)*(1.0/draws+1.0/settleDraws))
			if math.Abs(got[j]-want) > tol+0.01 {
				t.Errorf("class %d: cell %d has frequency %.4f, want %.4f", class, j, got[j], want)
			}
		}
	}
}

// TestRanksAreOfRecordsAlone checks that a record has the same ranks alone as in a batch with other
// records.
func TestRanksAreOfRecordsAlone(t *testing.T) {
	s := mixedTable(t)
	l := newCells(s, 5)
	noisy := make([]float64, s.Classes()*l.total)
	for i := range noisy {
		noisy[i] = float64(10 + i%7)
	}
	d := newDistributions(l, s.Classes(), noisy, 1)
	data, err := records.FromValues(s, mixedRows()...)
	if err != nil {
		t.Fatal(err)
	}
	var batch device.Batch
	data.Range(0, data.Len(), &batch)
	d.rank(batch.Dense)
	moved := false
	for i := range data.Len() {
		var alone device.Batch
		data.Range(i, i+1, &alone)
		before := slices.Clone(alone.Dense.Row(0))
		d.rank(alone.Dense)
		moved = moved || !slices.Equal(before, alone.Dense.Row(0))
		if !slices.Equal(alone.Dense.Row(0), batch.Dense.Row(i)) {
			t.Errorf("record %d has ranks %v alone and %v in a batch", i, alone.Dense.Row(0),
				batch.Dense.Row(i))
		}
	}
	if !moved {
		t.Error("the ranks of every record equal its numbers: the test has no power")
	}
}
