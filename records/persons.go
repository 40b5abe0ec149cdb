package records

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Persons holds rows grouped by person; see [GroupBy]. A guarantee then protects everything that
// one person contributes, whatever the number of rows.
//
// A private algorithm with support for persons samples whole persons. It clips the contribution of
// all rows of a person as one vector, and counts these rows together as one record. It reads the
// rows by [RowsOf], or by [Persons.Rows] and [Persons.Span].
//
// Read as [Data], a person is one record: the first row kept. So an algorithm without support for
// persons protects them too, but reads only one row of each.
//
// Units: Len is the number of persons, and the unit is [UnitUser].
type Persons struct {
	private
	*personsRef
}

// personsRef hides its target from package fmt; see private.go.
type personsRef struct{ *personsRows }

type personsRows struct {
	rows   Data    // of a type of this package; the rows of a person are consecutive
	first  []int32 // each person's first row, and at the end the number of rows
	shares Shares
	schema Schema
}

// Key is the type of keys that identify persons. Two keys that differ in any bit are two persons,
// so different spellings of one name must be unified beforehand. Floating-point numbers cannot be
// keys, since NaN differs from itself.
type Key interface {
	~string | ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// MostRows is the largest number of rows that can be kept for a person.
const MostRows = 1 << 12

// GroupBy groups rows by the keys of their persons, one key per row, and keeps no more than most
// rows of each person. Persons are in the order of their first rows, and the rows of each are in
// their original order.
//
// If a person has more rows, a fixed public hash chooses the rows to keep: the rows with the
// smallest values of the hash. The hash depends only on the position of a row among the person's
// own rows and on the number of these rows. So the rows kept, and the person's largest contribution
// to a sum, depend on that person's rows only.
//
// A row whose key is a blank text has no person and is left out: it may belong to anybody, who
// would then be two persons.
//
// Guarantee: if two sets of rows differ only in the rows of one person, the results differ only in
// that person.
// Errors: *[param.Error] if the numbers of keys and rows differ, for a limit outside [1, MostRows],
// and for data whose records are persons already; [ErrData].
func GroupBy[K Key](d Data, keys []K, most int) (*Persons, error) {
	if err := canGroup(d, most); err != nil {
		return nil, err
	}
	if len(keys) != d.Len() {
		return nil, param.New("records.GroupBy.keys", unequal(len(keys), d.Len()),
			"one for each row of the data")
	}
	index := map[K]int32{}
	of := make([]int32, len(keys))
	text := reflect.TypeFor[K]().Kind() == reflect.String
	for i, key := range keys {
		if text && strings.TrimSpace(reflect.ValueOf(key).String()) == "" {
			of[i] = nobody
			continue
		}
		p, known := index[key]
		if !known {
			p = int32(len(index))
			index[key] = p
		}
		of[i] = p
	}
	return group(d, of, len(index), most)
}

func canGroup(d Data, most int) error {
	if err := given("records.GroupBy", d); err != nil {
		return err
	}
	var c param.Checker
	c.OK(most >= 1 && most <= MostRows, "records.GroupBy.most", most,
		fmt.Sprintf("a number of rows per person in [1, %d]", MostRows))
	_, persons := AsPersons(d)
	c.OK(!persons && UnitOf(d) == UnitRecord, "records.GroupBy.data", "one "+UnitOf(d)+" a record",
		"rows, several of which may belong to one person")
	return c.Err()
}

// nobody is the number of the person of a row that names none.
const nobody = -1

// group collects the rows of every person; of[i] is the person of row i, or nobody.
func group(d Data, of []int32, persons, most int) (*Persons, error) {
	count := make([]int32, persons+1)
	for _, p := range of {
		if p != nobody {
			count[p+1]++
		}
	}
	start := count // where each person's rows begin
	for p := range persons {
		start[p+1] += start[p]
	}
	all := make([]int32, start[persons])
	next := slices.Clone(start)
	for i, p := range of {
		if p != nobody {
			all[next[p]] = int32(i)
			next[p]++
		}
	}
	out := &personsRows{first: make([]int32, 1, persons+1), shares: Shares{}} // never nil
	var rows []int32
	for p := range persons {
		rows = append(rows, keepRows(all[start[p]:start[p+1]], most)...)
		out.first = append(out.first, int32(len(rows)))
		out.shares = appendShares(out.shares, len(rows)-int(out.first[p]))
	}
	var err error
	if out.rows, err = copyRows(d, rows); err != nil {
		return nil, err
	}
	out.schema = out.rows.Schema().ByPerson(most)
	return &Persons{personsRef: &personsRef{out}}, nil
}

// keepRows returns the rows of a person that are kept. Their positions depend only on the number of
// the person's rows.
func keepRows(rows []int32, most int) []int32 {
	if len(rows) <= most {
		return rows
	}
	key := mix(uint64(len(rows)))
	rank := func(position int32) uint64 { return mix(key + uint64(position)*0x9e3779b97f4a7c15) }
	positions := make([]int32, len(rows))
	for i := range positions {
		positions[i] = int32(i)
	}
	slices.SortFunc(positions, func(a, b int32) int { return cmp.Compare(rank(a), rank(b)) })
	positions = positions[:most]
	slices.Sort(positions)
	for i, at := range positions {
		positions[i] = rows[at]
	}
	return positions
}

// copyRows returns copies of rows, in a type of this package.
func copyRows(d Data, rows []int32) (Data, error) {
	d = unstated(d)
	switch own := d.(type) {
	case *Table:
		return own.Take(rows), nil
	case *Frame:
		return own.Take(rows), nil
	case *SetTable:
		return own.Take(rows), nil
	}
	d = Clamped(d)
	whole, err := Concat(d.Schema(), d)
	if err == nil && Failed(d) {
		err = ErrData
	}
	if err != nil {
		return nil, err
	}
	return copyRows(whole, rows)
}

// Shares are the weights of rows: nil if every row is a record of weight 1, and never nil for
// persons, even without rows. The shares of a person's rows add up to 1 exactly, and each is a
// multiple of [ShareStep].
type Shares []float32

// ShareStep is the unit of shares: every share is a multiple of it. float32 holds shares and their
// sums exactly.
const ShareStep = 0x1p-20

// Of returns the share of a row.
func (s Shares) Of(row int) float64 {
	if s == nil {
		return 1
	}
	return float64(s[row])
}

// appendShares appends n shares that add up to 1. Each is 1/n, rounded up or down to a multiple of
// ShareStep.
func appendShares(dst Shares, n int) Shares {
	const units = 1 / ShareStep
	upTo := func(i int) int64 { return units * int64(i) / int64(n) } // int may have 32 bits
	for i := range n {
		dst = append(dst, float32(upTo(i+1)-upTo(i))*ShareStep)
	}
	return dst
}

// RowsOf returns the rows of data and their weights: all rows of all persons for [Persons],
// and other data unchanged, each record with weight 1.
//
// Consider the sum, over all rows, of a row's contribution times its share. Its sensitivity to one
// person is at most the sensitivity to one record of the same sum over records. This holds if the
// person or record is added, removed or replaced. The reason: a person's shares add up to 1, so the
// person contributes a weighted mean of contributions of single records. The norm of such a mean,
// or of the difference of two such means, is at most the largest norm for single records.
func RowsOf(d Data) (Data, Shares) {
	if p, ok := AsPersons(d); ok {
		return p.rows, p.shares
	}
	return d, nil
}

// AsPersons returns the persons in data, even if [WithUnit] or [WithPart] wraps them; ok is false
// for other data.
func AsPersons(d Data) (p *Persons, ok bool) {
	p, _ = unstated(d).(*Persons)
	return p, p != nil && p.personsRef != nil
}

// Schema returns the schema of the rows, with [Schema.RowsPerPerson] set.
func (p *Persons) Schema() Schema {
	if p == nil || p.personsRef == nil {
		return Schema{}
	}
	return p.schema
}

// Len returns the number of persons; see [Data] for when it is private.
func (p *Persons) Len() int {
	if p == nil || p.personsRef == nil {
		return 0
	}
	return len(p.first) - 1
}

// Unit returns UnitUser.
func (p *Persons) Unit() string { return UnitUser }

// Rows returns the rows of all persons, person by person. A guarantee protects persons, not
// these rows.
func (p *Persons) Rows() Data { return p.rows }

// Span returns the positions lo … hi-1 of a person's rows in [Persons.Rows]. Every person has at
// least one row.
func (p *Persons) Span(person int) (lo, hi int) {
	return int(p.first[person]), int(p.first[person+1])
}

// Share returns the weight of a row of [Persons.Rows].
func (p *Persons) Share(row int) float32 { return p.shares[row] }

// AppendRows appends the row numbers of all rows of the given persons, in their order.
func (p *Persons) AppendRows(dst, persons []int32) []int32 {
	for _, i := range persons {
		for row := p.first[i]; row < p.first[i+1]; row++ {
			dst = append(dst, row)
		}
	}
	return dst
}

// Gather copies the first row of each of the given persons.
func (p *Persons) Gather(persons []int32, b *device.Batch) {
	rows := make([]int32, len(persons))
	for k, i := range persons {
		rows[k] = p.first[:p.Len()][i]
	}
	persons = slices.Clone(persons) // persons may be b.Index itself
	p.rows.Gather(rows, b)
	indexRows(b, persons)
}

// Range copies the first rows of persons lo … hi-1.
func (p *Persons) Range(lo, hi int, b *device.Batch) {
	p.rows.Gather(p.first[:p.Len()][lo:hi], b)
	indexRange(b, lo, hi)
}

// Slice returns persons lo … hi-1, sharing storage.
func (p *Persons) Slice(lo, hi int) *Persons {
	first, last := p.first[lo], p.first[hi]
	out := &personsRows{schema: p.schema, shares: p.shares[first:last]}
	for _, at := range p.first[lo : hi+1] {
		out.first = append(out.first, at-first)
	}
	switch own := p.rows.(type) {
	case *Table:
		out.rows = own.Slice(int(first), int(last))
	case *Frame:
		out.rows = own.Slice(int(first), int(last))
	case *SetTable:
		out.rows = own.Slice(int(first), int(last))
	}
	return &Persons{personsRef: &personsRef{out}}
}

// CheckPersons returns an error if data and the schema of a plan or sum disagree about persons.
// They disagree if one has persons and the other rows, or if their largest numbers of rows per
// person differ. path names the data.
//
// Errors: *[param.Error].
func CheckPersons(path string, d Data, s Schema) error {
	most := d.Schema().RowsPerPerson()
	if most != s.RowsPerPerson() {
		return param.New(path, perPerson(most), perPerson(s.RowsPerPerson())+", as the schema says")
	}
	if _, ok := AsPersons(d); most > 0 && !ok {
		return param.New(path, fmt.Sprintf("%T", d), "persons made by records.GroupBy")
	}
	return nil
}

// RefusePersons returns an error if a schema is of persons. Algorithms that support only rows call
// it. The error names the algorithms that support persons.
//
// Errors: *[param.Error] for a schema with [Schema.RowsPerPerson].
func RefusePersons(path string, s Schema) error {
	if s.persons == 0 {
		return nil
	}
	return param.New(path, perPerson(s.persons),
		"a schema of rows; dpgm, merf, gan, mix, kmeans, draft, tables and sets take persons")
}

func perPerson(most int) string {
	if most == 0 {
		return "rows, not persons"
	}
	return fmt.Sprintf("persons of at most %d rows", most)
}
