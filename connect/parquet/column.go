package parquet

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unsafe"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/records"
)

// column reads one column of a file, through all row groups.
type column struct {
	name    string
	leaf    int  // its index among the file's columns
	form    form // the form in which its values are read
	convert convert
	chunks  []chunk // the chunks that have not been read
	bounds  bounds
	width   int // bytes of a value of fixed length
	// optional means that values may be missing.
	optional bool
	pages    pq.Pages
	page     pq.Page
	values   pq.ValueReader
	buffer   []pq.Value
	coded    bool // whether the page's values are entries of a dictionary
}

// chunk is the part of a column in one row group.
type chunk struct {
	pq.ColumnChunk
	meta *format.ColumnMetaData
}

// entry is the position of a text in a dictionary, which stays where it is while its chunk is read.
// A long text is then converted once, not once for each value.
type entry struct {
	text  *byte
	size  int
	chunk int // the number of chunks that follow; -1 without a dictionary
}

// convert reads values that are not null, in several forms: as numbers, texts, whole numbers and
// times. A function is nil if the column of the file does not have the form. Package records parses
// texts into numbers.
type convert struct {
	number func(v pq.Value) float64
	text   func(dst []byte, v pq.Value) []byte
	whole  func(v pq.Value) int64
	moment func(v pq.Value) time.Time
}

// form is a form of [records.Values].
type form int

const (
	texts form = iota
	numbers
	wholes
	moments
)

// form returns the most exact form in which a column accepts the values.
func (c convert) form(to records.Column) form {
	switch k := to.Kind(); {
	case k == records.DatetimeColumn && c.moment != nil:
		return moments
	case k == records.DurationColumn || k == records.DatetimeColumn || k == records.IntegerColumn:
		if c.whole != nil {
			return wholes
		}
		if c.number == nil || k == records.DurationColumn && c.text != nil {
			return texts
		}
		return numbers
	case to.IsNumber() && c.number != nil:
		return numbers
	}
	return texts
}

// batch is the number of values that are read at once.
const batch = 1024

// read reads the next rows.
func (c *column) read(rows int) (records.Values, error) {
	if c.buffer == nil {
		c.buffer = make([]pq.Value, batch)
	}
	out := newCells(c.form)
	for n := 0; n < rows; {
		if c.values == nil {
			if err := c.advance(); err != nil {
				return records.Values{}, err
			}
		}
		got, err := c.values.ReadValues(c.buffer[:min(batch, rows-n)])
		at := entry{chunk: -1}
		if c.coded {
			at.chunk = len(c.chunks)
		}
		for _, v := range c.buffer[:got] {
			out.add(v, c.convert, at)
		}
		n += got
		if err == io.EOF || err == nil && got == 0 {
			c.leave()
		} else if err != nil {
			return records.Values{}, damaged(c.name, err)
		}
	}
	return out.values(), nil
}

// advance moves to the next page; after the last page of a row group comes the first page of the
// next group.
func (c *column) advance() error {
	for {
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return damaged(c.name, io.EOF)
			}
			next := c.chunks[0]
			if err := c.bounds.chunk(c.name, next.meta, c.width, c.optional); err != nil {
				return err
			}
			c.pages, c.chunks = next.Pages(), c.chunks[1:]
		}
		page, err := c.pages.ReadPage()
		if err == io.EOF {
			c.close()
			continue
		}
		if err != nil {
			return damaged(c.name, err)
		}
		c.page, c.values, c.coded = page, page.Values(), page.Dictionary() != nil
		return nil
	}
}

// leave releases the current page.
func (c *column) leave() {
	pq.Release(c.page)
	c.page, c.values = nil, nil
}

func (c *column) close() {
	if c.values != nil {
		c.leave()
	}
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}

// cells collects the values of a column: numbers, or codes of texts. Each text is stored once.
type cells struct {
	form       form
	numbers    []float64
	whole      []int64
	moments    []time.Time
	missing    []bool // for whole numbers and times
	codes      []int32
	dictionary []string
	seen       map[string]int32
	entries    map[entry]int32
	text       []byte
}

func newCells(f form) *cells {
	return &cells{form: f, seen: map[string]int32{}, entries: map[entry]int32{}}
}

func (c *cells) add(v pq.Value, by convert, at entry) {
	switch {
	case c.form == numbers && v.IsNull():
		c.numbers = append(c.numbers, math.NaN())
	case c.form == numbers:
		c.numbers = append(c.numbers, by.number(v))
	case c.form == wholes:
		x := int64(0)
		if !v.IsNull() {
			x = by.whole(v)
		}
		c.whole, c.missing = append(c.whole, x), append(c.missing, v.IsNull())
	case c.form == moments:
		var x time.Time
		if !v.IsNull() {
			x = by.moment(v)
		}
		c.moments, c.missing = append(c.moments, x), append(c.missing, v.IsNull())
	case v.IsNull() || v.Kind() == pq.Double && v.Double() != v.Double() ||
		v.Kind() == pq.Float && v.Float() != v.Float(): // NaN is no level
		c.codes = append(c.codes, -1)
	default:
		c.codes = append(c.codes, c.code(v, by, at))
	}
}

// code returns the code of a text.
func (c *cells) code(v pq.Value, by convert, at entry) int32 {
	if at.chunk >= 0 && (v.Kind() == pq.ByteArray || v.Kind() == pq.FixedLenByteArray) {
		at.text, at.size = unsafe.SliceData(v.ByteArray()), len(v.ByteArray())
		if code, known := c.entries[at]; known && at.size > 0 {
			return code
		}
	}
	c.text = by.text(c.text[:0], v)
	code, known := c.seen[string(c.text)]
	if !known {
		code = int32(len(c.dictionary))
		c.dictionary = append(c.dictionary, string(c.text))
		c.seen[c.dictionary[code]] = code
	}
	if at.size > 0 {
		c.entries[at] = code
	}
	return code
}

func (c *cells) values() records.Values {
	switch c.form {
	case numbers:
		return records.Values{Numbers: c.numbers}
	case wholes:
		return records.Values{Whole: c.whole, Missing: c.missing}
	case moments:
		return records.Values{Times: c.moments, Missing: c.missing}
	}
	return records.Values{Codes: c.codes, Dictionary: c.dictionary}
}

// converter returns the functions that read a column of a file as a column of the schema.
func converter(field *pq.Column, c records.Column) (convert, error) {
	refused := malformed(fmt.Sprintf("column %q: values of type %v cannot be read", c.Name(),
		field.Type()))
	logical := logicalOf(field)
	decimal, _ := logical.(*format.DecimalType)
	if decimal != nil && !readableDecimal(field.Type(), decimal) {
		return convert{}, refused
	}
	switch field.Type().Kind() {
	case pq.Boolean:
		return booleans(c)
	case pq.Int32, pq.Int64:
		if l, ok := logical.(*format.TimeType); ok && c.Kind() == records.DurationColumn {
			return convert{text: func(dst []byte, v pq.Value) []byte { // since midnight
				return appendDecimal(dst, integers(nil).whole(v), secondDigits(l.Unit))
			}}, nil
		}
		return integers(logical), nil
	case pq.Float:
		return convert{number: func(v pq.Value) float64 { return float64(v.Float()) },
			text: func(dst []byte, v pq.Value) []byte {
				return strconv.AppendFloat(dst, float64(v.Float()), 'f', -1, 32)
			}}, nil
	case pq.Double:
		return convert{number: pq.Value.Double, text: func(dst []byte, v pq.Value) []byte {
			return strconv.AppendFloat(dst, v.Double(), 'f', -1, 64)
		}}, nil
	case pq.ByteArray, pq.FixedLenByteArray:
		if decimal != nil {
			return byteDecimals(int(decimal.Scale)), nil
		}
		text := func(dst []byte, v pq.Value) []byte { return append(dst, v.ByteArray()...) }
		switch logical.(type) {
		case nil, *format.StringType, *format.EnumType, *format.JsonType:
			return convert{text: text}, nil
		}
	}
	return convert{}, refused
}

// secondDigits returns the number of decimals of seconds in a unit.
func secondDigits(u format.TimeUnit) int {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 3
	case *format.MicroSeconds:
		return 6
	}
	return 9
}

// logicalOf returns the logical type of a column, or nil if it has none.
func logicalOf(field *pq.Column) format.LogicalTypeValue {
	if l := field.Type().LogicalType(); l != nil {
		return l.Value
	}
	return nil
}

// integers reads whole numbers, and decimals, which are whole numbers times a power of ten.
func integers(logical format.LogicalTypeValue) convert {
	unsigned, unit, scale := false, 1.0, 0
	switch l := logical.(type) {
	case *format.IntType:
		unsigned = !l.IsSigned
	case *format.DecimalType:
		scale = int(l.Scale)
		unit = math.Pow10(scale)
	case *format.TimestampType:
		return timestamps(l)
	case *format.DateType:
		return convertTimes(func(v pq.Value) time.Time {
			return time.Unix(int64(v.Int32())*86400, 0).UTC()
		}, func(v pq.Value) float64 { return float64(v.Int32()) })
	}
	whole := func(v pq.Value) int64 {
		switch {
		case v.Kind() == pq.Int64:
			return v.Int64()
		case unsigned:
			return int64(v.Uint32())
		}
		return int64(v.Int32())
	}
	if unsigned {
		return convert{number: func(v pq.Value) float64 { return float64(uint64(whole(v))) },
			text: func(dst []byte, v pq.Value) []byte {
				return strconv.AppendUint(dst, uint64(whole(v)), 10)
			},
			whole: func(v pq.Value) int64 { return int64(min(uint64(whole(v)), math.MaxInt64)) }}
	}
	number := func(v pq.Value) float64 { return float64(whole(v)) / unit }
	if scale <= 0 && unit != 1 {
		return convert{number: number, text: func(dst []byte, v pq.Value) []byte {
			return strconv.AppendFloat(dst, number(v), 'f', -1, 64)
		}}
	}
	out := convert{number: number, text: func(dst []byte, v pq.Value) []byte {
		return appendDecimal(dst, whole(v), scale)
	}}
	if scale == 0 {
		out.whole = whole
	}
	return out
}

// timestamps reads timestamps. In a column of numbers they are the integers that the file holds.
func timestamps(l *format.TimestampType) convert {
	raw := func(v pq.Value) float64 { return float64(v.Int64()) }
	switch l.Unit.Value.(type) {
	case *format.MilliSeconds:
		return convertTimes(func(v pq.Value) time.Time { return time.UnixMilli(v.Int64()).UTC() }, raw)
	case *format.MicroSeconds:
		return convertTimes(func(v pq.Value) time.Time { return time.UnixMicro(v.Int64()).UTC() }, raw)
	}
	return convertTimes(func(v pq.Value) time.Time {
		return time.Unix(v.Int64()/1e9, v.Int64()%1e9).UTC()
	}, raw)
}

// convertTimes reads times; a column of texts gets their text.
func convertTimes(moment func(v pq.Value) time.Time, number func(v pq.Value) float64) convert {
	return convert{moment: moment, number: number, text: func(dst []byte, v pq.Value) []byte {
		return moment(v).AppendFormat(dst, time.RFC3339Nano)
	}}
}

// booleans reads false and true as 0 and 1, or as the two levels of a column.
func booleans(c records.Column) (convert, error) {
	levels := c.Levels()
	if c.Kind() == records.HashedColumn {
		levels = []string{"false", "true"}
	}
	if !c.IsNumber() && len(levels) != 2 {
		return convert{}, malformed(fmt.Sprintf(
			"column %q: bools need a column of numbers or of 2 levels; it has %d", c.Name(), len(levels)))
	}
	place := func(v pq.Value) int {
		if v.Boolean() {
			return 1
		}
		return 0
	}
	return convert{
		number: func(v pq.Value) float64 { return float64(place(v)) },
		text:   func(dst []byte, v pq.Value) []byte { return append(dst, levels[place(v)]...) },
	}, nil
}
