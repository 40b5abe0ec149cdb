package parquet

import (
	"fmt"
	"io"
	"math"
	"strconv"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed7ba64551/privgen/records"
)

// column reads one column of a file, through all row groups.
type column struct {
	name    string
	leaf    int  // its place among the file's columns
	number  bool // whether its values are read as numbers
	convert convert
	chunks  []pq.ColumnChunk // that are left
	pages   pq.Pages
	page    pq.Page
	values  pq.ValueReader
	buffer  []pq.Value
}

// convert reads a value that is not null, as a number or as a text. It has no number where the file
// holds texts: records read those.
type convert struct {
	number func(v pq.Value) float64
	text   func(dst []byte, v pq.Value) []byte
}

// batch is the number of values that are asked for at once.
const batch = 1024

// read reads the next rows.
func (c *column) read(rows int) (records.Values, error) {
	if c.buffer == nil {
		c.buffer = make([]pq.Value, batch)
	}
	out := newCells(c.number)
	for n := 0; n < rows; {
		if c.values == nil {
			if err := c.advance(); err != nil {
				return records.Values{}, err
			}
		}
		got, err := c.values.ReadValues(c.buffer[:min(batch, rows-n)])
		for _, v := range c.buffer[:got] {
			out.add(v, c.convert)
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

// advance goes on to the next page, of the next row group after the last.
func (c *column) advance() error {
	for {
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return damaged(c.name, io.EOF)
			}
			c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
		}
		page, err := c.pages.ReadPage()
		if err == io.EOF {
			c.close()
			continue
		}
		if err != nil {
			return damaged(c.name, err)
		}
		c.page, c.values = page, page.Values()
		return nil
	}
}

// leave gives a page back.
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

// cells collects the values of a column: numbers, or codes of texts, each of which is kept once.
type cells struct {
	number     bool
	numbers    []float64
	codes      []int32
	dictionary []string
	seen       map[string]int32
	text       []byte
}

func newCells(number bool) *cells { return &cells{number: number, seen: map[string]int32{}} }

func (c *cells) add(v pq.Value, by convert) {
	switch {
	case c.number && v.IsNull():
		c.numbers = append(c.numbers, math.NaN())
	case c.number:
		c.numbers = append(c.numbers, by.number(v))
	case v.IsNull():
		c.codes = append(c.codes, -1)
	default:
		c.text = by.text(c.text[:0], v)
		code, known := c.seen[string(c.text)]
		if !known {
			code = int32(len(c.dictionary))
			c.dictionary = append(c.dictionary, string(c.text))
			c.seen[c.dictionary[code]] = code
		}
		c.codes = append(c.codes, code)
	}
}

func (c *cells) values() records.Values {
	if c.number {
		return records.Values{Numbers: c.numbers}
	}
	return records.Values{Codes: c.codes, Dictionary: c.dictionary}
}

// converter says how a column of a file is read as one of the schema.
func converter(field *pq.Column, c records.Column) (convert, error) {
	refused := malformed(fmt.Sprintf("column %q: values of type %v cannot be read", c.Name(),
		field.Type()))
	logical := logicalOf(field)
	switch field.Type().Kind() {
	case pq.Boolean:
		return booleans(c)
	case pq.Int32, pq.Int64:
		return integers(logical), nil
	case pq.Float:
		return convert{func(v pq.Value) float64 { return float64(v.Float()) },
			func(dst []byte, v pq.Value) []byte {
				return strconv.AppendFloat(dst, float64(v.Float()), 'f', -1, 32)
			}}, nil
	case pq.Double:
		return convert{pq.Value.Double, func(dst []byte, v pq.Value) []byte {
			return strconv.AppendFloat(dst, v.Double(), 'f', -1, 64)
		}}, nil
	case pq.ByteArray, pq.FixedLenByteArray:
		text := func(dst []byte, v pq.Value) []byte { return append(dst, v.ByteArray()...) }
		switch logical.(type) {
		case nil, *format.StringType, *format.EnumType, *format.JsonType:
			return convert{text: text}, nil
		}
	}
	return convert{}, refused
}

// logicalOf is what the values of a column stand for; nil for themselves.
func logicalOf(field *pq.Column) format.LogicalTypeValue {
	if l := field.Type().LogicalType(); l != nil {
		return l.Value
	}
	return nil
}

// integers reads whole numbers, and decimals, which are whole numbers of a power of ten.
func integers(logical format.LogicalTypeValue) convert {
	unsigned, unit := false, 1.0
	switch l := logical.(type) {
	case *format.IntType:
		unsigned = !l.IsSigned
	case *format.DecimalType:
		unit = math.Pow10(int(l.Scale))
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
		return convert{func(v pq.Value) float64 { return float64(uint64(whole(v))) },
			func(dst []byte, v pq.Value) []byte { return strconv.AppendUint(dst, uint64(whole(v)), 10) }}
	}
	number := func(v pq.Value) float64 { return float64(whole(v)) / unit }
	return convert{number, func(dst []byte, v pq.Value) []byte {
		if unit != 1 {
			return strconv.AppendFloat(dst, number(v), 'f', -1, 64)
		}
		return strconv.AppendInt(dst, whole(v), 10)
	}}
}

// booleans reads false and true as 0 and 1, or as the two levels of a column.
func booleans(c records.Column) (convert, error) {
	levels := c.Levels()
	if !c.IsNumber() && len(levels) != 2 {
		return convert{}, malformed(fmt.Sprintf("column %q: bools for %d levels", c.Name(),
			len(levels)))
	}
	place := func(v pq.Value) int {
		if v.Boolean() {
			return 1
		}
		return 0
	}
	return convert{
		func(v pq.Value) float64 { return float64(place(v)) },
		func(dst []byte, v pq.Value) []byte { return append(dst, levels[place(v)]...) },
	}, nil
}
