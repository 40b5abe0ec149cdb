package records_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// numbered returns a table with one coordinate per row: the given values.
func numbered(t *testing.T, values ...float32) *records.Table {
	t.Helper()
	return must(records.FromFlat(records.Interval(1, 0, 1e6), values))(t)
}

func grouped[K records.Key](t *testing.T, d records.Data, keys []K, most int) *records.Persons {
	t.Helper()
	return must(records.GroupBy(d, keys, most))(t)
}

// contents returns the values of each person's rows.
func contents(p *records.Persons) (all [][]float32) {
	var b device.Batch
	for i := range p.Len() {
		lo, hi := p.Span(i)
		p.Rows().Range(lo, hi, &b)
		all = append(all, slices.Clone(b.Dense.Data))
	}
	return all
}

func TestGroupByKeepsPersonsApart(t *testing.T) {
	p := grouped(t, numbered(t, 1, 2, 3, 4, 5), []string{"b", "a", "b", "c", "a"}, 2)
	if got, want := fmt.Sprint(contents(p)), "[[1 3] [2 5] [4]]"; got != want {
		t.Errorf("persons hold %s, want %s", got, want)
	}
	if p.Len() != 3 || p.Unit() != records.UnitUser || records.UnitOf(p) != records.UnitUser {
		t.Errorf("got %d persons of unit %s, want 3 of unit user", p.Len(), p.Unit())
	}
	if s := p.Schema(); s.RowsPerPerson() != 2 || p.Rows().Schema().RowsPerPerson() != 0 {
		t.Errorf("got schema %v with rows of %v, want at most 2 rows per person", s, p.Rows().Schema())
	}
	var b device.Batch
	p.Range(0, 3, &b)
	if got := fmt.Sprint(b.Dense.Data, b.Index); got != "[1 2 4] [0 1 2]" {
		t.Errorf("the first rows are %s", got)
	}
	b.Index = []int32{2, 1}
	p.Gather(b.Index, &b)
	if got := fmt.Sprint(b.Dense.Data, b.Index); got != "[4 2] [2 1]" {
		t.Errorf("got %s, want [4 2] [2 1]", got)
	}
	if got := p.AppendRows(nil, []int32{2, 0}); !slices.Equal(got, []int32{4, 0, 1}) {
		t.Errorf("got rows %v, want [4 0 1]", got)
	}
}

// TestRowsWithoutANameBelongToNobody: a row whose key is a blank text makes no person. The number 0
// is a key like any other.
func TestRowsWithoutANameBelongToNobody(t *testing.T) {
	rows := numbered(t, 1, 2, 3, 4)
	if p := grouped(t, rows, []string{"", "ann", " \t", "ann"}, 3); p.Len() != 1 ||
		fmt.Sprint(contents(p)) != "[[2 4]]" {
		t.Errorf("got %v, want Ann's rows only", contents(p))
	}
	if p := grouped(t, rows, []int{0, 1, 0, 1}, 3); p.Len() != 2 {
		t.Errorf("numbers as keys make %d persons, want 2", p.Len())
	}
}

// TestKeptRowsAreThePersonsOwn: the rows kept of a person do not depend on other persons, on their
// rows, or on positions in the data.
func TestKeptRowsAreThePersonsOwn(t *testing.T) {
	for _, rows := range []int{1, 3, 4, 30, 300} {
		var own []float32
		for i := range rows {
			own = append(own, float32(1000+i))
		}
		alone := contents(grouped(t, numbered(t, own...), make([]int, rows), 3))[0]
		if len(alone) != min(rows, 3) {
			t.Fatalf("of %d rows, %d are kept", rows, len(alone))
		}
		for others := range 12 {
			var values []float32
			var keys []string
			for i, v := range own {
				for j := range others * ((i + 1) % 3) { // also before the first
					values, keys = append(values, float32(j)), append(keys, fmt.Sprint("other", j%others))
				}
				values, keys = append(values, v), append(keys, "own")
			}
			p := grouped(t, numbered(t, values...), keys, 3)
			found := slices.ContainsFunc(contents(p), func(v []float32) bool {
				return slices.Equal(v, alone)
			})
			if !found {
				t.Errorf("%d rows, %d others: got %v, want %v for one person", rows, others, contents(p), alone)
			}
		}
	}
}

// TestNoPositionIsFavoured: over many numbers of rows, positions in the first and in the second
// half are kept equally often. A rule that kept the first rows would always keep position 0.
func TestNoPositionIsFavoured(t *testing.T) {
	early, persons := 0, 400
	for n := range persons {
		rows := n + 20
		values := make([]float32, rows)
		for i := range values {
			values[i] = float32(i)
		}
		kept := contents(grouped(t, numbered(t, values...), make([]int, rows), 1))[0]
		if kept[0] < float32(rows)/2 {
			early++
		}
	}
	// The rule is fixed, so the result never varies. A random rule would give 200 ± 10.
	if early < 160 || early > 240 {
		t.Errorf("of %d persons, %d keep a row of their first half, want about half", persons, early)
	}
}

func TestSharesAddUpToOne(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 10, 1000, records.MostRows} {
		p := grouped(t, numbered(t, make([]float32, n)...), make([]uint8, n), records.MostRows)
		_, shares := records.RowsOf(p)
		sum := float32(0)
		for i := range n {
			s := float64(p.Share(i))
			if s != shares.Of(i) || s != math.Trunc(s/records.ShareStep)*records.ShareStep ||
				math.Abs(s*float64(n)-1) > 0.01 {
				t.Fatalf("%d rows: share %v", n, s)
			}
			sum += float32(s)
		}
		if sum != 1 {
			t.Errorf("the shares of %d rows add up to %v", n, sum)
		}
	}
	if _, shares := records.RowsOf(numbered(t, 1)); shares != nil || shares.Of(0) != 1 {
		t.Error("the share of a record is not 1")
	}
}

// TestSharesOfSlices: a slice of persons has the shares of its own persons' rows.
func TestSharesOfSlices(t *testing.T) {
	p := grouped(t, numbered(t, 1, 2, 3, 4, 5, 6), []string{"a", "b", "b", "c", "c", "c"}, 3)
	for lo := range 3 {
		for hi := lo; hi <= 3; hi++ {
			_, shares := records.RowsOf(p.Slice(lo, hi))
			sum := 0.0
			for _, s := range shares {
				sum += float64(s)
			}
			if shares == nil || sum != float64(hi-lo) {
				t.Errorf("persons %d to %d: shares %v", lo, hi, shares)
			}
		}
	}
}

// TestPersonsOfEveryKind: frames, sets and data of other types are grouped like tables.
func TestPersonsOfEveryKind(t *testing.T) {
	table := must(records.NewSchema(records.Numeric("x", 0, 9), records.Label("y", "a", "b")))(t)
	frame := must(records.FromValues(table, []any{1, "a"}, []any{2, "b"}, []any{3, "b"}))(t)
	sets := must(records.FromItems(records.Sets(5, 2), [][]uint32{{1}, {2, 3}, nil}))(t)
	image := must(records.FromBytes(records.Image(1, 2).WithLabels("a", "b"),
		[]byte{0, 255, 9, 9, 1, 1}, 0, 1, 1))(t)
	for _, d := range []records.Data{frame, sets, image, other{image},
		records.WithUnit(image, "record")} {
		p := grouped(t, d, []int{5, 6, 5}, 4)
		var whole, own device.Batch
		d.Gather([]int32{0, 2, 1}, &whole)
		p.Rows().Range(0, 3, &own)
		if fmt.Sprint(whole.Dense.Data, whole.Sparse, whole.Labels) !=
			fmt.Sprint(own.Dense.Data, own.Sparse, own.Labels) {
			t.Errorf("%T: the rows of persons differ from the rows of the data", d)
		}
		if lo, hi := p.Slice(1, 2).Span(0); lo != 0 || hi != 1 || p.Slice(1, 2).Len() != 1 {
			t.Errorf("%T: a slice of persons spans %d to %d", d, lo, hi)
		}
		if got, ok := records.AsPersons(records.WithPart(p, 0, 2)); !ok || got != p {
			t.Errorf("%T: persons are not recognised", d)
		}
		rows := records.DeclarePublic(p.Rows())
		if _, wrapped := d.(other); !wrapped && !rows.Overlaps(d) || !rows.Overlaps(p) {
			t.Errorf("%T: persons do not overlap with their rows", d)
		}
		if records.Clamped(p) != records.Data(p) {
			t.Errorf("%T: Clamped wraps persons", d)
		}
	}
}

// other is a user-defined type of data.
type other struct{ records.Data }

func TestPersonsRefusals(t *testing.T) {
	d := numbered(t, 1, 2)
	persons := grouped(t, d, []string{"a", "b"}, 1)
	for _, c := range []struct {
		name string
		err  error
	}{
		{"keys", errorOf(records.GroupBy(d, []string{"a"}, 1))},
		{"most", errorOf(records.GroupBy(d, []string{"a", "b"}, 0))},
		{"most", errorOf(records.GroupBy(d, []string{"a", "b"}, records.MostRows+1))},
		{"data", errorOf(records.GroupBy(persons, []string{"a", "b"}, 1))},
		{"data", errorOf(records.GroupBy(records.WithUnit(d, records.UnitUser), []string{"a", "b"}, 1))},
		{"GroupBy", errorOf(records.GroupBy(nil, []string{}, 1))},
		{"Concat", errorOf(records.Concat(d.Schema(), persons))},
		{"persons of at most 1 rows", records.CheckPersons("x", persons, d.Schema())},
		{"rows, not persons", records.CheckPersons("x", d, persons.Schema())},
		{"persons of at most 1 rows", records.CheckPersons("x", persons, d.Schema().ByPerson(2))},
		{"persons of at most 1 rows", records.RefusePersons("x", persons.Schema())},
		{"GroupBy", records.CheckPersons("x", hiding{persons}, persons.Schema())},
		{"RowsPerPerson", d.Schema().ByPerson(-1).Validate()},
	} {
		if p := new(param.Error); !errors.As(c.err, &p) || !strings.Contains(c.err.Error(), c.name) {
			t.Errorf("want a *param.Error about %s, got %v", c.name, c.err)
		}
	}
	if err := records.CheckPersons("x", persons, persons.Schema()); err != nil {
		t.Error(err)
	}
	if err := records.RefusePersons("x", d.Schema()); err != nil {
		t.Error(err)
	}
	var none *records.Persons
	if none.Len() != 0 || none.Schema().Kind() != 0 {
		t.Error("nil persons have a length or a schema")
	}
	p := grouped(t, numbered(t), []string{}, 3)
	if _, shares := records.RowsOf(p); p.Len() != 0 || shares == nil || p.Slice(0, 0).Len() != 0 {
		t.Errorf("no rows make %d persons, with shares %v", p.Len(), shares)
	}
}

// hiding hides persons behind a user-defined type.
type hiding struct{ *records.Persons }

func errorOf[T any](_ T, err error) error { return err }

func TestPersonsPrintAsPrivate(t *testing.T) {
	p := grouped(t, numbered(t, 421337), []string{"ann"}, 1)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s %d", p, *p, p, []any{p}, *p),
		fmt.Sprint(struct{ p *records.Persons }{p}), fmt.Sprintf("%s", struct{ p any }{p})} {
		if strings.Contains(text, "421337") || strings.Contains(text, "ann") {
			t.Errorf("persons print as %s", text)
		}
	}
	if j, err := json.Marshal(p); string(j) != `"[private]"` {
		t.Errorf("persons as JSON: got %s and error %v, want [private]", j, err)
	}
}

// TestCheckReadsAllRowsOfPersons: Check reads all rows, although a person read as Data is only the
// first row.
func TestCheckReadsAllRowsOfPersons(t *testing.T) {
	schema := must(records.NewSchema(records.Numeric("x", 0, 9)))(t)
	rows, err := records.FromValues(schema, []any{1}, []any{99}, []any{2})
	if err != nil {
		t.Fatal(err)
	}
	err = records.Check(grouped(t, rows, []string{"ann", "ann", "bob"}, 2))
	if err == nil || !strings.Contains(err.Error(), `row 1, column "x": outside the bounds`) {
		t.Errorf("Check returns %v, want a value outside the bounds in row 1", err)
	}
}

func TestPersonsInSchemaFiles(t *testing.T) {
	table := must(records.NewSchema(records.Numeric("x", 0, 9)))(t)
	for _, s := range []records.Schema{records.Binary(3), records.Sets(4, 2), table} {
		text := must(json.Marshal(s.ByPerson(7)))(t)
		var back records.Schema
		if err := json.Unmarshal(text, &back); err != nil || back.RowsPerPerson() != 7 || !back.Equal(s) {
			t.Errorf("%s is read as %v: %v", text, back, err)
		}
		if !strings.Contains(back.String(), "at most 7 per person") {
			t.Errorf("%v does not state the rows per person", back)
		}
		bad := strings.Replace(string(text), `"rows_per_person":7`, `"rows_per_person":-7`, 1)
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestReadPersons(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 9))
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string, most int) *records.Persons {
		t.Helper()
		p, err := records.CSV{Header: true}.ReadPersons(strings.NewReader(text), s, "who", most)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	// Unreadable lines, and lines without a name, belong to no person.
	p := read("who,x\nann,1\nbob,2\n ann ,3\n,4\nann,5,6\nbob\n\"ann,7\nAnn,8\n\"ann\",9\n", 5)
	if p.Len() != 3 || p.Rows().Len() != 5 {
		t.Fatalf("got %d persons of %d rows, want 3 of 5", p.Len(), p.Rows().Len())
	}
	var values []float64
	frame, _ := records.AsFrame(p.Rows())
	for i := range frame.Len() {
		values = append(values, frame.Number(i, 0))
	}
	if !slices.Equal(values, []float64{1, 3, 9, 2, 8}) {
		t.Errorf("the persons' values are %v", values)
	}
	for _, c := range []struct{ text, person, want string }{
		{"who,x\n", "x", "not in the schema"}, {"x\n1\n", "who", "column"},
		{"who,who,x\n", "who", "column"},
	} {
		_, err := records.CSV{Header: true}.ReadPersons(strings.NewReader(c.text), s, c.person, 2)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q by column %s: got wrong error %v", c.text, c.person, err)
		}
	}
	_, err = records.CSV{Header: true}.ReadPersons(strings.NewReader(""), s, "who", 0)
	if err == nil {
		t.Error("a limit of 0 rows per person is accepted")
	}
}
