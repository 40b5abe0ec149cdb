package records_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestRowsPerPersonAtTheirLimits: persons of 1 to MostRows rows are accepted wherever the number is
// stated, and others are refused with its path.
func TestRowsPerPersonAtTheirLimits(t *testing.T) {
	s := must(records.NewSchema(records.Flag("f", "n", "y")))(t)
	for most, good := range map[int]bool{-1: false, 0: false, 1: true, records.MostRows: true,
		records.MostRows + 1: false} {
		_, group := records.GroupBy(numbered(t, 1, 2), []int{1, 1}, most)
		_, read := records.CSV{Header: true}.ReadPersons(strings.NewReader("p,f\na,y\n"), s, "p", most)
		errs := map[string]error{"records.GroupBy.most": group, "records.CSV.ReadPersons.most": read}
		if most != 0 { // a schema of rows
			errs["records.Schema.RowsPerPerson"] = s.ByPerson(most).Validate()
		}
		for path, err := range errs {
			var wrong *param.Error
			if (err == nil) != good || !good && (!errors.As(err, &wrong) || wrong.Path != path) {
				t.Errorf("%d rows per person: %v, want a mistake in %s: %v", most, err, path, !good)
			}
		}
	}
}

// TestSlicesOfPersonsOfEveryKind: a slice of persons has their rows, whatever the rows are.
func TestSlicesOfPersonsOfEveryKind(t *testing.T) {
	frame := must(records.NewSchema(records.Integer("x", 0, 9)))(t)
	sets := must(records.ReadTransactions(strings.NewReader("1\n2\n3\n4\n5\n"), records.Sets(9, 3),
		records.Limits{}))(t)
	for name, d := range map[string]records.Data{"table": numbered(t, 1, 2, 3, 4, 5), "sets": sets,
		"frame": must(records.FromValues(frame, []any{1}, []any{2}, []any{3}, []any{4}, []any{5}))(t)} {
		p := grouped(t, d, []string{"a", "b", "a", "c", "c"}, 2)
		rows := p.Slice(1, 3).Rows()
		if rows == nil || rows.Len() != 3 {
			t.Errorf("%s: two persons have the rows %v", name, rows)
			continue
		}
		var got, want device.Batch
		rows.Range(0, 3, &got)
		p.Rows().Range(2, 5, &want)
		if name == "sets" {
			if !slices.Equal(got.Sparse.Items, want.Sparse.Items) {
				t.Errorf("the items are %v, want %v", got.Sparse.Items, want.Sparse.Items)
			}
		} else if !slices.Equal(got.Dense.Data, want.Dense.Data) {
			t.Errorf("%s: the rows are %v, want %v", name, got.Dense.Data, want.Dense.Data)
		}
	}
}

// TestItemsOfLongLinesAreDropped: a line that is too long still names its person, but has no items,
// not even those before its end.
func TestItemsOfLongLinesAreDropped(t *testing.T) {
	text := "ann," + strings.Repeat("1 2 ", 1<<19) + "\nbob,3\nann,4\n"
	s := must(records.Visits{Column: 1}.Read(strings.NewReader(text), records.Sets(9, 9)))(t)
	if s.Len() != 2 || !slices.Equal(s.Items(0), []uint32{4}) ||
		!slices.Equal(s.Items(1), []uint32{3}) {
		t.Errorf("got %d persons, the first with items %v", s.Len(), s.Items(0))
	}
}

// TestColumnsOfVisits: both columns are below the limit of fields, whichever is the last.
func TestColumnsOfVisits(t *testing.T) {
	for _, c := range []struct {
		user, item int
		good       bool
	}{{0, 4, true}, {4, 0, true}, {0, 5, false}, {5, 0, false}, {2, 2, false}, {-1, 2, false},
		{2, -1, false}} {
		v := records.Visits{UserColumn: c.user, Column: c.item, Limits: records.Limits{Fields: 5}}
		_, err := v.Read(strings.NewReader("1,2,3,4,5,6\n"), records.Sets(9, 9))
		var wrong *param.Error
		if (err == nil) != c.good || !c.good && !errors.As(err, &wrong) {
			t.Errorf("persons in column %d, items in column %d: %v", c.user, c.item, err)
		}
	}
}

// TestTablesAtTheirLimits: descriptions of tables are valid up to their limits, and no further.
func TestTablesAtTheirLimits(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *records.Tables, n int)
		most   int
		beyond int // the first number that is refused
	}{
		"levels":   {func(d *records.Tables, n int) { deepen(&d.Children[0].Children[0], n-3) }, 4, 5},
		"tables":   {func(d *records.Tables, n int) { widen(d, n-3) }, 32, 33},
		"the name": {func(d *records.Tables, n int) { d.Name = strings.Repeat("a", n) }, 64, 65},
		"a short name": {func(d *records.Tables, n int) {
			d.Children[0].Name = strings.Repeat("b", n)
		}, 1, 0},
		"one table": {func(d *records.Tables, n int) {
			d.Children[0].Most, d.Children[0].Children = n, nil
		}, records.MostRows, records.MostRows + 1},
		"both tables": {func(d *records.Tables, n int) {
			d.Children[0].Most, d.Children[0].Children[0].Most = n/64, n/(n/64)
		}, 64 * 64, 64 * 65},
		"rows in order": {func(d *records.Tables, n int) { d.Children[0].Most = n }, 2, 1},
		"rows without order": {func(d *records.Tables, n int) {
			d.Children[0].Most, d.Children[0].Ordered = n, false
		}, 1, 0},
	} {
		for n, good := range map[int]bool{c.most: true, c.beyond: false} {
			d := bank(t)
			c.change(&d, n)
			if err := d.Validate(); (err == nil) != good {
				t.Errorf("%s: %d: %v", name, n, err)
			}
		}
	}
}

// TestRootsKeepTheirConstraints: the full schema of the root has the constraints of its schema.
func TestRootsKeepTheirConstraints(t *testing.T) {
	d := bank(t)
	d.Schema = d.Schema.WithConstraints(records.Only("region", "n"))
	if got := d.Full().Constraints(); fmt.Sprint(got) != fmt.Sprint(d.Schema.Constraints()) ||
		len(got) != 1 {
		t.Errorf("the constraints are %v", got)
	}
}
