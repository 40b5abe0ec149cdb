package records_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func schemas() map[string]records.Schema {
	table, _ := records.NewSchema(records.Numeric("a", -1, 2).WithMissing(),
		records.Categorical("b", "x", "y").WithOther("y"),
		records.Label("c", "n", "y").WithAlias("n", "no").WithOther("y"))
	other, _ := records.NewSchema(records.Numeric("a", -1, 2).Logarithmic(),
		records.Categorical("b", "x", "y"), records.Target("c", 0, 1))
	return map[string]records.Schema{
		"table":        table,
		"bare table":   table.WithoutLabels(),
		"another one":  other,
		"binary":       records.Binary(5),
		"interval":     records.Interval(3, -2, 7),
		"image":        records.Image(28, 28).WithLabels("0", "1", "2"),
		"binary image": records.BinaryImage(3, 4),
		"sets":         records.Sets(100, 9),
		"unknown":      records.Sets(100, 100).WithLabels("a", "b", "other").WithUnknown("other"),
	}
}

func TestSchemaSurvivesJSON(t *testing.T) {
	for name, s := range schemas() {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%s: got error %v, want none", name, err)
		}
		var back records.Schema
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: reading %s: %v", name, text, err)
		}
		if !back.Equal(s) {
			t.Errorf("%s: %v is read back from %s as %v", name, s, text, back)
		}
	}
}

func TestSchemasDiffer(t *testing.T) {
	all := schemas()
	for a, s := range all {
		for b, o := range all {
			if s.Equal(o) != (a == b) {
				t.Errorf("%s.Equal(%s) returns %v", a, b, s.Equal(o))
			}
		}
	}
}

func TestHostileSchemaJSON(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `{}`, `{"kind":"binary"}`, `{"kind":"binary","dim":-1}`,
		`{"kind":"binary","dim":1e30}`,
		`{"kind":"binary","dim":99999999999}`, `{"kind":"image","height":1073741824,"width":1073741824}`,
		`{"kind":"interval","dim":2}`, `{"kind":"interval","dim":2,"lo":1,"hi":1}`,
		`{"kind":"interval","dim":2,"lo":0,"hi":1e300}`,
		`{"kind":"sets","universe":4,"max_items":5}`, `{"kind":"sets","universe":4}`,
		`{"kind":"binary","dim":2,"height":3}`,
		`{"kind":"binary","dim":2,"classes":["a","a"]}`, `{"kind":"binary","dim":2,"unknown":1}`,
		`{"kind":"binary","dim":2,"bogus":1}`,
		`{"kind":"nothing","dim":2}`,
	} {
		s := records.Binary(3)
		if err := json.Unmarshal([]byte(text), &s); err == nil && text != "null" {
			t.Errorf("%s is accepted as %v", text, s)
		}
		if !s.Equal(records.Binary(3)) && text != "null" {
			t.Errorf("%s is rejected, but changes the schema", text)
		}
	}
}

func TestValidateNamesEveryMistake(t *testing.T) {
	for want, s := range map[string]records.Schema{
		"Kind":         {},
		"Dim":          records.Binary(0),
		"Bounds":       records.Interval(2, 1, 0),
		"Height×Width": records.Image(0, 5),
		"Universe":     records.Sets(0, 1),
		"MaxItems":     records.Sets(5, 6),
		"Classes[1]":   records.Binary(2).WithLabels("a", ""),
		"Unknown":      records.Binary(2).WithLabels("a").WithUnknown("b"),
	} {
		err := s.Validate()
		var shape *param.Error
		if !errors.As(err, &shape) || !strings.Contains(err.Error(), want) {
			t.Errorf("want a param.Error about %s, got %v", want, err)
		}
		if _, err := json.Marshal(s); err == nil {
			t.Errorf("%s: Marshal writes an invalid schema", want)
		}
	}
	both := records.Interval(0, math.NaN(), 1).Validate()
	if !strings.Contains(both.Error(), "Dim") || !strings.Contains(both.Error(), "Bounds") {
		t.Errorf("got error %v, want both mistakes, Dim and Bounds", both)
	}
	for name, s := range schemas() {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: Validate returns %v", name, err)
		}
	}
}

func TestSchemaIsAValue(t *testing.T) {
	names := []string{"a", "b"}
	s := records.Binary(2).WithLabels(names...)
	fork := s.WithLabels("c")
	names[0] = "changed"
	s.ClassNames()[1] = "changed"
	if s.ClassName(0) != "a" || s.ClassName(1) != "b" || fork.Classes() != 1 || s.Classes() != 2 {
		t.Error("a schema shares its class names with a slice of the caller")
	}
	if s.ClassName(7) != "7" {
		t.Error("the name of a class outside the schema is not its number")
	}
}

func TestMaxNorm(t *testing.T) {
	for _, c := range []struct {
		s    records.Schema
		want float64
	}{
		{records.Binary(16), 4},
		{records.Image(28, 28), 28},
		{records.Interval(4, -3, 1), 6},
		{records.Sets(100, 9), 3},
		{records.Sets(4, 4), 2},
		{records.Binary(2), math.Sqrt2},
	} {
		got := c.s.MaxNorm()
		if got < c.want || got > c.want*(1+1e-15) {
			t.Errorf("%v: want norm %v, got %v", c.s, c.want, got)
		}
	}
}

func TestSchemaPrintsItself(t *testing.T) {
	for s, want := range map[string]string{
		records.Image(28, 28).WithLabels("a", "b").String(): "28×28 grey images, 2 classes",
		records.Sets(342, 40).String():                      "sets of at most 40 of 342 items",
		records.Schema{}.String():                           "no schema",
		records.Interval(3, -1, 1).String():                 "vectors of 3 in [-1, 1]",
	} {
		if s != want {
			t.Errorf("printed %q, want %q", s, want)
		}
	}
}
