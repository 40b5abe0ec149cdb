package evaluate_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func TestIndexCounts(t *testing.T) {
	const n, universe = 700, 30
	rows := baskets(1, n, universe)
	flat := make([]float32, n*universe)
	for i, row := range rows {
		for _, item := range row {
			flat[i*universe+int(item)] = 1
		}
	}
	dense := must(records.FromFlat(records.Binary(universe), flat))(t)
	rng := rand.New(rand.NewPCG(2, 2))
	for name, d := range map[string]records.Data{"sets": sets(t, rows, universe), "dense": dense} {
		x := must(evaluate.NewIndex(d))(t)
		if x.Records() != n || x.Universe() != universe {
			t.Errorf("%s: %d records of %d items", name, x.Records(), x.Universe())
		}
		for range 500 {
			var query []uint32
			for range rng.IntN(5) {
				query = append(query, uint32(rng.IntN(1+rng.IntN(universe))))
			}
			either, every := 0, 0
			for _, row := range rows {
				has := func(item uint32) bool { return slices.Contains(row, item) }
				if slices.ContainsFunc(query, has) {
					either++
				}
				if !slices.ContainsFunc(query, func(item uint32) bool { return !has(item) }) {
					every++
				}
			}
			if x.Any(query...) != either || x.All(query...) != every {
				t.Fatalf("%s: query %v counts %d and %d, want %d and %d", name, query, x.Any(query...),
					x.All(query...), either, every)
			}
		}
		if x.Any(universe) != 0 || x.All(0, 1<<31) != 0 {
			t.Errorf("%s: an item outside the universe occurs", name)
		}
	}
	if _, err := evaluate.NewIndex(must(records.FromFlat(records.Image(1, 1), nil))(t)); err == nil {
		t.Error("grey images are indexed")
	}
}

func TestDrawnQueries(t *testing.T) {
	const universe, longest = 200, 50
	classes, err := evaluate.Queries{Count: 5000, Seed: 3}.Draw(universe, longest)
	if err != nil {
		t.Fatal(err)
	}
	if len(classes) != 5 {
		t.Fatalf("%d classes", len(classes))
	}
	var used [universe]int
	total := 0
	for c, queries := range classes {
		if len(queries) != 1000 {
			t.Fatalf("class %d has %d queries", c, len(queries))
		}
		lengths, limit := 0, (c+1)*longest/5
		seen := map[int]bool{}
		for _, q := range queries {
			if len(q) < 1 || len(q) > limit {
				t.Fatalf("class %d has a query of %d items", c, len(q))
			}
			lengths += len(q)
			seen[len(q)] = true
			total += len(q)
			for i, item := range q {
				if i > 0 && q[i-1] >= item {
					t.Fatalf("query %v", q)
				}
				used[item]++
			}
		}
		// The average of 1000 uniform lengths lies within 5 standard deviations of its mean.
		mean, deviation := float64(1+limit)/2, float64(limit)/math.Sqrt(12*1000)
		if got := float64(lengths) / 1000; math.Abs(got-mean) > 5*deviation {
			t.Errorf("class %d has mean length %v, want %v", c, got, mean)
		}
		if !seen[1] || !seen[limit] {
			t.Errorf("class %d never has length 1 or %d", c, limit)
		}
	}
	mean := float64(total) / universe
	for item, n := range used {
		if math.Abs(float64(n)-mean) > 6*math.Sqrt(mean) {
			t.Errorf("item %d is asked for %d times, want about %.0f", item, n, mean)
		}
	}
	again, _ := evaluate.Queries{Count: 5000, Seed: 3}.Draw(universe, longest)
	other, _ := evaluate.Queries{Count: 5000, Seed: 4}.Draw(universe, longest)
	if !slices.Equal(again[4][9], classes[4][9]) ||
		slices.EqualFunc(other[4], classes[4], slices.Equal) {
		t.Error("the same seed draws other queries, or another seed draws the same")
	}
}

func TestQueryErrors(t *testing.T) {
	const universe = 30
	rows := baskets(1, 2000, universe)
	real := sets(t, rows, universe)
	same := must(evaluate.Queries{}.Compare(real, real))(t)
	twice := must(evaluate.Queries{}.Compare(real, sets(t, slices.Repeat(rows, 2), universe)))(t)
	for _, r := range []evaluate.QueryErrors{same, twice} {
		for _, c := range r.Classes {
			if c.Any.Max != 0 || c.All.Max != 0 {
				t.Errorf("records of the same distribution have errors %+v, want 0", c)
			}
		}
	}
	if same.Real != 2000 || twice.Synthetic != 4000 || same.Sanity != 2 || same.Queries != 200 ||
		len(same.Classes) != 5 {
		t.Errorf("report %+v", same)
	}
	other := sets(t, baskets(2, 2000, universe), universe)
	near := must(evaluate.Queries{}.Compare(real, other))(t)
	far := must(evaluate.Queries{}.Compare(real, sets(t, make([][]uint32, 2000), universe)))(t)
	for c := range near.Classes {
		if near.Classes[c].Any.Mean >= far.Classes[c].Any.Mean {
			t.Errorf("class %d: error %v for another draw, %v for empty sets", c, near.Classes[c].Any.Mean,
				far.Classes[c].Any.Mean)
		}
	}
	// Compared with empty records, the relative error of a count is 1, unless the sanity bound is
	// above the count.
	if m := far.Classes[4].Any.Max; m != 1 {
		t.Errorf("largest error %v, want 1", m)
	}
}

func TestRelativeErrorByHand(t *testing.T) {
	real := sets(t, [][]uint32{{0}, {0}, {0}, {0}, {}, {}, {}, {}, {}, {}}, 1)
	fake := sets(t, [][]uint32{{0}, {}, {}, {}, {}}, 1)
	r := must(evaluate.Queries{Count: 1, Classes: 1}.Compare(real, fake))(t)
	if got := r.Classes[0]; math.Abs(got.Any.Mean-0.5) > 1e-12 ||
		math.Abs(got.All.Median-0.5) > 1e-12 {
		t.Errorf("errors %+v, want |2-4|/4", got)
	}
	r = must(evaluate.Queries{Count: 1, Classes: 1, Sanity: 0.8}.Compare(real, fake))(t)
	if got := r.Classes[0]; math.Abs(got.Any.Mean-0.25) > 1e-12 {
		t.Errorf("errors %+v, want |2-4|/8", got)
	}
}

func TestQueriesRefuse(t *testing.T) {
	one := sets(t, [][]uint32{{0}}, 2)
	for name, err := range map[string]error{
		"classes":   second(evaluate.Queries{Classes: -1}.Compare(one, one)),
		"count":     second(evaluate.Queries{Count: 4}.Compare(one, one)),
		"length":    second(evaluate.Queries{MaxLength: -1}.Compare(one, one)),
		"sanity":    second(evaluate.Queries{Sanity: math.NaN()}.Compare(one, one)),
		"universes": second(evaluate.Queries{}.Compare(one, sets(t, nil, 3))),
		"empty":     second(evaluate.Queries{}.Compare(one, sets(t, nil, 2))),
		"no real":   second(evaluate.Queries{}.Compare(sets(t, nil, 2), one)),
		"universe":  second(evaluate.Queries{}.Draw(0, 1)),
		"grey": second(
			evaluate.Queries{}.Compare(must(records.FromFlat(records.Image(1, 1), nil))(t), one)),
		"grey too": second(
			evaluate.Queries{}.Compare(one, must(records.FromFlat(records.Image(1, 1), nil))(t))),
	} {
		var config *param.Error
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := evaluate.Queries{Count: 1, Sanity: 2, MaxLength: -3}.Draw(10, 2)
	text := fmt.Sprint(err)
	for _, want := range []string{"Count", "Sanity", "MaxLength"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not name %s", text, want)
		}
	}
}

func BenchmarkQueries(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	const n, universe = 100000, 300
	rows := make([][]uint32, n)
	for i := range rows {
		for range 1 + rng.IntN(15) {
			rows[i] = append(rows[i], uint32(rng.ExpFloat64()*25)%universe)
		}
	}
	x := must(evaluate.NewIndex(sets(b, rows, universe)))(b)
	for b.Loop() {
		if _, err := (evaluate.Queries{}).CompareIndexes(x, x); err != nil {
			b.Fatal(err)
		}
	}
}
