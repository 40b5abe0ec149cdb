package evaluate_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

// TestIndexOverManyBlocks checks the counts of an index with more records than one block holds. Its
// items are in many records, in few, in all, in none, and in the last block only.
func TestIndexOverManyBlocks(t *testing.T) {
	const n = 3*65536 + 17
	rows := make([][]uint32, n)
	has := []func(i int) bool{
		func(i int) bool {
			return i%3 == 0
		}, func(i int) bool { return i%5000 == 1 }, func(int) bool { return true },
		func(int) bool {
			return false
		}, func(i int) bool { return i >= 3*65536 }, func(i int) bool { return i%15 == 0 && i < 65536 },
	}
	for i := range rows {
		for item, f := range has {
			if f(i) {
				rows[i] = append(rows[i], uint32(item))
			}
		}
	}
	x := must(evaluate.NewIndex(sets(t, rows, len(has))))(t)
	for mask := range 1 << len(has) {
		var query []uint32
		for item := range has {
			if mask>>item&1 == 1 {
				query = append(query, uint32(item))
			}
		}
		either, every := 0, 0
		for i := range n {
			count := 0
			for _, item := range query {
				if has[item](i) {
					count++
				}
			}
			if count > 0 {
				either++
			}
			if count == len(query) {
				every++
			}
		}
		if a, b := x.Any(query...), x.All(query...); a != either || b != every {
			t.Errorf("query %v counts %d and %d, want %d and %d", query, a, b, either, every)
		}
	}
	total := 0
	for _, c := range x.Sizes() {
		total += c
	}
	if total != n || x.Longest() != 3 || x.Count(2) != n || x.Count(99) != 0 {
		t.Errorf("%d sizes, longest %d", total, x.Longest())
	}
}

// TestTopItemsets compares the result with all combinations of items.
func TestTopItemsets(t *testing.T) {
	const universe, size, k = 12, 3, 40
	x := must(evaluate.NewIndex(sets(t, baskets(5, 2000, universe), universe)))(t)
	var all []evaluate.Set
	for mask := range uint(1 << universe) {
		if n := bits.OnesCount(mask); n < 2 || n > size {
			continue
		}
		var items []uint32
		for i := range universe {
			if mask>>i&1 == 1 {
				items = append(items, uint32(i))
			}
		}
		if count := x.All(items...); count > 0 {
			all = append(all, evaluate.Set{Items: items, Count: count})
		}
	}
	slices.SortFunc(all, func(a, b evaluate.Set) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Items, b.Items))
	})
	if got, want := fmt.Sprint(x.TopItemsets(k, size)), fmt.Sprint(all[:k]); got != want {
		t.Errorf("top itemsets\n%v, want\n%v", got, want)
	}
	if x.TopItemsets(0, 2) != nil || x.TopItemsets(3, 1) != nil {
		t.Error("TopItemsets(0, 2) or TopItemsets(3, 1) returns combinations")
	}
}

func TestItemStatistics(t *testing.T) {
	real, fake := sets(t, baskets(1, 3000, 20), 20), sets(t, baskets(2, 5000, 20), 20)
	same := must(evaluate.Statistics{}.Compare(real, real))(t)
	if same.Items.Max != 0 || same.Pairs.Max != 0 || same.Sizes != 0 || same.Top != 1 ||
		same.Support != 0 || math.Abs(same.Items.Correlation-1) > 1e-12 {
		t.Errorf("records compared with themselves: %+v", same)
	}
	other := must(evaluate.Statistics{}.Compare(real, fake))(t)
	if other.Items.Max == 0 || other.Items.Max > 0.06 || other.Items.Correlation < 0.99 ||
		other.Top == 1 && other.Support == 0 {
		t.Errorf("another draw of the same distribution: %+v", other)
	}
	empty := must(evaluate.Statistics{Top: 5}.Compare(real, sets(t, make([][]uint32, 7), 20)))(t)
	if empty.MeanFake != 0 || empty.Top != 0 || empty.Support != 1 || empty.Items.Correlation != 0 {
		t.Errorf("empty sets: %+v", empty)
	}
	text, err := json.Marshal(other)
	if err != nil || !strings.Contains(string(text), "no ε") ||
		!strings.Contains(other.String(), "[not private]") {
		t.Errorf("%s %v\n%v", text, err, other)
	}
	for name, err := range map[string]error{
		"settings": second(evaluate.Statistics{Pairs: 1, Top: -1, Size: 99}.Compare(real, fake)),
		"universe": second(evaluate.Statistics{}.Compare(real, sets(t, nil, 3))),
		"no real":  second(evaluate.Statistics{}.Compare(sets(t, nil, 20), fake)),
		"grey": second(
			evaluate.Statistics{}.Compare(must(records.FromFlat(records.Image(1, 1), nil))(t), fake)),
		"grey too": second(evaluate.Statistics{}.Compare(real,
			must(records.FromFlat(records.Image(1, 1), nil))(t))),
	} {
		var config *param.Error
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPopularQueries checks that an item has about the same frequency in popular queries and in
// records. An item without records must not occur while there are others.
func TestPopularQueries(t *testing.T) {
	rows := make([][]uint32, 1000)
	for i := range rows {
		rows[i] = []uint32{0}
		if i%4 == 0 {
			rows[i] = []uint32{0, 1}
		}
	}
	real := sets(t, rows, 50)
	fake := sets(t, [][]uint32{{0, 1}, {0}, {0}, {0}}, 50)
	r := must(evaluate.Queries{Popular: true, MaxLength: 1, Classes: 1}.Compare(real, fake))(t)
	if r.MeanAny() != 0 || r.MeanAll() != 0 || !strings.Contains(r.String(), "popular items") {
		t.Errorf("the same frequencies: %v", r)
	}
	wrong := must(evaluate.Queries{Popular: true, MaxLength: 1, Classes: 1, Count: 4000}.Compare(real,
		sets(t, [][]uint32{{0}}, 50)))(t)
	// One query in five is about item 1, all of whose records are missing: 800 ± 5·25 of 4000.
	if got := wrong.MeanAny(); math.Abs(got-0.2) > 0.032 {
		t.Errorf("mean error %v, want about 0.2", got)
	}
}

// TestManyQueriesAtOnce checks that both algorithms of AnyEach return the counts of single queries.
func TestManyQueriesAtOnce(t *testing.T) {
	const universe = 30
	for name, n := range map[string]int{"few": 50, "many": 9000} {
		x := must(evaluate.NewIndex(sets(t, baskets(8, n, universe), universe)))(t)
		for _, count := range []int{0, 1, 130} {
			queries := must(evaluate.Queries{Count: max(count, 1), Classes: 1}.Draw(universe,
				universe))(t)[0][:count]
			if count > 0 {
				queries[0] = []uint32{3, 3, 999}
			}
			got := x.AnyEach(queries)
			for i, q := range queries {
				if got[i] != x.Any(q...) {
					t.Errorf("%s: query %v counts %d, want %d", name, q, got[i], x.Any(q...))
				}
			}
		}
	}
}
