package records

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/param"
)

// Identifier is a column of names of records, such as numbers of customers. It is never read: what
// a record is called plays no part in anything that is done with it, and no record holds it. It is
// no part of the encoded vector. Generated records are given fresh identifiers by a public rule, no
// two of one draw the same; see [WithIdentifiers].
func Identifier(name string, rule IdentifierRule) Column {
	return Column{kind: IdentifierColumn, name: name, rule: rule}
}

// Rule is how identifiers are made; the zero rule for other columns.
func (c Column) Rule() IdentifierRule { return c.rule }

// IdentifierRule says how identifiers are made. The zero rule makes none.
type IdentifierRule struct {
	kind    ruleKind
	start   int64
	pattern string
}

type ruleKind uint8

const (
	noRule ruleKind = iota
	uuidRule
	sequenceRule
	patternRule
)

// UUID makes identifiers of the form of random UUIDs (RFC 9562, version 4).
func UUID() IdentifierRule { return IdentifierRule{kind: uuidRule} }

// Sequence numbers the records of a draw from start on.
func Sequence(start int64) IdentifierRule {
	return IdentifierRule{kind: sequenceRule, start: start}
}

// Pattern makes texts of a form: each # is a digit, each ? a letter from A to Z and each * either;
// what stands behind a backslash is itself, and so is every other character. "C-####" has 10,000
// identifiers, and more records cannot be given any.
func Pattern(form string) IdentifierRule { return IdentifierRule{kind: patternRule, pattern: form} }

// String is the rule as a schema's JSON has it.
func (r IdentifierRule) String() string {
	switch r.kind {
	case uuidRule:
		return "uuid"
	case sequenceRule:
		return "sequence:" + strconv.FormatInt(r.start, 10)
	case patternRule:
		return "pattern:" + r.pattern
	}
	return "no rule"
}

// parseRule reads what String writes.
func parseRule(text string) (IdentifierRule, error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch {
	case text == "uuid":
		return UUID(), nil
	case kind == "sequence":
		if start, err := strconv.ParseInt(rest, 10, 64); err == nil {
			return Sequence(start), nil
		}
	case kind == "pattern":
		return Pattern(rest), nil
	}
	return IdentifierRule{}, fmt.Errorf(
		"records: schema: rule %.40q: neither uuid nor sequence:1 nor pattern:C-####", text)
}

// Alphabets of a pattern's places.
const (
	digitSigns  = "0123456789"
	letterSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnumSigns  = digitSigns + letterSigns
)

// place is one character of a pattern: one of some signs, or a fixed one.
type place struct {
	signs string
	fixed rune
}

// places are those of a pattern.
func (r IdentifierRule) places() (list []place) {
	quoted := false
	for _, c := range r.pattern {
		p := place{fixed: c}
		switch {
		case quoted:
		case c == '\\':
			quoted = true
			continue
		case c == '#':
			p.signs = digitSigns
		case c == '?':
			p.signs = letterSigns
		case c == '*':
			p.signs = alnumSigns
		}
		quoted = false
		list = append(list, p)
	}
	return list
}

// mostIdentifiers is how many a rule can make at most.
const mostIdentifiers = 1 << 62

// capacity is how many identifiers there are.
func (r IdentifierRule) capacity() int64 {
	switch r.kind {
	case uuidRule:
		return mostIdentifiers
	case sequenceRule:
		return int64(min(uint64(math.MaxInt64)-uint64(r.start)+1, mostIdentifiers))
	}
	n := uint64(1)
	for _, p := range r.places() {
		if p.signs != "" {
			hi, lo := bits.Mul64(n, uint64(len(p.signs)))
			if n = lo; hi > 0 || n > mostIdentifiers {
				return mostIdentifiers
			}
		}
	}
	return int64(n)
}

// identifier judges a column of identifiers.
func (f *columnFaults) identifier() {
	c := f.column
	r := c.rule
	switch {
	case r.kind == noRule || r.kind > patternRule:
		f.bad(".Rule", r, "UUID, Sequence or Pattern")
	case r.kind == patternRule && (!plainText(r.pattern) || len(r.pattern) > 256 || r.capacity() < 2):
		f.bad(".Rule", quotedName(r.pattern), "a text of at most 256 bytes with a #, ? or * in it")
	}
	if c.lo != 0 || c.hi != 0 || c.logarithmic || len(c.levels) > 0 || c.other != "" ||
		len(c.aliases) > 0 || c.missing {
		f.bad(".Bounds", c.kind, "a name and a rule alone: identifiers are never read")
	}
}

// number is the number behind the identifier of the i-th record of a draw: for a sequence i itself,
// else one that the draw's seed says, no two the same.
func (r IdentifierRule) number(i int64, seed uint64) int64 {
	if r.kind == sequenceRule {
		return i
	}
	return permuted(i, r.capacity(), seed)
}

// append appends the identifier of a number.
func (r IdentifierRule) append(dst []byte, number int64) []byte {
	switch r.kind {
	case uuidRule:
		return appendUUID(dst, uint64(number))
	case sequenceRule:
		return strconv.AppendInt(dst, r.start+number, 10)
	}
	places, at := r.places(), len(dst)
	signs := make([]rune, len(places))
	n := uint64(number)
	for i := len(places) - 1; i >= 0; i-- {
		signs[i] = places[i].fixed
		if s := places[i].signs; s != "" {
			signs[i] = rune(s[n%uint64(len(s))])
			n /= uint64(len(s))
		}
	}
	return append(dst[:at], string(signs)...)
}

// appendUUID writes a number of 62 bits: they stand in the first 60 and the last 2 bits that are
// free, so that different numbers are different texts. The others follow from them.
func appendUUID(dst []byte, n uint64) []byte {
	high := n >> 2 // 60 bits
	high = high>>12<<16 | 0x4000 | high&0xfff
	low := 0x8000000000000000 | mixed64(n)>>2&^3 | n&3
	text := strconv.AppendUint(nil, high, 16)
	text = append([]byte("0000000000000000")[:16-len(text)], text...)
	text = strconv.AppendUint(text, low, 16)
	for i, end := range [...]int{8, 12, 16, 20, 32} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = append(dst, text[[...]int{0, 8, 12, 16, 20}[i]:end]...)
	}
	return dst
}

// permuted is the place of i in a random order of 0 … n-1: four rounds of a Feistel network on the
// next even number of bits, walked until it is inside.
func permuted(i, n int64, seed uint64) int64 {
	half := (bits.Len64(uint64(n-1)) + 1) / 2
	mask := uint64(1)<<half - 1
	for v := uint64(i); ; {
		left, right := v>>half, v&mask
		for round := range uint64(4) {
			left, right = right, left^mixed64(right+seed+round*0x9e3779b97f4a7c15)&mask
		}
		if v = left<<half | right; v < uint64(n) {
			return int64(v)
		}
	}
}

// WithIdentifiers gives fresh identifiers to generated records of a table whose schema has columns
// of them: first is the number of the first record among those of one draw, from 0, and the seed is
// the draw's. Other data stay what they are. Generators do so by themselves.
//
// Identifiers of one seed and different numbers differ. They say nothing of any record, and tell
// which draw a record is of.
//
// Errors: *[param.Error] where a rule has fewer identifiers than there are records.
func WithIdentifiers(d Data, first int, seed uint64) (Data, error) {
	f, ok := AsFrame(d)
	if !ok || f.Len() == 0 {
		return d, nil
	}
	out := f
	for j, c := range f.schema.table.columns {
		if c.kind != IdentifierColumn {
			continue
		}
		if out == f {
			out = f.copied()
		}
		if most := c.rule.capacity(); int64(first)+int64(f.n) > most {
			return nil, param.New(fmt.Sprintf("records.Column[%.40q].Rule", c.name),
				fmt.Sprintf("%v for %d records", c.rule, first+f.n),
				fmt.Sprintf("a rule of more than its %d identifiers", most))
		}
		ticks := make([]int64, f.n)
		for i := range ticks {
			ticks[i] = c.rule.number(int64(first)+int64(i), mixed64(seed+uint64(j)))
		}
		out.cells[j].ticks = ticks
	}
	return restated(out, d), nil
}

// copied is a frame of the same records in cells of its own; the columns are shared.
func (f *Frame) copied() *Frame {
	return &Frame{&frameRef{&frameRows{schema: f.schema, n: f.n,
		cells: append([]cells(nil), f.cells...), home: f.home}}}
}
