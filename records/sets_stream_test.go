package records_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func made(t testing.TB, n, universe int) *records.SetTable {
	t.Helper()
	b := must(records.NewSetBuilder(records.Sets(universe, 30)))(t)
	rng := rand.New(rand.NewPCG(3, 0))
	for range n {
		items := make([]uint32, rng.IntN(9))
		for k := range items {
			items[k] = uint32(rng.IntN(universe) * rng.IntN(universe) / universe)
		}
		slices.Sort(items)
		if err := b.Add(slices.Compact(items)); err != nil {
			t.Fatal(err)
		}
	}
	return must(b.Table())(t)
}

func TestStreams(t *testing.T) {
	table := made(t, 2500, 60)
	var text bytes.Buffer
	if err := records.WriteTransactions(&text, table); err != nil {
		t.Fatal(err)
	}
	streams := map[string]func(int) func(func(*records.SetTable, error) bool){
		"lines": func(n int) func(func(*records.SetTable, error) bool) {
			return records.StreamTransactions(bytes.NewReader(text.Bytes()), table.Schema(), n)
		},
	}
	for name, stream := range streams {
		var parts []records.Data
		for part, err := range stream(1000) {
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		all := must(records.Concat(table.Schema(), parts...))(t).(*records.SetTable)
		if len(parts) != 3 || parts[2].Len() != 500 || all.Len() != 2500 {
			t.Fatalf("%s: got %d parts, want 3 with 2500 rows", name, len(parts))
		}
		for i := range all.Len() {
			if !slices.Equal(all.Items(i), table.Items(i)) {
				t.Fatalf("%s: row %d differs", name, i)
			}
		}
		for range stream(10) {
			break
		}
		for _, err := range stream(0) {
			var shape *param.Error
			if !errors.As(err, &shape) {
				t.Errorf("%s: tables of no rows: got error %v, want *param.Error", name, err)
			}
		}
	}
	cut := gz([]byte("1\n2\n3\n"))
	for part, err := range records.StreamTransactions(bytes.NewReader(cut[:len(cut)-5]),
		records.Sets(5, 2), 2) {
		if part == nil && !errors.Is(err, records.ErrFormat) || part != nil && part.Len() != 2 {
			t.Errorf("got part %v and error %v, want parts of 2 rows, then ErrFormat", part, err)
		}
	}
}

func TestVisitsAreGroupedByPerson(t *testing.T) {
	s := records.Sets(10, 3)
	const text = "when,who,where\n1,ann,3\n2,bob,1 7\n3, ann ,3\n4,ann,x 99 -1 " +
		"2\n5,cid,\n6,bob,9\n7,bob,0\n"
	for name, data := range map[string][]byte{"plain": []byte(text), "gzip": gz([]byte(text))} {
		table := must(records.Visits{Header: true, User: "who",
			Item: "where"}.Read(bytes.NewReader(data), s))(t)
		if table.Len() != 3 || !slices.Equal(table.Items(0), []uint32{2, 3}) ||
			len(table.Items(1)) != 3 || len(table.Items(2)) != 0 {
			t.Errorf("%s: got wrong items %v, %v, %v", name, table.Items(0), table.Items(1), table.Items(2))
		}
		if table.Unit() != records.UnitUser || table.Slice(0, 1).Unit() != records.UnitUser ||
			table.Take([]int32{1}).Unit() != records.UnitUser {
			t.Errorf("%s: got unit %q, want user", name, table.Unit())
		}
		if got := table.Take([]int32{1, 0, 1}).Unit(); got != records.UnitPart {
			t.Errorf("%s: a user twice: got unit %q, want part", name, got)
		}
	}
	// The items kept for a person do not depend on the positions of the person's rows, or on other
	// rows.
	few := must(
		records.Visits{UserColumn: 1,
			Column: 2}.Read(strings.NewReader("1,bob,9\n1,bob,0\n1,bob,7\n1,bob,1\n"), s))(t)
	many := must(records.Visits{Header: true, User: "who",
		Item: "where"}.Read(strings.NewReader(text), s))(t)
	if !slices.Equal(few.Items(0), many.Items(1)) {
		t.Errorf("bob has %v or %v, want the same items", few.Items(0), many.Items(1))
	}
	var shape *param.Error
	for name, v := range map[string]records.Visits{"no names": {Header: true}, "one column": {},
		"negative": {UserColumn: -1}} {
		if _, err := v.Read(strings.NewReader(text), s); !errors.As(err, &shape) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	for name, data := range map[string]string{"no such column": "a,b\nann,2\n", "nothing": "",
		"one column": "who\nann\n"} {
		_, err := records.Visits{Header: true, User: "who",
			Item: "where"}.Read(strings.NewReader(data), s)
		if !errors.Is(err, records.ErrFormat) || strings.Contains(err.Error(), "ann") {
			t.Errorf("%s: got error %v, want ErrFormat without a name from the file", name, err)
		}
	}
	if records.UnitOf(many.WithoutLabels()) != records.UnitUser ||
		records.UnitOf(records.WithUnit(made(t, 2, 50), "household")) != "household" ||
		records.UnitOf(made(t, 2, 50)) != records.UnitRecord {
		t.Error("got a wrong unit")
	}
}

func FuzzVisits(f *testing.F) {
	f.Add([]byte("who,where\nann,1\nbob,2 3\n"), true)
	f.Add([]byte("ann,1\n\"b,2\n"), false)
	f.Fuzz(func(t *testing.T, data []byte, header bool) {
		table, err := records.Visits{Header: header, User: "who", Item: "where",
			Column: 1}.Read(bytes.NewReader(data), records.Sets(8, 3))
		inSchema(t, table, err)
	})
}
