package records

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Identifier returns a column of names of records, such as customer numbers. It is never read or
// encoded: a record's name has no effect on any computation. Generated records get new identifiers
// by a public rule, unique within a draw; see [WithIdentifiers].
func Identifier(name string, rule IdentifierRule) Column {
	return Column{kind: IdentifierColumn, name: name, rule: rule}
}

var identifierKind = kindOf{name: "identifier", role: identifierRole, quoted: true,
	kindRules: identifierRules{}}

// identifierRules are the rules of identifiers.
type identifierRules struct{ numberRules }

func (identifierRules) show(c Column) string        { return " " + c.rule.String() }
func (identifierRules) check(f *columnFaults)       { f.identifier() }
func (identifierRules) put(c Column, j *columnJSON) { j.Rule = c.rule.String() }

func (identifierRules) get(j columnJSON, c Column) (_ Column, err error) {
	c.rule, err = parseRule(j.Rule)
	return c, err
}

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

// UUID returns the rule that makes identifiers in the form of random UUIDs (RFC 9562, version 4).
func UUID() IdentifierRule { return IdentifierRule{kind: uuidRule} }

// Sequence returns the rule that numbers the records of a draw, beginning with start.
func Sequence(start int64) IdentifierRule {
	return IdentifierRule{kind: sequenceRule, start: start}
}

// Pattern returns the rule that makes texts of the given form. Each # becomes a digit, each ? a
// letter from A to Z, and each * a digit or such a letter. A backslash quotes the next character.
// All other characters are kept. "C-####" has 10,000 identifiers, so a draw with this pattern has
// at most 10,000 records.
func Pattern(form string) IdentifierRule { return IdentifierRule{kind: patternRule, pattern: form} }

// String returns the rule in the form used in a schema's JSON.
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
		"records: schema: rule %.40q: want uuid, sequence:1 or pattern:C-####", text)
}

// Alphabets of the characters of a pattern.
const (
	digitSigns  = "0123456789"
	letterSigns = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnumSigns  = digitSigns + letterSigns
)

// place is one character of a pattern: a character from an alphabet, or a fixed one.
type place struct {
	signs string
	fixed rune
}

// places returns the characters of a pattern.
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

// mostIdentifiers is the largest number of identifiers of a rule.
const mostIdentifiers = 1 << 62

// capacity returns the number of identifiers that a rule can make.
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

// identifier checks a column of identifiers.
func (f *columnFaults) identifier() {
	c := f.column
	r := c.rule
	switch {
	case r.kind == noRule || r.kind > patternRule:
		f.bad(".Rule", r, "UUID, Sequence or Pattern")
	case r.kind == patternRule && (!plainText(r.pattern) || len(r.pattern) > 256 || r.capacity() < 2):
		f.bad(".Rule", quotedName(r.pattern), "a text of at most 256 bytes that contains #, ? or *")
	}
	if c.lo != 0 || c.hi != 0 || c.logarithmic || len(c.levels) > 0 || c.other != "" ||
		len(c.aliases) > 0 || c.missing {
		f.bad(".Bounds", c.kind, "a name and a rule only: identifiers are never read")
	}
}

// number returns the number that determines the identifier of the i-th record of a draw. It is i
// for a sequence, and otherwise a unique number that depends on the draw's seed.
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

// appendUUID appends a UUID for a number of 62 bits. The number fills the first 60 and the last 2
// free bits, so that different numbers give different texts. The remaining bits are derived from
// the number.
func appendUUID(dst []byte, n uint64) []byte {
	high := n >> 2 // 60 bits
	high = high>>12<<16 | 0x4000 | high&0xfff
	low := 0x8000000000000000 | mix(n)>>2&^3 | n&3
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

// permuted returns the image of i under a pseudorandom permutation of 0 … n-1. It applies a Feistel
// network of four rounds, on the smallest even number of bits that holds n-1, until the result is
// less than n.
func permuted(i, n int64, seed uint64) int64 {
	half := (bits.Len64(uint64(n-1)) + 1) / 2
	mask := uint64(1)<<half - 1
	for v := uint64(i); ; {
		left, right := v>>half, v&mask
		for round := range uint64(4) {
			left, right = right, left^mix(right+seed+round*0x9e3779b97f4a7c15)&mask
		}
		if v = left<<half | right; v < uint64(n) {
			return int64(v)
		}
	}
}

// WithIdentifiers returns generated records with new identifiers in the identifier columns of their
// schema. first is the number of the first record within the draw, counted from 0, and seed is the
// seed of the draw. Data without such columns are returned unchanged. Generators call
// WithIdentifiers themselves.
//
// Identifiers of one seed and different record numbers differ. They depend on no private record,
// but they reveal which draw a record comes from.
//
// Errors: *[param.Error] if a rule has fewer identifiers than there are records.
func WithIdentifiers(d Data, first int, seed uint64) (Data, error) {
	f, ok := AsFrame(d)
	if !ok || f.Len() == 0 {
		return d, nil
	}
	out := f
	for j, c := range f.schema.table.columns {
		if !c.kind.isIdentifier() {
			continue
		}
		if out == f {
			out = f.copied()
		}
		if most := c.rule.capacity(); int64(first)+int64(f.n) > most {
			return nil, param.New(fmt.Sprintf("records.Column[%.40q].Rule", c.name),
				c.rule,
				fmt.Sprintf("a rule with an identifier for each record: this one makes %d", most))
		}
		ticks := make([]int64, f.n)
		for i := range ticks {
			ticks[i] = c.rule.number(int64(first)+int64(i), mix(seed+uint64(j)))
		}
		out.cells[j].ticks = ticks
	}
	return restated(out, d), nil
}

// copied returns a copy of the frame whose list of columns may be changed; the columns' storage is
// shared.
func (f *Frame) copied() *Frame {
	return &Frame{frameRef: &frameRef{&frameRows{schema: f.schema, n: f.n,
		cells: append([]cells(nil), f.cells...), home: f.home.derived()}}}
}
