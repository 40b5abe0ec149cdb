package tabular

import (
	"fmt"
	"log/slog"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// A Table holds records by column. It prints as "[private]", since the records may be real ones.
type Table struct{ *hiddenTable }

// hiddenTable keeps records behind two pointers, which package fmt does not follow from an
// unexported field of another struct.
type hiddenTable struct{ *tableColumns }

type tableColumns struct{ columns []column }

func newTable(columns ...column) *Table { return &Table{&hiddenTable{&tableColumns{columns}}} }

// column is one column: numbers, or levels by their indices.
type column struct {
	name   string
	kind   string
	number bool
	lo, hi float64   // public bounds of numbers
	values []float64 // NaN for missing; nil for levels
	codes  []int32   // -1 for missing; nil for numbers
	levels []string
	// whether missing values have a level of their own
	missing bool
	log     float64 // records.Column.LogUnit
	logs    float64 // the logarithm of the range by that unit
}

// MaxColumns is the largest number of columns of a table.
const MaxColumns = 4096

// Read reads the given rows, or all if rows is nil, by column, including the class. Times are
// seconds since 1970, durations are seconds, and identifiers are left out.
//
// Errors: *[param.Error] for sets and images, which have no columns, and for more than
// [MaxColumns].
func Read(d records.Data, rows []int32) (*Table, error) {
	if d == nil {
		return nil, param.New("tabular.Read d", nil, "records")
	}
	s := d.Schema()
	if s.Sparse() || s.IsImage() {
		return nil, param.New("tabular.Read d", s, "records with columns: a table or vectors")
	}
	if n := max(len(s.Columns()), 1); n > MaxColumns || s.Columns() == nil && s.Dim() > MaxColumns {
		return nil, param.New("tabular.Read d", s, fmt.Sprintf("at most %d columns", MaxColumns))
	}
	if rows != nil {
		d = judge.Rows(d, rows)
	}
	if s.Kind() == records.MixedTable {
		f, err := frame(d)
		if err != nil {
			return nil, err
		}
		return ofFrame(f), nil
	}
	return ofVectors(d), nil
}

// frame returns the records as a frame.
func frame(d records.Data) (*records.Frame, error) {
	if f, ok := records.AsFrame(d); ok {
		return f, nil
	}
	var flat []float32
	var labels []int32
	for _, b := range judge.Batches(judge.InSchema(d)) {
		for i := range b.Rows {
			flat = append(flat, b.Dense.Row(i)...)
		}
		labels = append(labels, b.Labels...)
	}
	return records.DecodeFlat(d.Schema(), flat, labels...)
}

func ofFrame(f *records.Frame) *Table {
	t := newTable()
	for j, c := range f.Schema().Columns() {
		if c.Kind() == records.IdentifierColumn {
			continue // a name says nothing about a record
		}
		own := column{name: c.Name(), kind: c.Kind().String(), number: c.IsNumber(),
			missing: c.HasMissing()}
		if own.number {
			own.lo, own.hi = c.Bounds()
			own.values = f.Numbers(j)
			own.log = c.LogUnit()
			own.logs = math.Log1p((own.hi - own.lo) / own.log)
		} else {
			own.levels = c.Levels()
			own.codes = make([]int32, f.Len())
			for i, l := range f.Levels(j) {
				own.codes[i] = int32(l)
			}
		}
		t.columns = append(t.columns, own)
	}
	return t
}

func ofVectors(d records.Data) *Table {
	s, n := d.Schema(), d.Len()
	t := newTable(make([]column, s.Dim())...)
	for j := range t.columns {
		c := column{name: fmt.Sprintf("coordinate %d", j), kind: s.Kind().String()}
		if c.number = !s.IsBinary(); c.number {
			c.lo, c.hi = s.Bounds()
			c.values = make([]float64, n)
		} else {
			c.levels, c.codes = []string{"0", "1"}, make([]int32, n)
		}
		t.columns[j] = c
	}
	class := column{name: "class", kind: records.LabelColumn.String(), levels: s.ClassNames(),
		codes: make([]int32, n)}
	for first, b := range judge.Batches(judge.InSchema(d)) {
		for i := range b.Rows {
			for j, v := range b.Dense.Row(i) {
				if c := &t.columns[j]; c.number {
					c.values[first+i] = float64(v)
				} else {
					c.codes[first+i] = int32(v)
				}
			}
			if b.Labels != nil {
				class.codes[first+i] = b.Labels[i]
			}
		}
	}
	if s.Classes() > 0 {
		t.columns = append(t.columns, class)
	}
	return t
}

// Len returns the number of records.
func (t *Table) Len() int {
	if t == nil || t.hiddenTable == nil || len(t.columns) == 0 {
		return 0
	}
	return t.columns[0].len()
}

// Columns returns the names of the columns, in order.
func (t *Table) Columns() []string {
	var names []string
	if t == nil || t.hiddenTable == nil {
		return nil
	}
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

func (c column) len() int {
	if c.number {
		return len(c.values)
	}
	return len(c.codes)
}

// alike returns an error for tables of different columns.
func alike(path string, a, b *Table) error {
	if a == nil || b == nil || a.hiddenTable == nil || b.hiddenTable == nil {
		return param.New(path, nil, "two tables, made by Read")
	}
	same := len(a.columns) == len(b.columns)
	for j := 0; same && j < len(a.columns); j++ {
		p, q := a.columns[j], b.columns[j]
		same = p.name == q.name && p.number == q.number && len(p.levels) == len(q.levels) &&
			p.lo == q.lo && p.hi == q.hi
	}
	if !same {
		return param.New(path, fmt.Sprintf("columns %q", b.Columns()),
			fmt.Sprintf("the columns %q, with the same bounds and levels", a.Columns()))
	}
	if a.Len() == 0 || b.Len() == 0 {
		return param.New(path, "no records", "at least one record of each kind")
	}
	return nil
}

// Format writes "[private]" for every verb.
func (Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[private]") }

// LogValue returns "[private]".
func (Table) LogValue() slog.Value { return slog.StringValue("[private]") }

// MarshalText writes "[private]".
func (Table) MarshalText() ([]byte, error) { return []byte("[private]"), nil }
