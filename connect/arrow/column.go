package arrow

import (
	"math"
	"strconv"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/seed7ba64551/privgen/records"
)

// readable returns an error if values of the type cannot be read into the column.
func readable(t aw.DataType, c records.Column) error {
	if d, ok := t.(*aw.DictionaryType); ok {
		if d.ValueType.ID() == aw.DICTIONARY {
			return malformed("column %q: a dictionary of dictionaries cannot be read", c.Name())
		}
		return readable(d.ValueType, c)
	}
	switch t.ID() {
	case aw.NULL, aw.INT8, aw.INT16, aw.INT32, aw.INT64, aw.UINT8, aw.UINT16, aw.UINT32, aw.UINT64,
		aw.FLOAT16, aw.FLOAT32, aw.FLOAT64, aw.DECIMAL32, aw.DECIMAL64, aw.DECIMAL128, aw.DECIMAL256,
		aw.STRING, aw.LARGE_STRING, aw.STRING_VIEW, aw.DATE32, aw.DATE64, aw.TIMESTAMP, aw.TIME32,
		aw.TIME64, aw.DURATION:
		return nil
	case aw.BOOL:
		if !c.IsNumber() && len(c.Levels()) != 2 {
			return malformed("column %q: bools need a column of numbers or of 2 levels; it has %d levels",
				c.Name(), len(c.Levels()))
		}
		return nil
	}
	return malformed("column %q: values of type %s cannot be read", c.Name(), t.ID())
}

// read returns the values of a column.
func read(a aw.Array, c records.Column) records.Values {
	if x, ok := a.(*array.Dictionary); ok {
		return dictionary(x, c)
	}
	if out, done := times(a, c); done { // before nulls of other rows decide anything
		return out
	}
	if x, ok := a.(*array.Float64); ok && c.IsNumber() && x.NullN() == 0 {
		return records.Values{Numbers: x.Float64Values(), Shared: true}
	}
	cell := cellsOf(a, c)
	if c.IsNumber() && cell.number != nil {
		out := make([]float64, a.Len())
		for i := range out {
			if out[i] = math.NaN(); a.IsValid(i) {
				out[i] = cell.number(i)
			}
		}
		return records.Values{Numbers: out}
	}
	return texts(a, cell)
}

// texts returns the values as codes of texts. Each text is stored once.
func texts(a aw.Array, cell cells) records.Values {
	out := records.Values{Codes: make([]int32, a.Len())}
	seen, text := map[string]int32{}, []byte(nil)
	for i := range out.Codes {
		if out.Codes[i] = -1; !a.IsValid(i) || cell.text == nil {
			continue
		}
		var whole bool
		if text, whole = cell.spell(text[:0], i); !whole {
			continue
		}
		code, known := seen[string(text)]
		if !known {
			code = int32(len(out.Dictionary))
			out.Dictionary = append(out.Dictionary, string(text))
			seen[out.Dictionary[code]] = code
		}
		out.Codes[i] = code
	}
	return out
}

// dictionary reads a column of dictionary indices. It reads only the dictionary's values that occur
// in rows, each once, since a batch may have few rows and a dictionary many values. A row whose
// index is outside the dictionary has a missing value, so the content of one row changes no other
// row.
func dictionary(a *array.Dictionary, c records.Column) records.Values {
	values := a.Dictionary()
	cell, seen := cellsOf(values, c), map[int]int32{}
	out := records.Values{Codes: make([]int32, a.Len())}
	for i := range out.Codes {
		out.Codes[i] = -1
		if !a.IsValid(i) {
			continue
		}
		place := a.GetValueIndex(i)
		if place < 0 || place >= values.Len() || cell.text == nil || !values.IsValid(place) {
			continue
		}
		code, known := seen[place]
		if !known {
			code = -1
			if text, whole := cell.spell(nil, place); whole {
				code = int32(len(out.Dictionary))
				out.Dictionary = append(out.Dictionary, string(text))
			}
			seen[place] = code
		}
		out.Codes[i] = code
	}
	return out
}

// cells reads values that are not null, as numbers or as texts. number is nil for columns of texts,
// which package records parses.
type cells struct {
	number func(i int) float64
	text   func(dst []byte, i int) []byte
	// missing reports whether a value is NaN; nil for values that are none.
	missing func(i int) bool
}

// spell returns the text of a value. whole is false for NaN, which is a missing value, and if the
// text's bytes are outside the column, a case in which arrow-go panics.
func (c cells) spell(dst []byte, i int) (text []byte, whole bool) {
	defer func() { _ = recover() }()
	return c.text(dst, i), c.missing == nil || !c.missing(i)
}

func cellsOf(a aw.Array, c records.Column) cells {
	switch x := a.(type) {
	case *array.Int8:
		return integers(x.Value)
	case *array.Int16:
		return integers(x.Value)
	case *array.Int32:
		return integers(x.Value)
	case *array.Int64:
		return integers(x.Value)
	case *array.Uint8:
		return integers(x.Value)
	case *array.Uint16:
		return integers(x.Value)
	case *array.Uint32:
		return integers(x.Value)
	case *array.Uint64:
		return integers(x.Value)
	case *array.Date32:
		return integers(x.Value)
	case *array.Date64:
		return integers(x.Value)
	case *array.Timestamp:
		return integers(x.Value)
	case *array.Time32:
		return integers(x.Value)
	case *array.Time64:
		return integers(x.Value)
	case *array.Duration:
		return integers(x.Value)
	case *array.Float16:
		return floats(func(i int) float64 { return float64(x.Value(i).Float32()) }, 32)
	case *array.Float32:
		return floats(func(i int) float64 { return float64(x.Value(i)) }, 32)
	case *array.Float64:
		return floats(x.Value, 64)
	case *array.Boolean:
		return bools(x, c.Levels())
	case *array.String, *array.LargeString, *array.StringView:
		value := x.(interface{ Value(i int) string }).Value
		return cells{text: func(dst []byte, i int) []byte { return append(dst, value(i)...) }}
	case *array.Decimal32, *array.Decimal64, *array.Decimal128, *array.Decimal256:
		// the text is exact; package records parses it for columns of numbers
		return cells{text: func(dst []byte, i int) []byte { return append(dst, a.ValueStr(i)...) }}
	}
	return cells{}
}

// integers reads integers. As a number, an integer of more than 53 bits is the nearest float64.
func integers[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](
	value func(i int) T) cells {
	return cells{
		number: func(i int) float64 { return float64(value(i)) },
		text: func(dst []byte, i int) []byte {
			if v := value(i); v < 0 {
				return strconv.AppendInt(dst, int64(v), 10)
			} else {
				return strconv.AppendUint(dst, uint64(v), 10)
			}
		},
	}
}

func floats(value func(i int) float64, bits int) cells {
	return cells{number: value, text: func(dst []byte, i int) []byte {
		return strconv.AppendFloat(dst, value(i), 'f', -1, bits)
	}, missing: func(i int) bool { return value(i) != value(i) }}
}

// bools reads bools as 0 and 1, or as the two levels of a column.
func bools(x *array.Boolean, levels []string) cells {
	place := func(i int) int {
		if x.Value(i) {
			return 1
		}
		return 0
	}
	return cells{
		number: func(i int) float64 { return float64(place(i)) },
		text: func(dst []byte, i int) []byte {
			if len(levels) != 2 {
				return strconv.AppendInt(dst, int64(place(i)), 10)
			}
			return append(dst, levels[place(i)]...)
		},
	}
}
