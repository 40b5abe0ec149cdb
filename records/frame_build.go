package records

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
)

// FrameBuilder collects the rows of a [Frame], one at a time.
type FrameBuilder struct {
	private
	*builderRef
}

// builderRef hides its target from package fmt; see private.go.
type builderRef struct{ *builderRows }

type builderRows struct {
	schema Schema
	lookup []map[string]uint16 // see codes
	cells  []cells
	kept   map[string]string // texts of open columns, so that rows share a frequent one
	n      int
}

// NewFrameBuilder returns a builder without rows.
//
// Errors: *[param.Error] for a schema that is not of a table.
func NewFrameBuilder(s Schema) (*FrameBuilder, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.kind != MixedTable {
		return nil, param.New("records.Schema.Kind", s.kind, "tables, made by NewSchema")
	}
	b := &FrameBuilder{builderRef: &builderRef{&builderRows{schema: s.ByPerson(0),
		lookup: make([]map[string]uint16, len(s.table.columns)),
		cells:  make([]cells, len(s.table.columns))}}}
	return b, nil
}

// codes returns the level codes of column j by text, nil for a column without levels. They are
// listed when the first text comes, because most drawn rows have none.
func (b *FrameBuilder) codes(j int) map[string]uint16 {
	if b.lookup[j] == nil && b.schema.table.cells[j].kind.hasLevels() {
		b.lookup[j] = b.schema.table.columns[j].codes()
	}
	return b.lookup[j]
}

// codes returns the level code of every text that names a level.
func (c Column) codes() map[string]uint16 {
	if !c.kind.hasLevels() {
		return nil
	}
	codes := map[string]uint16{}
	if c.kind.of().hashed { // other buckets are found by hash
		if c.other != "" {
			codes[c.other] = uint16(len(c.levels) - 1)
		}
		for _, text := range c.known {
			codes[text] = uint16(bucketOf(text, len(c.levels)))
		}
		return codes
	}
	for i, text := range c.levels {
		codes[text] = uint16(i)
	}
	for _, a := range c.aliases {
		if code, level := codes[a.level]; level {
			codes[a.text] = code
		}
	}
	return codes
}

// Append adds a row: one value for each column, in the schema's order, including the label.
//
// A value is nil if it is missing. Otherwise it is a text (a string or []byte), a Go number or a
// bool. Types defined from these types are accepted too. A [Datetime] also takes a [time.Time], and
// a [Duration] takes a [time.Duration]. A column of numbers parses texts and reads true as 1. A
// column of levels reads a number as its decimal text. If it has two levels, it reads false and
// true as the first and the second. A value for an [Identifier] is discarded.
//
// Errors: *[param.Error] for a wrong number of values or a value of another type. Invalid values
// are not an error; [Check] reports them.
func (b *FrameBuilder) Append(values ...any) error {
	if len(values) != len(b.cells) {
		return param.New("records.FrameBuilder.Append", fmt.Sprintf("%d values", len(values)),
			fmt.Sprintf("%d, one for each column", len(b.cells)))
	}
	if b.n >= maxRows {
		return param.New("records.FrameBuilder.Append", "one row more",
			fmt.Sprintf("at most %d", maxRows))
	}
	for j, v := range values {
		if err := b.appendValue(j, v); err != nil {
			b.truncate()
			return err
		}
	}
	b.n++
	return nil
}

// truncate removes the cells of a row that was rejected after some of them had been added.
func (b *FrameBuilder) truncate() {
	for j := range b.cells {
		c := &b.cells[j]
		c.numbers, c.levels = c.numbers[:min(b.n, len(c.numbers))], c.levels[:min(b.n, len(c.levels))]
		c.ticks, c.texts = c.ticks[:min(b.n, len(c.ticks))], c.texts[:min(b.n, len(c.texts))]
	}
}

// Len returns the number of rows so far.
func (b *FrameBuilder) Len() int { return b.n }

// Frame returns the frame of the rows so far and resets the builder.
func (b *FrameBuilder) Frame() *Frame {
	f := &Frame{frameRef: &frameRef{&frameRows{schema: b.schema, n: b.n, cells: b.cells,
		home: new(origin)}}}
	b.cells, b.n = make([]cells, len(b.cells)), 0
	return f
}

// next is Frame, with room for as many rows again.
func (b *FrameBuilder) next() *Frame {
	f := b.Frame()
	for j, c := range f.cells {
		b.cells[j] = cells{numbers: slices.Grow[[]float64](nil, len(c.numbers)),
			levels: slices.Grow[[]uint16](nil, len(c.levels)),
			ticks:  slices.Grow[[]int64](nil, len(c.ticks)),
			texts:  slices.Grow[[]string](nil, len(c.texts))}
	}
	return f
}

// FromValues returns a frame of rows of Go values.
//
// Errors: see [NewFrameBuilder] and [FrameBuilder.Append].
func FromValues(s Schema, rows ...[]any) (*Frame, error) {
	b, err := NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if err := b.Append(row...); err != nil {
			return nil, err
		}
	}
	return b.Frame(), nil
}

// appendValue adds one cell.
func (b *FrameBuilder) appendValue(j int, v any) error {
	if v == nil {
		b.appendMissing(j)
		return nil
	}
	code := &b.schema.table.cells[j]
	switch x := v.(type) {
	case []byte:
		v = string(x)
	case time.Time:
		if code.kind.holdsMoments() {
			b.appendTick(j, code.tick.ofTime(x))
			return nil
		}
	case time.Duration:
		if code.kind.holdsLengths() {
			b.appendTick(j, code.tick.ofDuration(x))
			return nil
		}
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.String:
		b.appendText(j, strings.TrimSpace(r.String()))
	case reflect.Bool:
		b.appendBool(j, r.Bool())
	case reflect.Float32, reflect.Float64:
		b.appendFloat(j, r.Float(), r.Type().Bits())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if code.tick != nil {
			b.appendTick(j, code.tick.ofWhole(r.Int()))
			return nil
		}
		b.appendInt(j, float64(r.Int()), strconv.FormatInt(r.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if code.tick != nil {
			b.appendTick(j, code.tick.ofWhole(int64(min(r.Uint(), math.MaxInt64))))
			return nil
		}
		b.appendInt(j, float64(r.Uint()), strconv.FormatUint(r.Uint(), 10))
	default:
		return param.New(fmt.Sprintf("records.FrameBuilder.Append column %d", j), r.Type().String(),
			"nil, a text, a number or a bool, or a time.Time for a datetime")
	}
	return nil
}

func (b *FrameBuilder) appendNumber(j int, v float64) {
	switch code := &b.schema.table.cells[j]; {
	case code.kind.isIdentifier():
		b.appendTick(j, missingTick)
	case code.tick != nil:
		b.appendTick(j, code.tick.ofFloat(v))
	default:
		b.cells[j].numbers = push(b.cells[j].numbers, v)
	}
}

func (b *FrameBuilder) appendTick(j int, tick int64) {
	b.cells[j].ticks = push(b.cells[j].ticks, tick)
}

func (b *FrameBuilder) appendCode(j int, code uint16) {
	c := &b.cells[j]
	if c.levels = push(c.levels, code); b.schema.table.cells[j].open {
		c.texts = push(c.texts, "")
	}
}

// append adds a code to a column of levels, and a number to another one.
func (b *FrameBuilder) append(j int, number float64, code uint16) {
	if b.schema.table.cells[j].kind.hasLevels() {
		b.appendCode(j, code)
	} else {
		b.appendNumber(j, number)
	}
}

func (b *FrameBuilder) appendMissing(j int) { b.append(j, math.NaN(), missingLevel) }

// appendUnknown adds a cell whose content could not be read.
func (b *FrameBuilder) appendUnknown(j int) { b.append(j, unreadable, unknownLevel) }

func (b *FrameBuilder) appendText(j int, text string) {
	switch code := &b.schema.table.cells[j]; {
	case code.tick != nil:
		b.appendTick(j, code.tick.ofText(text))
	case b.codes(j) == nil:
		b.appendNumber(j, parseNumber(text))
	default:
		b.appendCode(j, code.code(b.codes(j), text))
		b.keepText(j, text)
	}
}

func (b *FrameBuilder) appendBool(j int, v bool) {
	number, code := 0.0, uint16(0)
	if v {
		number, code = 1, 1
	}
	if b.schema.table.cells[j].kind.of().hashed {
		b.appendText(j, strconv.FormatBool(v))
		return
	}
	if len(b.schema.table.columns[j].levels) != 2 {
		code = unknownLevel
	}
	b.append(j, number, code)
}

func (b *FrameBuilder) appendFloat(j int, v float64, bits int) {
	switch {
	case b.codes(j) == nil:
		b.appendNumber(j, v)
	case v != v:
		b.appendMissing(j)
	default:
		b.appendText(j, strconv.FormatFloat(v, 'f', -1, bits))
	}
}

func (b *FrameBuilder) appendInt(j int, v float64, text string) {
	if b.codes(j) == nil {
		b.appendNumber(j, v)
		return
	}
	b.appendText(j, text)
}
