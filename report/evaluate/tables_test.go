package evaluate_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

// visits returns users with the given pages, in order.
func visits(t *testing.T, users ...string) *records.Linked {
	t.Helper()
	page := must(records.NewSchema(records.Categorical("page", "a", "b", "c")))(t)
	d := records.Tables{Name: "users", Key: "user",
		Schema: must(records.NewSchema(records.Flag("old", "no", "yes")))(t),
		Children: []records.Tables{{Name: "visits", Parents: []string{"user"}, Most: 4, Ordered: true,
			Schema: page}}}
	root, log := records.Keyed{Keys: []string{}}, records.Keyed{Parents: [][]string{{}}}
	var old, pages [][]any
	for i, list := range users {
		old, root.Keys = append(old, []any{i%2 == 1}), append(root.Keys, fmt.Sprint(i))
		for _, p := range list {
			pages = append(pages, []any{string(p)})
			log.Parents[0] = append(log.Parents[0], fmt.Sprint(i))
		}
	}
	root.Rows = must(records.FromValues(d.Schema, old...))(t)
	log.Rows = must(records.FromValues(page, pages...))(t)
	return must(records.Link(d, root, log))(t)
}

func parts(list ...*records.Linked) iter.Seq2[*records.Linked, error] {
	return func(yield func(*records.Linked, error) bool) {
		for _, l := range list {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// TestCompareTables: the distances of small tables are those counted by hand.
func TestCompareTables(t *testing.T) {
	real := visits(t, "ab", "b", "", "abb")
	if s := must(evaluate.CompareTables(real, parts(real, real)))(t); s != (evaluate.TableScores{}) {
		t.Errorf("the same rows twice have distances %+v", s)
	}
	// Lengths 2, 1, 0, 3 became 2, 2, 0, 3. Pages 2 a and 4 b became 3 and 4. The two pairs of
	// flag and page, and of number and page, are counted below. Steps ab twice and bb became ab 3
	// times and bb. Starts a, b, a became a, a, a. Ends are b.
	other := visits(t, "ab", "ab", "", "abb")
	s := must(evaluate.CompareTables(real, parts(other)))(t)
	flag := (diff(1, 6, 1, 7) + diff(1, 6, 1, 7) + diff(1, 6, 2, 7) + diff(3, 6, 3, 7)) / 2
	number := (diff(1, 6, 2, 7) + diff(1, 6, 2, 7) + diff(1, 6, 0, 7) + diff(1, 6, 1, 7) +
		diff(2, 6, 2, 7)) / 2
	want := evaluate.TableScores{Lengths: 0.25, Columns: diff(2, 6, 3, 7),
		Parents: (flag + number) / 2, Steps: diff(2, 3, 3, 4), Starts: 1.0 / 3}
	for name, pair := range map[string][2]float64{"lengths": {s.Lengths, want.Lengths},
		"columns": {s.Columns, want.Columns}, "parents": {s.Parents, want.Parents},
		"steps": {s.Steps, want.Steps}, "starts": {s.Starts, want.Starts}, "ends": {s.Ends, 0},
		"pairs": {s.Pairs, 0}} {
		if d := pair[0] - pair[1]; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if s := must(evaluate.CompareTables(real, parts()))(t); s.Lengths != 1 || s.Steps != 1 {
		t.Errorf("no rows have distances %+v, want 1", s)
	}
	again := must(evaluate.ResampledTables(real, 3))(t)
	if again == (evaluate.TableScores{}) || again != must(evaluate.ResampledTables(real, 3))(t) {
		t.Errorf("resampled rows have distances %+v", again)
	}
}

// diff returns the absolute difference of two fractions.
func diff(a, b, c, d float64) float64 { return max(a/b-c/d, c/d-a/b) }
