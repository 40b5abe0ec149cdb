package records_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// unlike is a user-defined type of data that cannot be compared and embeds no data.
type unlike struct {
	inner records.Data
	_     []int
}

func (u unlike) Schema() records.Schema               { return u.inner.Schema() }
func (u unlike) Len() int                             { return u.inner.Len() }
func (u unlike) Gather(rows []int32, b *device.Batch) { u.inner.Gather(rows, b) }
func (u unlike) Range(lo, hi int, b *device.Batch)    { u.inner.Range(lo, hi, b) }

// TestPublicOverlapsWhatItWasMadeFrom declares private records, and data made from them by every
// function of the package, public. Parts of one table that were made independently, other records
// and missing data must not overlap.
func TestPublicOverlapsWhatItWasMadeFrom(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 1), records.Label("y", "a", "b")))(t)
	frame := func() *records.Frame {
		return must(records.FromValues(s, []any{0.1, "a"}, []any{0.2, "b"}, []any{0.1, "a"}))(t)
	}
	v := records.Interval(2, 0, 1).WithLabels("a", "b")
	vectors := func() *records.Table {
		return must(records.FromFlat(v, []float32{0, 1, 1, 0, 0, 0}, 0, 1, 1))(t)
	}
	items := records.Sets(9, 3)
	sets := func() *records.SetTable {
		return must(records.FromItems(items, [][]uint32{{1}, {2}, {3}}))(t)
	}
	f, x, z := frame(), vectors(), sets()
	list := &unlike{inner: x}
	kept := func(d records.Data, rule records.Constraint) records.Data {
		return must(must(records.NewEnforcer(d.Schema(), rule))(t).Keep(d, 9))(t)
	}
	low, has := records.Within("x", 0, 0.15), records.HasItems(1)
	for name, c := range map[string]struct {
		private, public records.Data
		want            bool
	}{
		"itself":              {x, x, true},
		"a slice":             {x, x.Slice(1, 2), true},
		"rows":                {x, x.Take([]int32{2}), true},
		"rows of rows":        {x, x.Take([]int32{2, 1}).Slice(0, 1).WithoutLabels(), true},
		"black and white":     {x, records.Binarize(x, 0.5), true},
		"joined":              {x, must(records.Concat(v, vectors(), x))(t), true},
		"others joined":       {x, must(records.Concat(v, vectors(), vectors()))(t), false},
		"a statement":         {x, records.WithUnit(records.WithPart(x, 0, 2), "user"), true},
		"clamped":             {list, records.Clamped(list), true},
		"one value":           {list, list, true},
		"in a structure":      {x, &other{other{x.Slice(1, 2)}}, true},
		"a structure of none": {x, other{}, false},
		"not comparable":      {unlike{inner: x}, unlike{inner: x}, false},
		"the other half":      {x.Slice(0, 1), x.Slice(1, 3), false},
		"other rows":          {x.Take([]int32{0}), x.Take([]int32{1}), false},
		"equal values":        {x, vectors(), false},
		"a slice of it":       {f, f.Slice(1, 2), true},
		"without labels":      {f, f.WithoutLabels(), true},
		"encoded":             {f, f.Take([]int32{2}).Encoded().Take([]int32{0}), true},
		"persons":             {must(records.GroupBy(f, []int{1, 1, 2}, 2))(t), f, true},
		"joined rows":         {f, must(records.Concat(s, frame(), f))(t), true},
		"another table":       {f, frame().Encoded(), false},
		"some sets":           {z, z.Slice(0, 1), true},
		"the other sets":      {z.Slice(0, 1), z.Slice(1, 3), false},
		"other rows of it":    {f.Slice(0, 1), f.Take([]int32{1}), false},
		"taken sets":          {z, z.Take([]int32{1}).WithoutLabels(), true},
		"joined sets":         {z, must(records.Concat(items, z, sets()))(t), true},
		"other sets":          {z, sets(), false},
		"kept rows":           {f, kept(f, low), true},
		"kept in a structure": {f, kept(&other{f}, low), true},
		"kept sets":           {z, kept(&other{z}, has), true},
		"kept others":         {f, kept(&other{frame()}, low), false},
		"joined structures":   {f, must(records.Concat(s, frame(), &other{f.Slice(1, 2)}))(t), true},
		"a joined structure":  {f, must(records.Concat(s, &other{f}))(t), true},
		"joined vectors":      {x, must(records.Concat(v, vectors(), &other{x}))(t), true},
		"joined lists":        {z, must(records.Concat(items, &other{z}, sets()))(t), true},
		"joined statements":   {f, must(records.Concat(s, records.WithUnit(f, "user")))(t), true},
		"joined others":       {f, must(records.Concat(s, &other{frame()}, &other{frame()}))(t), false},
		"nothing":             {x, nil, false},
		"a table of none":     {x, (*records.Table)(nil), false},
		"no private":          {nil, x, false},
		"the zero persons":    {x, new(records.Persons), false},
	} {
		if records.DeclarePublic(c.public).Overlaps(c.private) != c.want ||
			records.DeclarePublic(c.private).Overlaps(c.public) != c.want {
			t.Errorf("%s: Overlaps does not return %v", name, c.want)
		}
	}
}
