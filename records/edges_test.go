package records_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// TestValuesGrowWithThePackedFile: the default number of values grows with the bytes of a file
// before unpacking. The same records are read from a plain file, which is longer.
func TestValuesGrowWithThePackedFile(t *testing.T) {
	const dim = 1 << 10
	s := records.Interval(dim, 0, 1)
	line := strings.Repeat(",", dim-1) + "\n"
	text := bytes.Repeat([]byte(line), 2<<10+1) // 1,024 more than 2,097,152 values
	missing := records.CSV{FirstRecord: true}
	if _, err := missing.Read(bytes.NewReader(text), s); err != nil {
		t.Errorf("a plain file: %v", err)
	}
	over := new(records.LimitError)
	if _, err := missing.Read(bytes.NewReader(gz(text)), s); !errors.As(err, &over) ||
		over.Limit != "Values" {
		t.Errorf("a packed file: got error %v, want a LimitError for Values", err)
	}
	if _, err := missing.Read(bytes.NewReader(gz(text[:len(text)-dim])), s); err != nil {
		t.Errorf("a packed file at its limit: %v", err)
	}
}

// TestRowsAfterARefusedOne: a row that is refused at its last cell leaves nothing in any column.
func TestRowsAfterARefusedOne(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("n", 0, 9), records.Flag("f", "no", "yes"),
		records.Datetime("t", time.Unix(0, 0), time.Unix(1e9, 0), time.Second),
		records.Hashed("h", 4).WithOther("rest"), records.Integer("last", 0, 9)))(t)
	at := time.Unix(5e8, 0).UTC()
	first, second := []any{1.0, "no", at, "a", 1}, []any{2.0, "yes", at.Add(time.Hour), "b", 2}
	b := must(records.NewFrameBuilder(s))(t)
	refused := []any{9.0, "yes", at.Add(time.Minute), "z", struct{}{}}
	for i, row := range [][]any{first, refused, second, refused} {
		if err := b.Append(row...); (err != nil) != (i%2 == 1) {
			t.Fatalf("row %d: got error %v", i, err)
		}
	}
	got, want := b.Frame(), must(records.FromValues(s, first, second))(t)
	for i := range 2 {
		if g, w := string(got.AppendJSON(nil, i)), string(want.AppendJSON(nil, i)); g != w {
			t.Errorf("row %d is %s, want %s", i, g, w)
		}
	}
	texts := must(records.OpenTexts(got))(t)
	if n := texts[0]; len(n) != 2 || n["a"] == 0 || n["b"] == 0 {
		t.Errorf("the texts are %v, want a and b", texts)
	}
}

// TestLongLinesAtTheirLimit: a line that is longer than the reader's buffer, and as long as
// allowed, is a record, whatever ends it. Only a longer one is not.
func TestLongLinesAtTheirLimit(t *testing.T) {
	const most = 1<<16 + 100
	s := records.Interval(2, 0, 1)
	for _, end := range []string{"\n", "\r\n", ""} {
		for extra, readable := range map[int]bool{-1: true, 0: true, 1: false} {
			line := "1,1" + strings.Repeat(" ", most+extra-len("1,1"))
			d := must(records.CSV{Limits: records.Limits{LineBytes: most}}.Read(strings.NewReader(
				line+end), s))(t)
			if row := d.Row(nil, 0); d.Len() != 1 || (row[0] == 1 && row[1] == 1) != readable {
				t.Errorf("%d bytes beyond the limit and %q: got %d rows, the first is %v", extra, end,
					d.Len(), row)
			}
		}
	}
}

// TestSchemasShareNoSlices: what a schema was made of, and what it returns, may be changed.
func TestSchemasShareNoSlices(t *testing.T) {
	columns := []records.Column{records.Integer("a", 0, 9), records.Flag("b", "no", "yes")}
	s := must(records.NewSchema(columns...))(t)
	before := fmt.Sprint(s, s.Columns(), s.Blocks())
	columns[0] = records.Integer("other", 0, 3)
	s.Columns()[1] = columns[0]
	s.Blocks()[0].Offset = 7
	if after := fmt.Sprint(s, s.Columns(), s.Blocks()); after != before {
		t.Errorf("the schema was %s, and is now %s", before, after)
	}
}

// TestKeysAtTheirLimit: an object of as many keys as Limits.Fields is a record, and an object of
// one key more is not.
func TestKeysAtTheirLimit(t *testing.T) {
	s := must(records.NewSchema(records.Integer("a", 0, 9).WithMissing()))(t)
	for keys, want := range map[string]string{`{"x":1,"y":2,"a":3}`: `{"a":3}`,
		`{"x":1,"y":2,"z":4,"a":3}`: `{"a":null}`, `{"a":3,"x":1,"y":2,"z":4}`: `{"a":null}`} {
		three := records.JSONLines{Limits: records.Limits{Fields: 3}}
		f := must(three.ReadFrame(strings.NewReader(keys), s))(t)
		if got := string(f.AppendJSON(nil, 0)); got != want {
			t.Errorf("%s becomes %s, want %s", keys, got, want)
		}
	}
}

// shared is data of the caller whose batches share its memory, and that writes to the lists of rows
// that it gets.
type shared struct {
	schema records.Schema
	sets   *device.Sparse
}

func (d shared) Schema() records.Schema { return d.schema }
func (d shared) Len() int               { return d.sets.Rows() }
func (d shared) Gather(rows []int32, b *device.Batch) {
	d.Range(0, d.Len(), b) // of all rows in order: the test asks for no others
	clear(rows)
}

func (d shared) Range(lo, hi int, b *device.Batch) {
	b.Rows, b.Sparse = hi-lo, d.sets
}

// TestDataOfTheCallerIsNotWritten reads sets with items that are unsorted, repeated and outside the
// universe. What is read is put right, in memory of its own.
func TestDataOfTheCallerIsNotWritten(t *testing.T) {
	items := []uint32{3, 9, 1, 3, 70, 2}
	own := &device.Sparse{Cols: 5, Offsets: []int{0, 4, 6}, Items: slices.Clone(items)}
	c := records.Clamped(shared{records.Sets(5, 3), own})
	for _, read := range []func(b *device.Batch){
		func(b *device.Batch) { c.Range(0, 2, b) },
		func(b *device.Batch) {
			rows := []int32{0, 1}
			if c.Gather(rows, b); !slices.Equal(rows, []int32{0, 1}) {
				t.Errorf("the list of rows is now %v", rows)
			}
		},
	} {
		var b device.Batch
		read(&b)
		if !slices.Equal(b.Index, []int32{0, 1}) || !slices.Equal(b.Sparse.Items, []uint32{1, 3, 2}) {
			t.Errorf("rows %v have the items %v, want rows 0 and 1 with 1, 3 and 2", b.Index,
				b.Sparse.Items)
		}
		if !slices.Equal(own.Items, items) {
			t.Fatalf("the caller's items are now %v, want %v", own.Items, items)
		}
	}
}

// unreadable is data whose rows cannot be read.
type unreadable struct{ shared }

func (unreadable) Range(int, int, *device.Batch) { panic("a disk that fails") }

// TestFailuresAreSeenFromOutside: data that is guarded and then clamped has failed if its inside
// has, though that returns rows.
func TestFailuresAreSeenFromOutside(t *testing.T) {
	sets := &device.Sparse{Cols: 5, Offsets: []int{0, 0}}
	c := records.Clamped(records.Guarded(unreadable{shared{records.Sets(5, 3), sets}}))
	if records.Failed(c) {
		t.Error("data that was not read has failed")
	}
	var b device.Batch
	if c.Range(0, 1, &b); !records.Failed(c) || b.Rows != 1 {
		t.Errorf("%d rows of data that fails, and it has failed: %v; want 1 and true", b.Rows,
			records.Failed(c))
	}
}

// TestConstraintsShareNoSlices: the lists of a constraint's columns and items may be used again.
func TestConstraintsShareNoSlices(t *testing.T) {
	columns, items := []string{"a", "b"}, []uint32{1, 2}
	list := []records.Constraint{records.Ascending(columns...), records.StrictlyAscending(columns...),
		records.Unique(columns...), records.Determines(columns), records.Combinations(columns),
		records.HasItems(items...), records.LacksItems(items...)}
	before := fmt.Sprint(list)
	columns[0], items[0] = "other", 7
	if after := fmt.Sprint(list); after != before {
		t.Errorf("the constraints were %s, and are now %s", before, after)
	}
}

// long is data of the caller with more rows than are checked at once; all but one are right.
type long struct{ wrong int }

func (long) Schema() records.Schema               { return records.Binary(1).WithLabels("a", "b") }
func (long) Len() int                             { return 3000 }
func (long) Gather(rows []int32, b *device.Batch) {}
func (d long) Range(lo, hi int, b *device.Batch) {
	b.Rows, b.Dense = hi-lo, device.HostMatrix(hi-lo, 1, make([]float32, hi-lo))
	b.Labels = make([]int32, hi-lo)
	if lo <= d.wrong && d.wrong < hi {
		b.Dense.Data[d.wrong-lo], b.Labels[d.wrong-lo] = 7, 9
	}
}

// TestDefectsOfLongDataSayWhere: the row of a defect is counted from the first row of all.
func TestDefectsOfLongDataSayWhere(t *testing.T) {
	for _, row := range []int{0, 1023, 1024, 2999} {
		err := records.Check(long{row})
		if err == nil || strings.Count(err.Error(), fmt.Sprintf("row %d,", row)) != 2 {
			t.Errorf("row %d is wrong, and so is its label: got %v", row, err)
		}
	}
}
