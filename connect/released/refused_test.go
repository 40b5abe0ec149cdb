package released_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/released"
	"github.com/seed7ba64551/privgen/records"
)

// everyKind returns a schema with numbers and levels, with and without missing values.
func everyKind(t *testing.T) records.Schema {
	t.Helper()
	s, err := records.NewSchema(records.Categorical("sex", "f", "m").WithMissing(),
		records.Flag("flag", "n", "y"), records.Integer("age", 0, 3),
		records.Integer("gap", 0, 9).WithMissing(), records.Numeric("income", 0, 100),
		records.Numeric("price", 0, 100).WithStep(10), records.Identifier("id", records.UUID()),
		records.Integer("wide", 0, 1<<23))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTablesThatMeanNothing: a table that does not fit the schema is refused in either format, and
// its nearest neighbour that does is read.
func TestTablesThatMeanNothing(t *testing.T) {
	s := everyKind(t)
	table := func(column, values, counts, more string) string {
		return fmt.Sprintf(`{"columns":[%s],"values":[%s],"counts":[%s],"std":1%s}`, column, values,
			counts,
			more)
	}
	many := strings.TrimSuffix(strings.Repeat(table(`"flag"`, `["n"]`, "1", "")+",", 257), ",")
	wide := func(n int) string {
		var b strings.Builder
		b.WriteString("wide,gap,age,sex,flag,count,std\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%d,%d,%s,%s,1,1\n", i, i%8, i%4, "fm"[i%2:i%2+1], "ny"[i%2:i%2+1])
		}
		return b.String()
	}
	for what, c := range map[string]struct{ bad, good string }{
		"a column": {table(`"x"`, `["n"]`, "1", ""), table(`"flag"`, `["n"]`, "1", "")},
		"twice": {table(`"flag","flag"`, `["n"],["y"]`, "1", ""), table(`"flag","sex"`,
			`["n"],["f"]`, "1", "")},
		"lists":     {table(`"flag","sex"`, `["n"]`, "1", ""), ""},
		"no values": {table(`"flag"`, `[]`, "", ""), ""},
		"a level":   {table(`"flag"`, `["x"]`, "1", ""), ""},
		"level twice": {table(`"flag"`, `["n","n"]`, "1,2", ""),
			table(`"flag"`, `["n","y"]`, "1,2", "")},
		"missing": {table(`"flag"`, `["n",null]`, "1,2", ""), table(`"sex"`, `["f",null]`, "1,2",
			"")},
		"missing twice": {table(`"sex"`, `[null,null]`, "1,2", ""), ""},
		"missing numbers": {table(`"age"`, `["1",null]`, "1,2", ""),
			table(`"gap"`, `["1",null]`, "1,2", "")},
		"missing numbers twice": {table(`"gap"`, `[null,"1",null]`, "1,2,3", ""), ""},
		"overlap": {table(`"age"`, `["0..2","2..3"]`, "1,2", ""),
			table(`"age"`, `["0..1","2..3"]`, "1,2", "")},
		"overlap, turned": {table(`"age"`, `["2..3","0..2"]`, "1,2", ""), table(`"age"`,
			`["2..3","0..1"]`, "1,2", "")},
		"ends of a step": {table(`"price"`, `["0..20","20..30"]`, "1,2", ""), table(`"price"`,
			`["0..10","20..30"]`, "1,2", "")},
		"touching": {table(`"income"`, `["0..21","20..30"]`, "1,2", ""), table(`"income"`,
			`["0..20","20..30"]`, "1,2", "")},
		"a number twice": {table(`"income"`, `["5","5"]`, "1,2", ""), table(`"income"`, `["5","6"]`,
			"1,2", "")},
		"reversed": {table(`"income"`, `["30..20"]`, "1", ""), table(`"income"`, `["20..20"]`,
			"1", "")},
		"infinite":      {table(`"income"`, `["0..Inf"]`, "1", ""), ""},
		"no number":     {table(`"income"`, `["0..x"]`, "1", ""), ""},
		"an identifier": {table(`"id"`, `["x"]`, "1", ""), ""},
		"fewer counts":  {table(`"flag"`, `["n","y"]`, "1", ""), ""},
		"more counts":   {table(`"flag"`, `["n","y"]`, "1,2,3", ""), ""},
		"no std": {strings.Replace(table(`"flag"`, `["n"]`, "1", ""), `"std":1`, `"std":0`,
			1), ""},
		"a negative std": {strings.Replace(table(`"flag"`, `["n"]`, "1", ""), `"std":1`, `"std":-1`,
			1), ""},
		"other fields": {table(`"flag"`, `["n"]`, "1", `,"epsilon":1`), table(`"flag"`, `["n"]`,
			"1", `,"sigma":2`)},
		"257 tables": {"[" + many + "]", "[" + many[:256*(len(many)+1)/257-1] + "]"},
		"codes of levels": {`{"columns":["flag"],"counts":[1,2,3],"shape":[3],"std":1}`,
			`{"columns":["flag"],"counts":[1,2],"shape":[2],"std":1}`},
		"codes and missing": {`{"columns":["sex"],"counts":[1,2,3,4],"shape":[4],"std":1}`,
			`{"columns":["sex"],"counts":[1,2,3],"shape":[3],"std":1}`},
		"more codes": {`{"columns":["flag"],"counts":[1,2],"shape":[4194305],"std":1}`, ""},
		"codes of numbers": {`{"columns":["age"],"counts":[1,2,3],"shape":[3],"std":1}`,
			`{"columns":["age"],"counts":[1,2,3,4],"shape":[4],"std":1}`},
		"codes of steps": {`{"columns":["price"],"counts":[1,2,3],"shape":[3],"std":1}`,
			`{"columns":["income"],"counts":[1,2,3],"shape":[3],"std":1}`},
		"no codes": {`{"columns":["income"],"counts":[],"std":1}`, ""},
		"negative codes": {`{"columns":["income"],"counts":[1],"shape":[-1],"std":1}`,
			`{"columns":["income"],"counts":[1],"shape":[1],"std":1}`},
		"CSV without std":   {"flag,count\nn,1\n", "flag,count,std\nn,1,2\n"},
		"CSV without count": {"flag,std\nn,1\n", ""},
		"CSV of two stds":   {"flag,count,std\nn,1,2\ny,1,3\n", "flag,count,std\nn,1,2\ny,1,2\n"},
		"CSV twice":         {"flag,count,std\nn,1,2\nn,1,2\n", ""},
		"CSV of NaN":        {"flag,count,std\nn,NaN,2\n", ""},
		"CSV of text":       {"flag,count,std\nn,x,2\n", ""},
		"CSV of no std":     {"flag,count,std\nn,1,x\n", ""},
		"CSV of a column":   {"x,count,std\nn,1,2\n", ""},
		"CSV of columns":    {strings.Repeat("x,", 17) + "count,std\n", ""},
		"CSV in quotes": {"\"" + strings.Repeat("x,", 17) + "\",count,std\n",
			"\"flag\",\"count\",std\nn,1,2\n"},
		"CSV of cells":   {wide(1<<15 + 1), wide(1 << 10)},
		"infinite count": {"flag,count,std\nn,Inf,2\n", ""},
	} {
		if _, err := released.Read(strings.NewReader(c.bad), s); !errors.Is(err, released.ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
		if c.good == "" {
			continue
		}
		if _, err := released.Read(strings.NewReader(c.good), s); err != nil {
			t.Errorf("%s, mended: %v", what, err)
		}
	}
}

// TestCellsOfRecords: each record counts in the cell that holds its values, at the ends of ranges
// too, and in none if no cell does or the cell's count was not released.
func TestCellsOfRecords(t *testing.T) {
	s := schema(t)
	nan := math.NaN()
	gen := generator(s)
	for what, c := range map[string]struct {
		table released.Table
		in    func(sex string, age, income float64) bool
	}{
		"levels":  {one("sex", 700, "m"), func(sex string, _, _ float64) bool { return sex == "m" }},
		"missing": {one("sex", 700, ""), func(sex string, _, _ float64) bool { return sex == "" }},
		"whole": {one("age", 700, "2..4"), func(_ string, age, _ float64) bool {
			return age >= 2 &&
				age <= 4
		}},
		"a value": {one("age", 700, "3"), func(_ string, age, _ float64) bool { return age == 3 }},
		"real": {one("income", 700, "20..40"),
			func(_ string, _, income float64) bool { return income >= 20 && income < 40 }},
		"two ranges": {released.Table{Columns: []string{"income"}, Values: [][]string{{"40..60",
			"0..10"}},
			Counts: []float64{nan, 700}, Std: 0.1},
			func(_ string, _, income float64) bool { return income < 10 }},
		"two columns": {released.Table{Columns: []string{"sex", "age"}, Values: [][]string{{"f", "m"},
			{"0..4", "5..9"}}, Counts: []float64{nan, nan, 700, nan}, Std: 0.1},
			func(sex string, age, _ float64) bool { return sex == "m" && age < 5 }},
	} {
		m, err := released.Match(t.Context(), gen, []released.Table{c.table},
			released.Settings{Pool: 4000,
				Records: 1000})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := m.Sample(4000)
		if err != nil {
			t.Fatal(err)
		}
		got := share(rows, func(i int) bool {
			return c.in(rows.Value(i, 0), rows.Number(i, 1), rows.Number(i, 2))
		})
		if math.Abs(got-0.7) > 0.005 {
			t.Errorf("%s: a share of %.4f of the rows, want 0.7", what, got)
		}
	}
}

func one(column string, count float64, value string) released.Table {
	return released.Table{Columns: []string{column}, Values: [][]string{{value}},
		Counts: []float64{count}, Std: 0.1}
}

// TestSettingsOfMatch: settings beyond their bounds are refused before anything is drawn.
func TestSettingsOfMatch(t *testing.T) {
	gen := generator(schema(t))
	flat := one("age", 700, "0..9")
	for what, c := range map[string]struct {
		tables int
		s      released.Settings
		good   bool
	}{
		"small": {1, released.Settings{Pool: 10}, true}, "no table": {0, released.Settings{Pool: 10},
			false},
		"most tables":  {256, released.Settings{Pool: 10}, true},
		"more tables":  {257, released.Settings{Pool: 10}, false},
		"negative":     {1, released.Settings{Pool: -1}, false},
		"a large pool": {1, released.Settings{Pool: 1<<24 + 1}, false},
		"large places": {256, released.Settings{Pool: 1<<18 + 1}, false},
		"no records":   {1, released.Settings{Pool: 10, Records: -1}, false},
		"Inf":          {1, released.Settings{Pool: 10, Records: math.Inf(1)}, false},
		"NaN":          {1, released.Settings{Pool: 10, Records: math.NaN()}, false},
		"half":         {1, released.Settings{Pool: 10, Records: 0.5}, false},
	} {
		m, err := released.Match(t.Context(), gen, slices.Repeat([]released.Table{flat}, c.tables), c.s)
		if (err == nil) != c.good {
			t.Errorf("%s: %v", what, err)
		}
		if err != nil {
			continue
		}
		for _, n := range []int{-1, 0, 1<<24 + 1} {
			if _, err := m.Sample(n); err == nil {
				t.Errorf("%d rows are drawn", n)
			}
		}
		for _, n := range []int{1, 9, 10, 77} {
			if rows, err := m.Sample(n); err != nil || rows.Len() != n {
				t.Errorf("%d rows: %v", n, err)
			}
		}
	}
}
