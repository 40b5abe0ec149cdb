package records_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// size is a user-defined type with a text form.
type size int

func (s size) MarshalText() ([]byte, error) {
	if s < 0 || s > 1 {
		return nil, fmt.Errorf("size %d", int(s))
	}
	return []byte([]string{"S", "L"}[s]), nil
}

func (s *size) UnmarshalText(text []byte) error {
	*s = size(strings.Index("SL", string(text)))
	return nil
}

type name string

type address struct {
	Town name `privgen:"town"`
}

type person struct {
	Age      *int8   `privgen:"age"`
	Height   float32 `privgen:"height"`
	Smokes   bool    `privgen:"smokes"`
	Size     size    `privgen:"size"`
	Income   *string `privgen:"income"`
	Visits   uint16
	Internal chan int `privgen:"-"`
	address2
	address
}

type address2 struct{ Unused complex64 }

func persons(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(
		records.Integer("age", -1, 127).WithMissing(),
		records.Numeric("height", 0.5, 2.5),
		records.Flag("smokes", "no", "yes"),
		records.Ordinal("size", "S", "L"),
		records.Categorical("town", "Köln", "Bonn").WithOther("Bonn"),
		records.Categorical("income", "low", "high").WithMissing(),
		records.Integer("Visits", 0, 65535),
	))(t)
}

func pointer[T any](v T) *T { return &v }

func TestStructsComeBack(t *testing.T) {
	rows := []person{
		{Age: pointer(int8(33)), Height: 1.5, Smokes: true, Size: 1, Income: pointer("high"),
			Visits: 65535, address: address{"Köln"}},
		{Height: 2, address: address{"Bonn"}},
	}
	f := must(records.FromStructs(persons(t), rows))(t)
	if err := records.Check(f); err != nil {
		t.Error(err)
	}
	if got, want := cellsOf(f), "33,1.5,yes,L,Köln,high,65535;,2,no,S,Bonn,,0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	back := must(records.Into[person](f))(t)
	if !reflect.DeepEqual(back, rows) {
		t.Errorf("%+v is converted back to %+v", rows, back)
	}
}

// TestStrayStructsAreRecords: structs with invalid values become records without an error.
func TestStrayStructsAreRecords(t *testing.T) {
	rows := []person{{Height: float32(math.NaN()), Size: 7, address: address{"Ulm"},
		Income: pointer("secret")}}
	f := must(records.FromStructs(persons(t), rows))(t)
	if records.Check(f) == nil {
		t.Error("Check accepts invalid values")
	}
	if got := must(records.Into[person](f))(t)[0]; got.Town != "Bonn" || got.Height != 0.5 ||
		got.Income != nil {
		t.Errorf("got wrong values in %+v", got)
	}
}

func TestStructsThatDoNotFit(t *testing.T) {
	s := must(records.NewSchema(records.Integer("a", 0, 300), records.Numeric("b", 0, 1).WithMissing(),
		records.Categorical("c", "x", "y", "z")))(t)
	type good struct {
		A int      `privgen:"a"`
		B *float64 `privgen:"b"`
		C string   `privgen:"c"`
	}
	if _, err := records.FromStructs(s, []good{{}}); err != nil {
		t.Error(err)
	}
	f := must(records.FromValues(s, []any{1, 1, "x"}))(t)
	type lacking struct {
		A int `privgen:"a"`
	}
	type twice struct {
		good
		D int `privgen:"a"`
	}
	type unknown struct {
		good
		D int `privgen:"d"`
	}
	type unexported struct {
		A int      `privgen:"a"`
		B *float64 `privgen:"b"`
		c string   `privgen:"c"`
	}
	type behind struct{ *good }
	type complexes struct {
		A complex128 `privgen:"a"`
		B *float64   `privgen:"b"`
		C string     `privgen:"c"`
	}
	_ = unexported{c: ""}
	refused := func(what string, err error, says string) {
		t.Helper()
		if wrong := new(param.Error); !errors.As(err, &wrong) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got wrong error %v", what, err)
		}
	}
	refused("no struct", second(records.FromStructs(s, []int{1})), "a struct")
	refused("vectors", second(records.FromStructs(records.Binary(3), []good{{}})), "tables")
	refused("no field", second(records.FromStructs(s, []lacking{{}})), `"b"`)
	refused("two fields", second(records.FromStructs(s, []twice{{}})), "again")
	refused("a tag of no column", second(records.FromStructs(s, []unknown{{}})), `D`)
	refused("an unexported field", second(records.FromStructs(s, []unexported{{}})), "exported")
	refused("a field behind a pointer", second(records.FromStructs(s, []behind{{}})), "exported")
	refused("complex numbers", second(records.FromStructs(s, []complexes{{}})), "complex128")
	refused("into complex numbers", second(records.Into[complexes](f)), "0 to 300")
	refused("into nothing", second(records.Into[good](nil)), "records")
	refused("vectors into structs", second(records.Into[good](must(records.FromFlat(records.Binary(1),
		nil))(t))), "table")
	type bytes struct {
		A uint8    `privgen:"a"`
		B *float64 `privgen:"b"`
		C string   `privgen:"c"`
	}
	refused("numbers too small for their column", second(records.Into[bytes](f)), "uint8")
	type whole struct {
		A int    `privgen:"a"`
		B *int   `privgen:"b"`
		C string `privgen:"c"`
	}
	refused("fractions into integers", second(records.Into[whole](f)), "float")
	type sure struct {
		A int     `privgen:"a"`
		B float64 `privgen:"b"`
		C string  `privgen:"c"`
	}
	refused("a missing value without a pointer", second(records.Into[sure](f)), "pointer")
	type flag struct {
		A int      `privgen:"a"`
		B *float64 `privgen:"b"`
		C bool     `privgen:"c"`
	}
	refused("three levels into a bool", second(records.Into[flag](f)), "text")
}

// choosy is a type that accepts only one level.
type choosy struct{}

func (*choosy) UnmarshalText(text []byte) error {
	if string(text) != "low" {
		return fmt.Errorf("%s is refused", text)
	}
	return nil
}

// TestRefusedLevelsTellNoRecord: the error for a type that rejects a level does not depend on the
// records.
func TestRefusedLevelsTellNoRecord(t *testing.T) {
	s := must(records.NewSchema(records.Ordinal("income", "low", "high", "none")))(t)
	type row struct {
		Income choosy `privgen:"income"`
	}
	want := ""
	for _, level := range []string{"low", "high", "none"} {
		f := must(records.FromValues(s, []any{level}))(t)
		_, err := records.Into[row](f)
		if wrong := new(param.Error); !errors.As(err, &wrong) {
			t.Fatalf("%s: got error %v, want *param.Error", level, err)
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Errorf("the error depends on the records: %q, %q", want, err)
		}
	}
}

func ExampleFromStructs() {
	type patient struct {
		Age    int  `privgen:"age"`
		Smokes bool `privgen:"smokes"`
	}
	schema, err := records.NewSchema(
		records.Integer("age", 0, 120),
		records.Flag("smokes", "no", "yes"),
	)
	if err != nil {
		panic(err)
	}
	table, err := records.FromStructs(schema, []patient{{41, true}, {130, false}})
	if err != nil {
		panic(err)
	}
	back, err := records.Into[patient](table) // as for the rows that a generator samples
	if err != nil {
		panic(err)
	}
	fmt.Println(back)
	// Output: [{41 true} {120 false}]
}
