package records_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/demo"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// made returns a table of sets that spans several blocks.
func made(t testing.TB, n, universe int) *records.SetTable {
	t.Helper()
	return must(demo.SetSource{Records: n, Universe: universe, MeanItems: 4, MaxItems: 30, Skew: 1,
		Communities: 5, Affinity: 0.6, Seed: 3}.Make())(t)
}

func written(t testing.TB, d records.Data) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := records.WriteSets(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sameSets(t *testing.T, got, want records.Data) {
	t.Helper()
	if got.Len() != want.Len() || !got.Schema().Equal(want.Schema()) {
		t.Fatalf("%d of %v, want %d of %v", got.Len(), got.Schema(), want.Len(), want.Schema())
	}
	var a, b device.Batch
	rows := []int32{int32(want.Len() - 1), 0, 4095, 4096, 0}
	for _, read := range []func(records.Data, *device.Batch){
		func(d records.Data, b *device.Batch) { d.Range(0, d.Len(), b) },
		func(d records.Data, b *device.Batch) { d.Range(4000, 4200, b) },
		func(d records.Data, b *device.Batch) { d.Gather(rows, b) },
	} {
		read(got, &a)
		read(want, &b)
		if a.Rows != b.Rows || !slices.Equal(a.Sparse.Items, b.Sparse.Items) ||
			!slices.Equal(a.Sparse.Offsets, b.Sparse.Offsets) || !slices.Equal(a.Index, b.Index) {
			t.Fatal("batches differ")
		}
	}
}

func TestMappedSetsAreTheTable(t *testing.T) {
	for _, universe := range []int{1000, 1 << 16, 1<<16 + 1} {
		table := made(t, 9000, universe)
		path := filepath.Join(t.TempDir(), "sets")
		if err := os.WriteFile(path, written(t, table), 0o600); err != nil {
			t.Fatal(err)
		}
		m := must(records.OpenSets(path))(t)
		sameSets(t, m, table)
		if err := records.Check(m); err != nil {
			t.Error(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { sameSets(t, m, table) })
		}
		wg.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := records.OpenSets(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("OpenSets opens a file that does not exist")
	}
}

func TestMappedSetsKeepTheirUnit(t *testing.T) {
	users := must(records.Visits{Column: 1}.Read(strings.NewReader("a,1\nb,2\na,3\n"),
		records.Sets(5, 3)))(t)
	one := written(t, users)
	if m := must(records.ReadSets(bytes.NewReader(one), int64(len(one))))(t); m.Unit() !=
		records.UnitUser || records.UnitOf(m) != records.UnitUser {
		t.Errorf("got unit %q, want user", m.Unit())
	}
	stream := func(to io.Writer, parts ...records.Data) error {
		return records.WriteSetStream(to, users.Schema(), func(yield func(records.Data, error) bool) {
			for _, part := range parts {
				if !yield(part, nil) {
					return
				}
			}
		})
	}
	rows := must(records.FromItems(users.Schema(), [][]uint32{{1}}))(t)
	for want, parts := range map[string][]records.Data{
		"a person in two parts": {users, users}, "persons and a row": {users, rows},
		"a row and persons": {rows, users}} {
		var out bytes.Buffer
		if err := stream(&out, parts...); err != nil {
			t.Fatal(err)
		}
		m := must(records.ReadSets(bytes.NewReader(out.Bytes()), int64(out.Len())))(t)
		if m.Unit() != records.UnitPart || m.Len() != parts[0].Len()+parts[1].Len() {
			t.Errorf("%s: got unit %q for %d rows, want the unit UnitPart", want, m.Unit(), m.Len())
		}
	}
	for want, rows := range map[string][][]int32{
		records.UnitPart: {{0, 0}, {1, 0, 1}},
		records.UnitUser: {{0, 1}, {1, 0}, {0}},
	} {
		for _, list := range rows {
			if got := users.Take(list).Unit(); got != want {
				t.Errorf("rows %v: got unit %s, want %s", list, got, want)
			}
		}
	}
	var shape *param.Error
	if err := stream(io.Discard, made(t, 3, 99)); !errors.As(err, &shape) {
		t.Errorf("another schema: got error %v, want *param.Error", err)
	}
	failed := func(yield func(records.Data, error) bool) { yield(nil, os.ErrInvalid) }
	if err := records.WriteSetStream(io.Discard, users.Schema(), failed); err != os.ErrInvalid {
		t.Errorf("a stream that fails: got error %v, want the stream's", err)
	}
	if err := records.WriteSetStream(io.Discard, records.Sets(5, 3).WithLabels("a"),
		failed); !errors.As(err, &shape) {
		t.Errorf("labels: got error %v, want *param.Error", err)
	}
	if err := records.WriteSets(broken{}, users); err == nil {
		t.Error("WriteSets returns no error of the writer")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrInvalid }

// TestCorruptItemsAreBroughtIntoTheSchema: corrupt items are clamped into the schema and make no
// read fail.
func TestCorruptItemsAreBroughtIntoTheSchema(t *testing.T) {
	table := must(records.FromItems(records.Sets(10, 3), [][]uint32{{1, 2, 3}, {4}, {5, 6}}))(t)
	whole := written(t, table)
	const block = 32 // four offsets of 32 bits, then six items of 16
	for name, c := range map[string]struct {
		change func(b []byte)
		want   [][]uint32
	}{
		"an item outside": {func(b []byte) {
			binary.LittleEndian.PutUint16(b[block+16:], 10)
		}, [][]uint32{{2, 3}, {4}, {5, 6}}},
		"out of order": {func(b []byte) {
			binary.LittleEndian.PutUint16(b[block+16:], 9)
		}, [][]uint32{{2, 3, 9}, {4}, {5, 6}}},
		"repeated": {func(b []byte) {
			binary.LittleEndian.PutUint16(b[block+16:], 2)
		}, [][]uint32{{2, 3}, {4}, {5, 6}}},
		"falling offsets": {func(b []byte) {
			binary.LittleEndian.PutUint32(b[block+4:], 5)
		}, [][]uint32{{1, 2, 3}, nil, {5, 6}}},
		"offsets beyond": {func(b []byte) {
			binary.LittleEndian.PutUint32(b[block+12:], 7)
		}, [][]uint32{{1, 2, 3}, {4}, nil}},
		"a row that is long": {func(b []byte) {
			binary.LittleEndian.PutUint32(b[block+4:], 6)
		}, [][]uint32{{1, 2, 3}, nil, {5, 6}}},
	} {
		b := slices.Clone(whole)
		c.change(b)
		m := must(records.ReadSets(bytes.NewReader(b), int64(len(b))))(t)
		var batch device.Batch
		m.Range(0, 3, &batch)
		for i, want := range c.want {
			if !slices.Equal(batch.Sparse.Row(i), want) {
				t.Errorf("%s: row %d is %v, want %v", name, i, batch.Sparse.Row(i), want)
			}
		}
		setsInSchema(t, batch.Sparse, m.Schema())
	}
	b := slices.Clone(whole)
	binary.LittleEndian.PutUint16(b[block+16:], 10)
	binary.LittleEndian.PutUint16(b[block+24:], 0)
	if err := records.Check(must(records.ReadSets(bytes.NewReader(b), int64(len(b))))(t)); err ==
		nil || !strings.Contains(err.Error(), "row 0, column 0") {
		t.Errorf("Check returns %v", err)
	}
}

// TestRowsOverOneAnotherAreRefused: overlapping rows are an error, since a small file could
// otherwise hold any number of items.
func TestRowsOverOneAnotherAreRefused(t *testing.T) {
	file := overlapping(t)
	if _, err := records.ReadSets(bytes.NewReader(file), int64(len(file))); !errors.Is(err,
		records.ErrFormat) {
		t.Errorf("got error %v, want ErrFormat", err)
	}
}

// TestLyingFilesOfSetsAreRefused: files with false sizes are errors and take no memory.
func TestLyingFilesOfSetsAreRefused(t *testing.T) {
	whole := written(t, made(t, 5000, 100))
	foot := len(whole) - 40
	for name, change := range map[string]func(b []byte) []byte{
		"nothing":       func(b []byte) []byte { return nil },
		"cut short":     func(b []byte) []byte { return b[:len(b)-1] },
		"no foot":       func(b []byte) []byte { return b[:foot] },
		"another magic": func(b []byte) []byte { b[0]++; return b },
		"more rows": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[foot:], 1<<31-1)
			return b
		},
		"absurd rows": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[foot:], 1<<63)
			return b
		},
		"starts nowhere": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[foot+8:], 1<<62)
			return b
		},
		"blocks nowhere": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[foot-8:], 1<<62)
			return b
		},
		"blocks overlap": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[foot-16:], 32)
			return b
		},
		"absurd universe": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[16:], 1<<40)
			return b
		},
		"empty universe": func(b []byte) []byte { binary.LittleEndian.PutUint64(b[16:], 0); return b },
	} {
		b := change(slices.Clone(whole))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := records.ReadSets(bytes.NewReader(b), int64(len(b)))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, records.ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
		if after.TotalAlloc-before.TotalAlloc > 1<<20 {
			t.Errorf("%s: ReadSets allocates %d bytes", name, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

func FuzzReadSets(f *testing.F) {
	for _, universe := range []int{40, 1<<16 + 1} {
		f.Add(written(f, made(f, 40, universe)))
	}
	f.Add(written(f, must(records.FromItems(records.Sets(3, 2), nil))(f)))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := records.ReadSets(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			inSchema(t, nil, err)
			return
		}
		if m.Len() > 1<<16 {
			return // valid, but slow
		}
		inSchema(t, m, nil)
		records.Check(m)
	})
}

func TestReadingMappedSetsAllocatesNothing(t *testing.T) {
	b := written(t, made(t, 5000, 100))
	m := must(records.ReadSets(bytes.NewReader(b), int64(len(b))))(t)
	var batch device.Batch
	rows := []int32{4, 900, 4999}
	m.Gather(rows, &batch)
	// the pool may be emptied between runs
	if n := testing.AllocsPerRun(100, func() { m.Gather(rows, &batch) }); n > 1 {
		t.Errorf("got %v allocations, want at most 1", n)
	}
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
		"made": func(n int) func(func(*records.SetTable, error) bool) {
			source := demo.SetSource{Records: 2500, Universe: 60, MeanItems: 4, MaxItems: 30, Skew: 1,
				Communities: 5, Affinity: 0.6, Seed: 3}
			return source.Stream(n)
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
