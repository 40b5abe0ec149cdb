package records_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// people returns a schema of numbers and levels that covers the settings of columns.
func people(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(
		records.Numeric("height", 50, 250),
		records.Numeric("gain", 0, 99999).Logarithmic().WithMissing(),
		records.Integer("age", 17, 90),
		records.Integer("children", -3, 20).WithMissing(),
		records.Ordinal("school", "none", "some, a bit", "all").WithOther("some, a bit"),
		records.Ordinal("size", "S", "M", "L", "XL").WithMissing(),
		records.Categorical("work", "private", "\"self\"", "none").WithOther("none").WithAlias("private",
			"Private", "priv."),
		records.Label("income", "<=50K", ">50K").WithAlias("<=50K", "<=50K.").WithAlias(">50K", ">50K."),
		records.Categorical("land", "Köln", "?", "#x").WithMissing(),
		records.Flag("sex", "Female", "Male"),
		records.Flag("smokes", "no", "yes").WithMissing(),
	))(t)
}

func TestBlocksCoverTheVector(t *testing.T) {
	s := people(t)
	at, last := 0, -1
	for _, b := range s.Blocks() {
		c := s.Columns()[b.Column]
		if b.Offset != at || b.Column <= last || c.Kind() == records.LabelColumn {
			t.Errorf("block %+v of %s, want one at %d", b, c.Name(), at)
		}
		want := 1
		if c.Kind() == records.CategoricalColumn {
			want = len(c.Levels())
		}
		if c.HasMissing() {
			want++
		}
		if b.Width != want || b.OneHot != (c.Kind() == records.CategoricalColumn) {
			t.Errorf("block %+v of %s, want width %d", b, c.Name(), want)
		}
		at, last = at+b.Width, b.Column
	}
	if at != s.Dim() || s.Classes() != 2 || s.ClassName(1) != ">50K" || s.IsBinary() || s.Sparse() ||
		s.IsImage() {
		t.Errorf("the blocks have %d coordinates of %d, or %v has wrong properties", at, s.Dim(), s)
	}
	if lo, hi := s.Bounds(); lo != 0 || hi != 1 {
		t.Errorf("got bounds %v, %v, want 0, 1", lo, hi)
	}
}

func TestCellsAreEncodedAsDeclared(t *testing.T) {
	s := must(records.NewSchema(
		records.Numeric("a", -1, 3), records.Numeric("b", 0, 9).Logarithmic().WithMissing(),
		records.Integer("c", 0, 4),
		records.Ordinal("d", "x", "y", "z").WithMissing(),
		records.Categorical("e", "x", "y", "z").WithOther("y"),
		records.Categorical("f", "x", "y").WithMissing(), records.Flag("g", "no", "yes"),
		records.Label("h", "p", "q").WithOther("q")))(t)
	nan := math.NaN()
	for _, c := range []struct {
		row   []any
		want  []float32
		label int
	}{
		{[]any{1.0, 0, 1, "y", "z", "y", true, "p"},
			[]float32{.5, 0, 0, .25, .5, 0, 0, 0, 1, 0, 1, 0, 1}, 0},
		{[]any{nan, nil, 2.4, nil, "?", nil, "no", "?"},
			[]float32{0, 0, 1, .5, 0, 1, 0, 1, 0, 0, 0, 1, 0}, 1},
		{[]any{math.Inf(1), 1e300, -7, "w", nil, "w", nil, nil},
			[]float32{1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0}, 1},
		{[]any{"1", []byte("9"), int8(4), "z ", "x", "x", "yes", "q"},
			[]float32{.5, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1}, 1},
		{[]any{float32(-1), uint8(0), "3", "x", "y", "y", false, "q"},
			[]float32{0, 0, 0, .75, 0, 0, 0, 1, 0, 0, 1, 0, 0}, 1},
		{[]any{"one", "x", "", 3, 2.5, nan, 1, ""}, []float32{0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0}, 1},
	} {
		f := must(records.FromValues(s, c.row))(t)
		if got := f.Row(nil, 0); !slices.Equal(got, c.want) || f.Label(0) != c.label {
			t.Errorf("%v becomes %v of class %d, want %v of %d", c.row, got, f.Label(0), c.want, c.label)
		}
	}
}

// TestLogarithmBendsTheScale: a number in the middle of the scale is the geometric mean of positive
// bounds, in whatever unit a column holds its numbers. Above other bounds, distances plus 1 count.
func TestLogarithmBendsTheScale(t *testing.T) {
	for _, c := range []struct {
		column              records.Column
		lo, middle, hi, far any
	}{
		{records.Numeric("a", 10, 1000), 10, 100, 1000, 2000},
		{records.Numeric("a", 1e-3, 10).WithStep(1e-3), .001, .1, 10, 11},
		{records.Numeric("a", 5e-324, 1e300), 5e-324, 1e150, 1e300, 1e301},
		{records.Numeric("a", 0, 99), 0, 9, 99, 100},
		{records.Numeric("a", -5, 94), -5, 4, 94, 100},
		{records.Integer("a", 4, 400), 4, 40, 400, 401},
		{wide("a", 1<<20, 1<<60), int64(1 << 20), int64(1 << 40), int64(1 << 60), int64(1 << 61)},
		{records.Duration("a", 2*time.Second, 8*time.Second, time.Millisecond), 2 * time.Second,
			4 * time.Second, 8 * time.Second, time.Hour},
	} {
		s := must(records.NewSchema(c.column.Logarithmic()))(t)
		f := must(records.FromValues(s, []any{c.lo}, []any{c.middle}, []any{c.hi}, []any{c.far}))(t)
		back := must(records.DecodeFlat(s, slices.Concat(f.Row(nil, 0), f.Row(nil, 1),
			f.Row(nil, 2))))(t)
		for i, want := range []float64{0, .5, 1, 1} {
			if got := float64(f.Row(nil, i)[0]); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%v: value %d is encoded as %v, want %v", c.column, i, got, want)
			}
			if i == 3 {
				break
			}
			if a, b := f.Number(i, 0), back.Number(i, 0); !(math.Abs(a-b) <= 1e-4*math.Abs(a)) {
				t.Errorf("%v: %v is decoded as %v", c.column, a, b)
			}
		}
	}
}

// TestMaxNormIsAttained: a row with every number at its upper bound has the largest norm, and no
// row exceeds it.
func TestMaxNormIsAttained(t *testing.T) {
	s := people(t)
	f := must(records.FromValues(s,
		[]any{250, 1e9, 90, 20, "all", "XL", "none", nil, "Köln", "Male", "yes"}))(t)
	if got := norm(f.Row(nil, 0)); got != math.Sqrt(10) || s.MaxNorm() < got ||
		s.MaxNorm() > got*(1+1e-15) {
		t.Errorf("got norm %v and MaxNorm %v, want √10 for both", got, s.MaxNorm())
	}
}

func norm(row []float32) float64 {
	sum := 0.0
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// validRow fails the test if the schema cannot hold an encoded row.
func validRow(t *testing.T, s records.Schema, row []float32) {
	t.Helper()
	for _, b := range s.Blocks() {
		block := row[b.Offset:][:b.Width]
		ones := 0
		for _, v := range block {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("got coordinate %v in %v, want one in [0, 1]", v, block)
			}
			if v == 1 {
				ones++
			}
		}
		if b.OneHot && (ones != 1 || norm(block) != 1) || !b.OneHot && b.Width == 2 && block[1] != 0 &&
			(block[1] != 1 || block[0] != 0) {
			t.Fatalf("block %+v holds %v", b, block)
		}
	}
}

// hostile returns a random encoded coordinate: mostly inside, often on an edge, and sometimes an
// arbitrary float32.
func hostile(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return math.Float32frombits(r.Uint32())
	case 1:
		return float32(r.IntN(2))
	case 2:
		return float32(r.IntN(5)) / 4
	}
	return r.Float32()*1.2 - 0.1
}

// TestManyDecodedRowsAreValid: two hundred thousand decoded rows, or a million with the flag
// -every-text, pass Check, stay the same in CSV, and are encoded inside the schema.
func TestManyDecodedRowsAreValid(t *testing.T) {
	n := 200_000
	if *everyText {
		n = 1_000_000
	}
	if testing.Short() {
		n = 10_000
	}
	const chunk = 10_000
	s := people(t)
	r := rand.New(rand.NewPCG(1, 2))
	flat, labels := make([]float32, chunk*s.Dim()), make([]int32, chunk)
	var b device.Batch
	for lo := 0; lo < n; lo += chunk {
		for i := range flat {
			flat[i] = hostile(r)
		}
		for i := range labels {
			labels[i] = r.Int32N(2)
		}
		f := must(records.DecodeFlat(s, flat, labels...))(t)
		if err := records.Check(f); err != nil {
			t.Fatal(err)
		}
		back := throughCSV(t, records.CSV{}, f)
		if !sameFrame(f, back) {
			t.Fatal("CSV changes the rows")
		}
		back.Range(0, back.Len(), &b)
		if !slices.Equal(b.Labels, labels) {
			t.Fatal("labels changed")
		}
		for i := range b.Rows {
			if row := b.Dense.Row(i); norm(row) > s.MaxNorm() {
				t.Fatalf("got norm %v, want at most MaxNorm", norm(row))
			} else {
				validRow(t, s, row)
			}
		}
	}
}

func throughCSV(t *testing.T, c records.CSV, f *records.Frame) *records.Frame {
	t.Helper()
	var file bytes.Buffer
	if err := c.WriteFrame(&file, f); err != nil {
		t.Fatal(err)
	}
	return must(c.ReadFrame(&file, f.Schema()))(t)
}

// sameFrame compares every cell.
func sameFrame(a, b *records.Frame) bool {
	if a.Len() != b.Len() || !a.Schema().Equal(b.Schema()) {
		return false
	}
	for j := range a.Schema().Columns() {
		for i := range a.Len() {
			x, y := a.Number(i, j), b.Number(i, j)
			if x != y && (x == x || y == y) || a.Level(i, j) != b.Level(i, j) {
				return false
			}
		}
	}
	return true
}

// TestEncodingIsStable: encoding a decoded row gives the same coordinates, up to the digits that
// decoding drops.
func TestEncodingIsStable(t *testing.T) {
	s := people(t)
	r := rand.New(rand.NewPCG(3, 4))
	flat, labels := make([]float32, 1000*s.Dim()), make([]int32, 1000)
	for i := range flat {
		flat[i] = hostile(r)
	}
	s.Clamp(flat)
	f := must(records.DecodeFlat(s, flat, labels...))(t)
	var b device.Batch
	f.Range(0, f.Len(), &b)
	for i, v := range b.Dense.Data {
		if math.Abs(float64(v-flat[i])) > 1.5e-7 {
			t.Fatalf("%v becomes %v", flat[i], v)
		}
	}
	again := slices.Clone(b.Dense.Data)
	s.Clamp(again)
	if !slices.Equal(again, b.Dense.Data) {
		t.Error("Clamp changes a row that is in the schema")
	}
}

func TestClampMakesRowsOfTheSchema(t *testing.T) {
	s := people(t)
	r := rand.New(rand.NewPCG(5, 6))
	flat := make([]float32, 500*s.Dim()+3)
	for i := range flat {
		flat[i] = hostile(r)
	}
	s.Clamp(flat)
	for i := range 500 {
		validRow(t, s, flat[i*s.Dim():(i+1)*s.Dim()])
	}
	for _, v := range flat[500*s.Dim():] {
		if !(v >= 0 && v <= 1) {
			t.Errorf("a coordinate after the last whole row is %v, want one in [0, 1]", v)
		}
	}
}

func TestFrameIsData(t *testing.T) {
	s := people(t)
	r := rand.New(rand.NewPCG(7, 8))
	flat, labels := make([]float32, 40*s.Dim()), make([]int32, 40)
	for i := range flat {
		flat[i] = hostile(r)
	}
	for i := range labels {
		labels[i] = r.Int32N(2)
	}
	f := must(records.DecodeFlat(s, flat, labels...))(t)
	var all, some device.Batch
	f.Range(0, 40, &all)
	rows := []int32{7, 7, 0, 39}
	f.Gather(rows, &some)
	taken := f.Take(rows)
	for k, i := range rows {
		for _, got := range [][]float32{some.Dense.Row(k), taken.Row(nil, k),
			f.Slice(int(i), 40).Row(nil, 0)} {
			if !slices.Equal(got, all.Dense.Row(int(i))) {
				t.Errorf("row %d is wrongly read as %v", i, got)
			}
		}
		if some.Labels[k] != labels[i] || some.Index[k] != i || taken.Label(k) != int(labels[i]) {
			t.Errorf("row %d has a wrong label or index", i)
		}
	}
	joined := must(records.Concat(s, f.Slice(0, 13), onlyData{f.Slice(13, 13)},
		f.Slice(13, 40)))(t).(*records.Frame)
	if !sameFrame(joined, f) || !slices.Equal(joined.Labels(), labels) {
		t.Error("the joined parts differ from the whole")
	}
	bare := f.WithoutLabels()
	bare.Range(0, 40, &some)
	if some.Labels != nil || bare.Labels() != nil || bare.Label(0) != -1 ||
		!slices.Equal(some.Dense.Data, all.Dense.Data) {
		t.Error("without labels the records differ")
	}
}

// onlyData hides the type of a frame.
type onlyData struct{ records.Data }

func TestForeignDataOfATableIsJoined(t *testing.T) {
	s := people(t)
	f := must(records.DecodeFlat(s, make([]float32, 2*s.Dim()), 1, 0))(t)
	joined := must(records.Concat(s, onlyData{f}, f))(t).(*records.Frame)
	if joined.Len() != 4 || !sameFrame(joined.Slice(0, 2), f) || records.Check(onlyData{f}) != nil {
		t.Error("data of another type are joined wrongly")
	}
}

// torn is data of another type. No table can hold its rows.
type torn struct{ *records.Frame }

func (d torn) Range(lo, hi int, b *device.Batch) {
	d.Frame.Range(lo, hi, b)
	for i := range b.Dense.Data {
		b.Dense.Data[i] = 0.5
	}
}

func TestForeignDataIsCheckedBlockByBlock(t *testing.T) {
	s := people(t)
	f := must(records.DecodeFlat(s, make([]float32, s.Dim()), 0))(t)
	err := records.Check(torn{f})
	if err == nil || !strings.Contains(err.Error(), "column 6: not exactly one level") ||
		!strings.Contains(err.Error(), "column 1: marked as missing but has a value") {
		t.Errorf("Check returns %v, want defects in columns 6 and 1", err)
	}
}

func TestEncodedIsATableOfVectors(t *testing.T) {
	s := people(t)
	f := must(records.FromValues(s,
		[]any{180, nil, 40, 2, "all", "M", "none", ">50K", "Köln", "Male", "no"}, make([]any, 11)))(t)
	e := f.Encoded()
	if e.Schema().Kind() != records.IntervalVector || !slices.Equal(e.Labels(), f.Labels()) ||
		!slices.Equal(e.Schema().ClassNames(), s.ClassNames()) ||
		records.Check(e) != nil || e.Schema().Validate() != nil {
		t.Errorf("got schema %v or labels %v, want a valid table of vectors", e.Schema(), e.Labels())
	}
	for i := range 2 {
		if !slices.Equal(e.Row(nil, i), f.Row(nil, i)) {
			t.Errorf("row %d is %v", i, e.Row(nil, i))
		}
	}
	if e := f.WithoutLabels().Encoded(); e.Labels() != nil || e.Len() != 2 {
		t.Error("without labels: the encoded table has labels, or not 2 rows")
	}
}

func TestColumnsReadThemselvesOut(t *testing.T) {
	for want, c := range map[string]records.Column{
		"a: numeric [0, 2.5], logarithmic, may be missing": records.Numeric("a", 0,
			2.5).Logarithmic().WithMissing(),
		`b: categorical ["x" "y z"], others are "x"`: records.Categorical("b", "x", "y z").WithOther("x"),
	} {
		if c.String() != want {
			t.Errorf("%v, want %s", c, want)
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	s := people(t)
	f := must(records.DecodeFlat(s, make([]float32, 9*s.Dim()), make([]int32, 9)...))(t)
	var b device.Batch
	rows := []int32{1, 2, 3}
	f.Range(0, 9, &b)
	if n := testing.AllocsPerRun(100, func() { f.Gather(rows, &b); f.Range(2, 8, &b) }); n > 0 {
		t.Errorf("got %v allocations per batch, want 0", n)
	}
}

func TestCheckReportsCells(t *testing.T) {
	s := people(t)
	good := []any{180, nil, 40, nil, "all", nil, "private", "<=50K", nil, "Male", nil}
	odd := func(column string, v any) []any {
		row := slices.Clone(good)
		row[s.ColumnIndex(column)] = v
		return row
	}
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{
		{"height", math.NaN(), "not a number"}, {"height", "tall", "not a number"},
		{"gain", "much", "not a number"},
		{"height", 251, "outside the bounds"}, {"age", math.Inf(-1), "outside the bounds"},
		{"age", 17.5, "not a whole number"},
		{"school", "?", "none of the levels"}, {"school", nil, "missing"}, {"sex", nil, "missing"},
		{"land", "Bonn", "none of the levels"},
		{"income", nil, "missing"}, {"income", "50K", "none of the classes"},
	} {
		f := must(records.FromValues(s, good, odd(c.column, c.value)))(t)
		var d *records.Defect
		err := records.Check(f)
		if !errors.As(err, &d) || d.Row != 1 || d.Problem != c.want ||
			strings.Contains(err.Error(), fmt.Sprint(c.value)) && c.value != nil {
			t.Errorf("%s %v: %v, want %q", c.column, c.value, err, c.want)
		}
		if want := s.ColumnIndex(c.column); d != nil && d.Column != want && c.column != "income" ||
			c.column == "income" && d.Column != -1 {
			t.Errorf("%s: the defect names the wrong column %d", c.column, d.Column)
		}
		validRow(t, s, f.Row(nil, 1))
	}
	if err := records.Check(must(records.FromValues(s, good, odd("gain", math.NaN())))(t)); err !=
		nil {
		t.Error(err)
	}
}

func TestStrayCellsAreThoseThatCheckReports(t *testing.T) {
	s := people(t)
	f := must(records.FromValues(s,
		[]any{180, nil, 40, nil, "all", nil, "private", "<=50K", nil, "Male", nil},
		[]any{"x", 1e6, 40.5, "?", "half", "XXL", nil, nil, "Bonn", nil, "maybe"}))(t)
	for j := range s.Columns() {
		if f.Stray(0, j) || !f.Stray(1, j) {
			t.Errorf("column %d: Stray returns %v and %v, want false and true",
				j, f.Stray(0, j), f.Stray(1, j))
		}
	}
	said := records.WithUnit(f, records.UnitUser)
	if inside, ok := records.AsFrame(said); !ok || inside != f ||
		records.Check(said).Error() != records.Check(f).Error() {
		t.Error("a statement about a frame hides the frame")
	}
	if _, ok := records.AsFrame(onlyData{f}); ok {
		t.Error("data of another type is taken for a frame")
	}
}

func TestColumnsAreReviewed(t *testing.T) {
	c := records.Categorical("a", "x", "y", "z").WithOther("z").WithAlias("x", "X").WithAlias("y",
		"Y").WithMissing()
	if got := c.WithLevels("y", "w"); got.Other() != "" ||
		!slices.Equal(got.Levels(), []string{"y", "w"}) ||
		must(records.NewSchema(got))(t).Validate() != nil || c.Other() != "z" ||
		got.WithoutMissing().HasMissing() {
		t.Errorf("got wrong levels or another level in %+v", got)
	}
	if lo, hi := records.Numeric("a", 0, 1).WithBounds(2, 3).Bounds(); lo != 2 || hi != 3 {
		t.Errorf("got bounds %v, %v, want 2, 3", lo, hi)
	}
}

func TestBuilderRefusesWhatIsNoRow(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("a", 0, 1), records.Flag("b", "n", "y")))(t)
	b := must(records.NewFrameBuilder(s))(t)
	type level string
	for _, row := range [][]any{{1}, {1, 2, 3}, {1, struct{}{}}, {[]int{1}, "y"}, {1, 2i}} {
		var shape *param.Error
		if err := b.Append(row...); !errors.As(err, &shape) {
			t.Errorf("%v: got error %v, want *param.Error", row, err)
		}
	}
	if err := b.Append(0.5, level("y")); err != nil {
		t.Error(err)
	}
	if f := b.Frame(); f.Len() != 1 || f.Value(0, 0) != "0.5" || f.Value(0, 1) != "y" ||
		b.Len() != 0 || b.Frame().Len() != 0 {
		t.Errorf("got %d rows with %q and %q, want one row of 0.5 and y",
			f.Len(), f.Value(0, 0), f.Value(0, 1))
	}
}

func TestSchemaOfATableReportsMistakes(t *testing.T) {
	many := make([]string, 1<<16)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	ok := records.Numeric("ok", 0, 1)
	for want, columns := range map[string][]records.Column{
		"at least one besides the label": {records.Label("a", "x")},
		`records.Column[1].Name: "a"`: {records.Numeric("a", 0, 1),
			records.Flag("a", "n", "y")},
		`records.Column[0].Name: ""`:            {records.Numeric("", 0, 1)},
		`records.Column[0].Name: " a"`:          {records.Numeric(" a", 0, 1)},
		`records.Column[0].Kind`:                {{}},
		`records.Column["a"].Bounds: [1, 1]`:    {records.Numeric("a", 1, 1)},
		`records.Column["a"].Bounds: [2, 1]`:    {records.Integer("a", 2, 1)},
		`records.Column["b"].Bounds: [NaN, 1]`:  {records.Target("b", math.NaN(), 1)},
		`records.Column["a"].Bounds: [0, +Inf]`: {records.Numeric("a", 0, math.Inf(1))},
		`records.Column["c"].Bounds: [-1e+308`:  {records.Numeric("c", -1e308, 1e308)},
		`records.Column["big"].Bounds`: {records.Integer("big", -(math.MaxInt >> 1),
			math.MaxInt>>1)},
		`records.Column["a"].Levels: 0`:              {records.Categorical("a")},
		`records.Column["a"].Levels: 1:`:             {records.Ordinal("a", "x")},
		`records.Column["a"].Levels: 65536`:          {records.Categorical("a", many...)},
		`records.Column["a"].Levels[1]: "x"`:         {records.Categorical("a", "x", "x")},
		`records.Column["a"].Levels[0]: ""`:          {records.Flag("a", "", "x")},
		`records.Column["a"].Levels[1]: "\ny"`:       {records.Flag("a", "x", "\ny")},
		`records.Column["a"].WithOther: "z"`:         {records.Flag("a", "x", "y").WithOther("z")},
		`records.Column["a"].WithAlias: "y" for "x"`: {records.Flag("a", "x", "y").WithAlias("x", "y")},
		`records.Column["a"].WithAlias: "q" for "y"`: {records.Flag("a", "x", "y").WithAlias("x",
			"q").WithAlias("y", "q")},
		`records.Column["b"].WithAlias: "q" for "z"`: {records.Flag("b", "x", "y").WithAlias("z", "q")},
		`records.Column["a"].WithMissing: label`:     {ok, records.Label("a", "x").WithMissing()},
		`records.Column["a"].WithMissing: target`:    {ok, records.Target("a", 0, 1).WithMissing()},
		`records.Column["a"].Bounds: flag`:           {records.Flag("a", "n", "y").Logarithmic()},
		`records.Column["a"].Levels: numeric`:        {records.Numeric("a", 0, 1).WithOther("x")},
		`2 labels and targets`: {records.Target("a", 0, 1),
			records.Label("b", "x")},
	} {
		if strconv.IntSize == 32 && columns[0].Name() == "big" {
			continue // an int holds no bounds that are too large
		}
		s, err := records.NewSchema(columns...)
		var shape *param.Error
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), want) || s.Validate() == nil {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if _, err := records.NewSchema(records.Numeric("a", 1, 0), records.Flag("b", "x", "x")); err ==
		nil ||
		!strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("the error does not list every mistake: %v", err)
	}
}

func TestLabelsOfATableChange(t *testing.T) {
	s := people(t)
	bare := s.WithoutLabels()
	if bare.Classes() != 0 || len(bare.Columns()) != len(s.Columns())-1 || bare.Dim() != s.Dim() ||
		bare.Equal(s) || s.Classes() != 2 {
		t.Errorf("got wrong schema without labels: %v", bare)
	}
	again := bare.WithLabels("a", "b", "c").WithUnknown("b")
	if again.Classes() != 3 || again.ColumnIndex("class") != len(again.Columns())-1 ||
		again.Validate() != nil {
		t.Errorf("got wrong schema with labels: %v", again)
	}
	f := must(records.DecodeFlat(again, make([]float32, again.Dim()), 9))(t)
	if f.Label(0) != 1 {
		t.Errorf("an unknown class becomes %d, want 1", f.Label(0))
	}
	if s.WithLabels("a", "a").Validate() == nil || s.WithUnknown("no").Validate() == nil {
		t.Error("wrong labels are valid")
	}
	if renamed := s.WithLabels("x"); renamed.ColumnIndex("income") != len(s.Columns())-1 {
		t.Errorf("the label column is now %v", renamed.Columns())
	}
}

func TestTablesAreNoVectors(t *testing.T) {
	s := people(t)
	var shape *param.Error
	if _, err := records.FromFlat(s, make([]float32, s.Dim()), 0); !errors.As(err, &shape) {
		t.Errorf("FromFlat: got error %v, want *param.Error", err)
	}
	if _, err := (records.CSV{}).Read(strings.NewReader(""), s); !errors.As(err, &shape) {
		t.Errorf("Read: got error %v, want *param.Error", err)
	}
	for _, o := range []records.Schema{records.Interval(3, 0, 1), {}, records.Sets(3, 1)} {
		if _, err := records.DecodeFlat(o, make([]float32, 3)); !errors.As(err, &shape) {
			t.Errorf("DecodeFlat: got error %v, want *param.Error", err)
		}
		if _, err := (records.CSV{}).ReadFrame(strings.NewReader(""), o); !errors.As(err, &shape) {
			t.Errorf("ReadFrame: got error %v, want *param.Error", err)
		}
	}
	for _, labels := range [][]int32{nil, {0, 1}} {
		if _, err := records.DecodeFlat(s, make([]float32, s.Dim()), labels...); !errors.As(err, &shape) {
			t.Errorf("%d labels: got error %v, want *param.Error", len(labels), err)
		}
	}
	if _, err := records.DecodeFlat(s, make([]float32, s.Dim()+1), 0); !errors.As(err, &shape) {
		t.Errorf("a row and one coordinate: got error %v, want *param.Error", err)
	}
}

func TestDecodedNumbersAreLegible(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("a", 0, 250), records.Numeric("b", 0, 1e12),
		records.Numeric("c", 1e-9, 2e-9),
		records.Numeric("d", 0, 1e6).Logarithmic()))(t)
	f := must(records.DecodeFlat(s, []float32{1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}))(t)
	for j, want := range []string{"83.33333", "333333340000", "1.33333334e-09", "98.999985"} {
		got := f.Value(0, j)
		if len(got) > len(want)+2 || math.Abs(f.Number(0, j)/number(t, want)-1) > 1e-6 {
			t.Errorf("column %d reads %s, want about %s", j, got, want)
		}
	}
}

func number(t *testing.T, text string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaFile(t *testing.T) {
	for name, s := range schemas() {
		path := t.TempDir() + "/schema.json"
		var text bytes.Buffer
		if err := records.WriteSchema(&text, s); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		back, err := records.OpenSchema(path)
		if err != nil || !back.Equal(s) {
			t.Errorf("%s: got back %v and error %v", name, back, err)
		}
	}
	var text bytes.Buffer
	if err := records.WriteSchema(&text, people(t)); err != nil {
		t.Fatal(err)
	}
	back := must(records.ReadSchema(&text))(t)
	f := must(records.FromValues(back,
		[]any{1, 1, 1, 1, "all", "S", "priv.", ">50K.", "?", "Male", "no"}))(t)
	if f.Value(0, 6) != "private" || f.Label(0) != 1 {
		t.Error("aliases are lost")
	}
	angles := must(records.NewSchema(records.Categorical("size", "<25", "25 & more")))(t)
	text.Reset()
	if err := records.WriteSchema(&text, angles); err != nil || !strings.Contains(text.String(),
		`"<25"`) {
		t.Errorf("%v: levels are escaped:\n%s", err, &text)
	}
	for _, text := range []string{"", "{", "{} {}", `{"kind":"table"}`} {
		if _, err := records.ReadSchema(strings.NewReader(text)); err == nil {
			t.Errorf("%q is accepted as a schema", text)
		}
	}
}

func TestHostileTableJSON(t *testing.T) {
	const good = `{"name":"a","type":"flag","levels":["n","y"]}`
	for _, columns := range []string{
		``, `{}`, `{"name":"a"}`, `{"name":"a","type":"numeric"}`, `{"name":"a","type":"numeric","lo":0}`,
		`{"name":"a","type":"numeric","lo":1,"hi":0}`,
		`{"name":"a","type":"flag","levels":["n","y"],"lo":0,"hi":1}`,
		`{"name":"a","type":"flag","levels":["n"]}`, good + "," + good,
		`{"name":"a","type":"flag","levels":["n","y"],"aliases":{"q":"z"}}`,
		`{"name":"a","type":"flag","levels":["n","y"],"bogus":1}`,
		`{"name":"a","type":"integer","lo":0.5,"hi":2}`, `{"name":"a","type":"label","levels":["x"]}`,
		`{"name":"a","type":"numeric","lo":0,"hi":1,"levels":["x"]}`,
	} {
		var s records.Schema
		if err := json.Unmarshal([]byte(`{"kind":"table","columns":[`+columns+`]}`), &s); err == nil {
			t.Errorf("%s is accepted as %v", columns, s)
		}
	}
	for _, text := range []string{`{"kind":"table","dim":2,"columns":[` + good + `]}`,
		`{"kind":"table","classes":["x"],"columns":[` + good + `]}`,
		`{"kind":"binary","dim":2,"columns":[` + good + `]}`} {
		var s records.Schema
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s is accepted as %v", text, s)
		}
	}
}
