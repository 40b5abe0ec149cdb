package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// exportTables writes the tables of TestScoresOfSDMetrics, for lab/peers/judge/several.py.
var exportTables = flag.String("export-tables", "", "write the scored tables to this folder")

// visited returns people, their stays in order and the bills of a stay. They are made up, and
// related to each other in another way for every shift.
func visited(t *testing.T, shift int) *records.Linked {
	t.Helper()
	schema := func(columns ...records.Column) records.Schema {
		s, err := records.NewSchema(columns...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	tables := records.Tables{Name: "people", Key: "id", Schema: schema(
		records.Categorical("town", "a", "b", "c"), records.Integer("born", 1900, 2000)),
		Children: []records.Tables{{Name: "stays", Key: "stay", Parents: []string{"id"}, Most: 5,
			Ordered: true, Schema: schema(records.Flag("ill", "no", "yes"),
				records.Numeric("days", 0, 90)), Children: []records.Tables{{Name: "bills",
				Parents: []string{"id", "stay"}, Most: 3, Schema: schema(
					records.Numeric("sum", 0, 900), records.Categorical("of", "x", "y"))}}}}}
	var rows [3][][]any
	var keys [3][]string
	parents := [3][][]string{nil, {nil}, {nil, nil}}
	for i := range 500 {
		id, born := fmt.Sprint("p", i), 1900+(i*37)%100
		rows[0] = append(rows[0], []any{string("abc"[(born/34+shift*i%2)%3]), born})
		keys[0] = append(keys[0], id)
		for k := range (i*i + shift) % 6 {
			stay := fmt.Sprint("s", k)
			days := float64(born-1900)*0.8 + float64((i*7+k*13+shift*k)%10)
			rows[1] = append(rows[1], []any{[]string{"no", "yes"}[(born/50+k*shift)%2], days})
			keys[1] = append(keys[1], stay)
			parents[1][0] = append(parents[1][0], id)
			for b := range (i + k + shift) % 4 {
				rows[2] = append(rows[2], []any{days*9 + float64(b*shift*20), string("xy"[(k+b)%2])})
				parents[2][0], parents[2][1] = append(parents[2][0], id), append(parents[2][1], stay)
			}
		}
	}
	schemas := []records.Schema{tables.Schema, tables.Children[0].Schema,
		tables.Children[0].Children[0].Schema}
	var all []records.Keyed
	for i, s := range schemas {
		f, err := records.FromValues(s, rows[i]...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records.Keyed{Rows: f, Keys: keys[i], Parents: parents[i]})
	}
	l, err := records.Link(tables, all...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestScoresOfSDMetrics compares the scores of several tables with those of version 0.32.0 of that
// library:
//
//	go test -run ScoresOfSDMetrics -export-tables DIR
//	python several.py DIR/tables.json DIR/0 DIR/1 DIR/2
func TestScoresOfSDMetrics(t *testing.T) {
	for shift, want := range [][]float64{
		{1, 1, 1, 1},
		{0.983554151, 0.571699484, 0.824233005, 0.755107226},
		{0.965197621, 0.989483395, 0.914894082, 0.975241667},
	} {
		q, err := scoreTables(visited(t, 0), []*records.Linked{visited(t, shift)})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range []*float64{q.ColumnShapes, q.ColumnPairTrends, q.Cardinality,
			q.InterTableTrends} {
			if got == nil || !(math.Abs(*got-want[i]) < 1e-6) {
				t.Errorf("shift %d: score %d is %v, want %v", shift, i, *got, want[i])
			}
		}
		if *exportTables != "" {
			export(t, shift)
		}
	}
}

func export(t *testing.T, shift int) {
	t.Helper()
	folder := filepath.Join(*exportTables, fmt.Sprint(shift))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l := visited(t, shift)
	if err := (records.CSV{}).WriteTables(func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(folder, name))
	}, func(yield func(*records.Linked, error) bool) { yield(l, nil) }); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(l.Tables())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*exportTables, "tables.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRootsSummedUp checks root rows with and without rows that belong to them.
func TestRootsSummedUp(t *testing.T) {
	f, err := summedUp(visited(t, 1), visited(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	var names, full, empty []string
	for j, c := range f.Schema().Columns() {
		names = append(names, c.Name())
		full, empty = append(full, f.Value(1, j)), append(empty, f.Value(502, j))
	}
	for _, one := range []struct{ got, want []string }{
		{names, []string{"town", "born", "number of stays", "stays: ill, most frequent",
			"stays: ill, as before", "stays: days, mean", "stays: days, steps", "number of bills",
			"bills: sum, mean", "bills: of, most frequent"}},
		// Two stays of 36.6 and 30.6 days; bills of 329.4 and 349.4, and of 275.4, 295.4 and 315.4.
		{full, []string{"a", "1937", "2", "no", "0", "33.6", "6", "5", "313.00000000000006", "y"}},
		{empty, []string{"b", "1974", "0", "", "", "", "", "0", "", ""}},
	} {
		if !slices.Equal(one.got, one.want) {
			t.Errorf("got  %q\nwant %q", one.got, one.want)
		}
	}
}

// TestStepsStayWithinAParent: the steps of rows in order are those between rows of one parent, and
// rows without a value, or without a row before them, have none.
func TestStepsStayWithinAParent(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 100).WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	f, err := records.FromValues(s, []any{1}, []any{3}, []any{50}, []any{54}, []any{nil}, []any{60},
		[]any{90})
	if err != nil {
		t.Fatal(err)
	}
	up := []int32{0, 0, 1, 1, 1, 1, 2}
	for _, c := range []struct {
		lo, hi int
		want   any
	}{{0, 7, 3.0}, {0, 2, 2.0}, {1, 4, 4.0}, {1, 3, nil}, {3, 7, nil}, {2, 2, nil}} {
		if got := (summary{f, 0, up, c.lo, c.hi}).steps(math.Abs); got != c.want {
			t.Errorf("rows %d to %d: steps of %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}
