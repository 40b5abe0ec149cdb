package records_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// TestOneChangeIsAnotherSchema: schemas, tables of tables and constraints that differ in a single
// property are different, and each comes back from its file as it was. Records of one would be
// read, priced or drawn wrongly as records of the other.
func TestOneChangeIsAnotherSchema(t *testing.T) {
	at := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	const big = math.MaxInt >> 3 // of 64 bits, the next integer is the same float64
	columns := []records.Column{
		records.Numeric("a", 0, 9), records.Numeric("b", 0, 9), records.Numeric("a", 1, 9),
		records.Numeric("a", 0, 8), records.Numeric("a", 0, 9).WithMissing(),
		records.Numeric("a", 0, 9).Logarithmic(), records.Numeric("a", 0, 9).WithStep(1),
		records.Numeric("a", 0, 9).WithStep(0.5), records.Integer("a", 0, 9), records.Integer("a", 0,
			8),
		records.Integer("a", 0, big), records.Integer("a", 0, big+1), records.Integer("a", 1, big),
		records.Categorical("a", "x", "y"), records.Categorical("a", "y", "x"),
		records.Categorical("a", "x", "z"), records.Categorical("a", "x", "y", "z"),
		records.Categorical("a", "x", "y").WithMissing(), records.Categorical("a", "x",
			"y").WithOther("x"),
		records.Categorical("a", "x", "y").WithOther("y"), records.Ordinal("a", "x", "y"),
		records.Flag("a", "x", "y"), records.Hashed("a", 3), records.Hashed("a", 4),
		records.Hashed("a", 3, "x"), records.Hashed("a", 3, "y"),
		records.Datetime("a", at(1), at(9), time.Hour), records.Datetime("a", at(2), at(9), time.Hour),
		records.Datetime("a", at(1), at(8), time.Hour), records.Datetime("a", at(1), at(9),
			time.Minute),
		records.Datetime("a", at(1), at(9), time.Hour).WithParts(1),
		records.Datetime("a", at(1), at(9), time.Hour).WithParts(2),
		records.Duration("a", 0, time.Hour, time.Second), records.Duration("a", 0, time.Hour,
			time.Minute),
		records.Duration("a", time.Second, time.Hour, time.Second),
		records.Duration("a", 0, 2*time.Hour, time.Second), records.Identifier("a", records.UUID()),
		records.Identifier("a", records.Sequence(1)), records.Identifier("a", records.Sequence(2)),
		records.Identifier("a", records.Pattern("##")), records.Identifier("a", records.Pattern("#?")),
	}
	flag := records.Flag("f", "n", "y")
	var all []records.Schema
	for _, c := range columns {
		all = append(all, must(records.NewSchema(flag, c))(t))
	}
	first := all[0]
	all = append(all, must(records.NewSchema(columns[0], flag))(t), must(records.NewSchema(flag))(t),
		must(records.NewSchema(flag, columns[0], columns[1]))(t),
		must(records.NewSchema(flag, columns[0], records.Label("l", "p", "q")))(t),
		must(records.NewSchema(flag, columns[0], records.Label("l", "q", "p")))(t),
		must(records.NewSchema(flag, columns[0], records.Label("m", "p", "q")))(t),
		records.Binary(4), records.Binary(9), records.Interval(4, 0, 1), records.Interval(4, 0, 2),
		records.Interval(4, -1, 1), records.Image(2, 2), records.Image(1, 4), records.BinaryImage(2, 2),
		records.RGBImage(2, 2), records.Sets(4, 2), records.Sets(4, 3), records.Sets(5, 2),
		records.Binary(4).WithLabels("a", "b"), records.Binary(4).WithLabels("b", "a"),
		records.Binary(4).WithLabels("a", "b", "c"),
		records.Binary(4).WithLabels("a", "b").WithUnknown("b"))
	texts := map[string]int{}
	for i, s := range all {
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		text := must(json.Marshal(s))(t)
		if k, twice := texts[string(text)]; twice {
			t.Errorf("%v and %v have the same file", all[k], s)
		}
		texts[string(text)] = i
		var back records.Schema
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(s) ||
			string(must(json.Marshal(back))(t)) != string(text) {
			t.Errorf("%s is read as %v: %v", text, back, err)
		}
		for k, o := range all {
			if s.Equal(o) != (i == k) || (records.Difference(s, o) == "") != (i == k) && i != k {
				t.Errorf("%v and %v: equal %t, difference %q", s, o, s.Equal(o), records.Difference(s, o))
			}
		}
	}
	table := func(change func(d *records.Tables)) records.Tables {
		d := records.Tables{Name: "people", Schema: first, Key: "id", Children: []records.Tables{
			{Name: "visits", Schema: first, Most: 2, Parents: []string{"of"}}}}
		change(&d)
		return d
	}
	var tables []records.Tables
	for _, change := range []func(d *records.Tables){func(*records.Tables) {},
		func(d *records.Tables) { d.Name = "persons" }, func(d *records.Tables) { d.Schema = all[1] },
		func(d *records.Tables) { d.Children = nil },
		func(d *records.Tables) { d.Children[0].Name = "stays" },
		func(d *records.Tables) { d.Children[0].Schema = all[1] },
		func(d *records.Tables) { d.Children[0].Most = 3 },
		func(d *records.Tables) { d.Children[0].Ordered = true },
		func(d *records.Tables) { d.Children[0].Gaps = "x" }} {
		tables = append(tables, table(change))
	}
	for i, a := range tables {
		for k, b := range tables {
			if a.Equal(b) != (i == k) {
				t.Errorf("tables %d and %d: equal %t", i, k, a.Equal(b))
			}
		}
	}
	within := records.Within("a", 1, 2)
	rules := []records.Constraint{within, records.Within("a", 1, 3), records.Within("a", 0, 2),
		records.Within("a", nil, 2), records.Within("a", 1, nil), records.Within("b", 1, 2),
		within.OrMissing(), within.Repaired(), within.OrMissing().Repaired(), records.Only("a", 1),
		records.Only("a", 1, 2), records.Only("a", 1, nil), records.Ascending("a", "b"),
		records.Ascending("b", "a"), records.StrictlyAscending("a", "b"), records.Unique("a"),
		records.Unique("a", "b"), records.Combinations([]string{"a", "b"}, []string{"1", "2"}),
		records.Combinations([]string{"a", "b"}, []string{"1", "3"}),
		records.Combinations([]string{"a", "b"}, []string{"1", "2"}, []string{"1", "3"}),
		records.Combinations([]string{"a", "b"}, []string{"1", "2"}).Repaired(),
		records.Determines([]string{"a", "b"}),
		records.Determines([]string{"a", "b"}, []string{"1", "2"})}
	seen, s := map[string]bool{}, must(records.NewSchema(columns[0].WithMissing(), columns[1]))(t)
	for _, c := range rules {
		text := string(must(json.Marshal(c))(t))
		var back records.Constraint
		if err := json.Unmarshal([]byte(text), &back); err != nil || seen[text] ||
			string(must(json.Marshal(back))(t)) != text || fmt.Sprint(back) != fmt.Sprint(c) {
			t.Errorf("%v is written as %s and read as %v: %v", c, text, back, err)
		}
		seen[text] = true
		var whole records.Schema
		if err := json.Unmarshal(must(json.Marshal(s.WithConstraints(c)))(t), &whole); err != nil ||
			len(whole.Constraints()) != 1 || string(must(json.Marshal(whole.Constraints()[0]))(
			t)) != text {
			t.Errorf("%v in a schema is read as %v: %v", c, whole.Constraints(), err)
		}
	}
}
