package sets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// allSets returns all sets of at most most items of a small universe.
func allSets(universe, most int) [][]uint32 { return listSets(universe, most) }

type scaled struct {
	sum *mechanism.FixedSum
	std float64
}

// read returns the values of an exact sum. It releases the sum with 1e-8 times the real noise.
func read(t *testing.T, s scaled) []float64 {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 0.5})
	grant, err := mechanism.Begin(context.Background(), l).Spend("test",
		accountant.Gaussian{NoiseMultiplier: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
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

// counted returns the sums over the records of d.
func counted(t *testing.T, c *cutCounter, d records.Data) []*mechanism.FixedSum {
	t.Helper()
	if err := c.Add(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	return c.sums
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

// TestSensitivities compares every record of a small universe with every other. No change may
// exceed the declared effect. The largest change must attain it, apart from the fraction for the
// number of records.
func TestSensitivities(t *testing.T) {
	const noise, universe = 2.5, 7
	s := records.Sets(universe, 5)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, limit := range []int{1, 2, 3, 5} {
			counts := itemCounts{dim: universe, limit: limit, relation: r}
			itemStd, rowStd := counts.std(noise)
			t.Run(fmt.Sprintf("%v/%d", r, limit), func(t *testing.T) {
				var all [][]float64
				for _, set := range allSets(universe, 5) {
					table, err := records.FromItems(s, [][]uint32{set})
					if err != nil {
						t.Fatal(err)
					}
					sums := counted(t, counts.counter(noise), table)
					all = append(all, append(read(t, scaled{sums[0], itemStd}),
						read(t, scaled{sums[1], rowStd})...))
				}
				worst := worstMove(r, all)
				if worst > 1/noise+1e-6 {
					t.Errorf("the sums change by %v, want at most %v", worst, 1/noise)
				}
				// Two records of five out of seven items have common items.
				if disjoint := r == accountant.AddOrRemoveOne || 2*limit <= universe; disjoint &&
					worst < 0.97/noise {
					t.Errorf("the sums change by at most %v, want about %v", worst, 1/noise)
				}
			})
		}
	}
}

// TestPersonsCountOnce checks that a person with three equal rows adds as much to every sum as a
// person with one of them.
func TestPersonsCountOnce(t *testing.T) {
	s := records.Sets(6, 4)
	w := mwem{MWEM{Common: Common{Schema: s, MaxItems: 3, Seed: 2}, Queries: 70}}.workload()
	for name, counter := range map[string]func() *cutCounter{
		"items": func() *cutCounter {
			return itemCounts{schema: s.ByPerson(3), dim: 6, limit: 2}.counter(2)
		},
		"queries": func() *cutCounter { return w.counter(3, countGrid(1, true)) },
	} {
		var sums [2][]*mechanism.FixedSum
		for i, items := range [][][]uint32{{{0, 2, 5}}, {{0, 2, 5}, {0, 2, 5}, {0, 2, 5}}} {
			rows, err := records.FromItems(s, items)
			if err != nil {
				t.Fatal(err)
			}
			persons, err := records.GroupBy(rows, make([]int, len(items)), 3)
			if err != nil {
				t.Fatal(err)
			}
			sums[i] = counted(t, counter(), persons)
		}
		for i, one := range sums[0] {
			if got, want := sums[1][i].Exact(), one.Exact(); !slices.Equal(got, want) {
				t.Errorf("%s: three equal rows of a person add %d to sum %d, one row %d", name, got, i, want)
			}
		}
	}
}

// TestQueriesMoveByOne checks that adding, removing or replacing a record changes a counting query,
// and the score of a choice, by at most 1.
func TestQueriesMoveByOne(t *testing.T) {
	const universe = 6
	s := records.Sets(universe, 4)
	m := mwem{MWEM{Common: Common{Schema: s, MaxItems: 3, Seed: 2}, Queries: 130}}
	w := m.workload()
	base := [][]uint32{{0, 1}, {2}, {5}}
	count := func(extra ...[]uint32) []int64 {
		table, err := records.FromItems(s, append(base[:len(base):len(base)], extra...))
		if err != nil {
			t.Fatal(err)
		}
		var counts []int64
		for _, sum := range counted(t, w.counter(m.MaxItems, countGrid(1, false)), table) {
			for _, v := range read(t, scaled{sum, 1e6}) { // noise of 1e-2
				counts = append(counts, int64(math.Round(1e6*v)))
			}
		}
		return counts
	}
	distance := func(count int64, answer float64) int64 {
		d := count - whole(answer)
		return max(d, -d)
	}
	sets, without := allSets(universe, 4), count()
	var with [][]int64
	for _, set := range sets {
		with = append(with, count(set))
	}
	far := func(a, b []int64) bool {
		for i := range a {
			for _, answer := range []float64{0, 1.5, 2.49, 1e300} {
				if d := distance(a[i], answer) - distance(b[i], answer); d > 1 || d < -1 {
					return true
				}
			}
		}
		return false
	}
	for i, a := range with {
		if far(a, without) {
			t.Errorf("adding %v moves a query by more than 1", sets[i])
		}
		for k, b := range with {
			if far(a, b) {
				t.Errorf("replacing %v by %v moves a query by more than 1", sets[i], sets[k])
			}
		}
	}
}

// TestDomains checks that domains are as the package documentation states.
func TestDomains(t *testing.T) {
	if got := len(listSets(17, 12)); got != setsUpTo(17, 12) || got != 1<<17-2380-680-136-17-1 {
		t.Errorf("listed %d sets of at most 12 of 17 items", got)
	}
	if setsUpTo(18, 18) <= listedDomain {
		t.Error("2^18 sets are listed")
	}
	m := mwem{MWEM{Common: Common{Schema: records.Sets(300, 50), MaxItems: 12, Seed: 1}, Domain: 1000}}
	sizes := map[int]int{}
	for _, set := range m.domain() {
		sizes[len(set)]++
		for i := range set {
			if i > 0 && set[i] <= set[i-1] || set[i] >= 300 {
				t.Fatalf("set %v", set)
			}
		}
	}
	if len(sizes) != 12 || sizes[0] > 0 {
		t.Errorf("sizes %v", sizes)
	}
}

// TestMeasuredCountsKeepTheirPlace checks that counts much larger than the noise are not clamped.
func TestMeasuredCountsKeepTheirPlace(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-5})
	for _, scale := range []float64{0.5, 3, 40, 1e4} {
		grant, err := mechanism.Begin(context.Background(), l).Spend("count",
			accountant.Laplace{Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		// Noise beyond forty times the scale has probability 4e-18.
		count, got := mechanism.NewFixedSum(1, countGrid(scale, false)), make([]float64, 1)
		for range 4 {
			count.AddInt(0, 1_106_871)
		}
		count.AddInt(0, 2)
		err = grant.Laplace(1/scale, mechanism.Part{Sum: count, Std: scale, Out: got})
		if err != nil || math.Abs(got[0]-4_427_486) > 40*scale+1 {
			t.Errorf("scale %v: %v, %v", scale, got, err)
		}
	}
}
