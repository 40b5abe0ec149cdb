// These tests use integers beyond 32 bits as int constants, so int must have 64 bits.

//go:build amd64 || arm64

package synth_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// stays returns the schema of a table of hospital stays. It has datetimes of different precision
// and origin, two of which may be missing. It has keys that float64 cannot represent, amounts, and
// persons, which may be missing too. Some category names look like missing values or like each
// other.
func stays(t testing.TB) records.Schema {
	t.Helper()
	berlin := time.FixedZone("summer", 2*3600)
	s, err := records.NewSchema(
		records.Integer("hospital", 1<<53-2, 1<<53+40),
		records.Integer("case", -1<<60, 1<<60),
		records.Integer("person", 1<<53, 1<<53+400).WithMissing(),
		records.Categorical("town", "ä", "a\u0308", "NA", "null", "-", "日本").WithMissing(),
		records.Categorical("country", "DE", "NA", "JP").WithMissing(),
		records.Datetime("admitted", day("2024-03-30"), day("2024-04-02"), time.Hour),
		records.Datetime("operated", time.Date(2024, 3, 29, 23, 17, 1, 5, time.UTC),
			time.Date(2024, 4, 4, 0, 0, 0, 0, berlin), 7*time.Second+3).WithMissing(),
		records.Datetime("discharged", day("2024-03-28"), day("2024-04-05"), 24*time.Hour).WithMissing(),
		records.Duration("waited", -time.Hour, 5*time.Hour, time.Millisecond).WithMissing(),
		records.Duration("surgery", 0, 9*time.Hour, time.Microsecond),
		records.Ordinal("before", "none", "some", "bad"), records.Ordinal("after", "none", "some", "bad"),
		records.Numeric("net", -0.3, 0.3), records.Numeric("gross", 0.1, 1.7).WithMissing(),
		records.Integer("few", 0, 5), records.Integer("many", -3, 1<<54),
		records.Hashed("drug", 9), records.Label("outcome", "null", "well"))
	if err != nil {
		t.Fatal(err)
	}
	return s.WithConstraints(
		records.Combinations([]string{"town", "country"}, []string{"ä", "DE"},
			[]string{"a\u0308", "DE"}, []string{"NA", "NA"}, []string{"-", "JP"}, []string{"日本", "JP"},
			[]string{"", ""}, []string{"null", ""}).Repaired(),
		records.Determines([]string{"person", "outcome"}),
		records.Determines([]string{"drug", "outcome", "before", "few"}),
		records.StrictlyAscending("admitted", "operated", "discharged"),
		records.Within("admitted", "2024-03-31T00:30:00+01:00", nil),
		records.Ascending("waited", "surgery").Repaired(),
		records.Within("waited", "-0.0015", time.Hour).OrMissing(),
		records.Ascending("after", "before"), records.Ascending("net", "gross"),
		records.Within("net", "0.1", 0.2), records.StrictlyAscending("few", "many"),
		records.Only("hospital", 1<<53+1, 1<<53+3, 1<<53+4, 1<<53+5, 1<<53-1),
		records.Unique("hospital", "case"))
}

// TestNoHardConstraintIsBroken checks that none of a thousand stays, or of a million with the flag
// -million, violates a constraint. The check reads the cells from their text and shares no code
// with the enforcement. The test also checks that rows written as lines of JSON or as CSV are read
// back unchanged.
func TestNoHardConstraintIsBroken(t *testing.T) {
	n := 1_000
	if *million {
		n = 1_000_000
	}
	s := stays(t)
	c := stayChecker{keys: map[string]bool{}, outcomes: map[string]string{}, few: map[string]string{}}
	total := 0
	for part, err := range generatorOf(s).Stream(t.Context(), n, synth.Seed(1)) {
		if err != nil {
			t.Fatal(err)
		}
		f, _ := records.AsFrame(part)
		if err := records.Check(f); err != nil {
			t.Fatal(err)
		}
		for i := range f.Len() {
			if what := c.broken(f, i); what != "" {
				t.Fatalf("row %d violates the constraint %q: %s", i, what, f.AppendJSON(nil, i))
			}
		}
		if total == 0 {
			comeBack(t, f.Slice(0, min(f.Len(), 3000)))
		}
		total += f.Len()
	}
	if total != n || len(c.keys) != n {
		t.Errorf("got %d stays, want %d; got %d distinct keys", total, n, len(c.keys))
	}
}

// comeBack checks that rows keep their cells when they are written and read again.
func comeBack(t *testing.T, f *records.Frame) {
	t.Helper()
	write := map[string]func(*bytes.Buffer) error{
		"JSON": func(b *bytes.Buffer) error { return records.JSONLines{}.WriteFrame(b, f) },
		"CSV":  func(b *bytes.Buffer) error { return records.CSV{Header: true}.WriteFrame(b, f) },
	}
	read := map[string]func(*bytes.Buffer) (*records.Frame, error){
		"JSON": func(b *bytes.Buffer) (*records.Frame, error) {
			return records.JSONLines{}.ReadFrame(b, f.Schema())
		},
		"CSV": func(b *bytes.Buffer) (*records.Frame, error) {
			return records.CSV{Header: true}.ReadFrame(b, f.Schema())
		},
	}
	for name := range write {
		var b bytes.Buffer
		if err := write[name](&b); err != nil {
			t.Fatal(err)
		}
		back := must(read[name](&b))(t)
		for i := range f.Len() {
			if x, y := f.AppendJSON(nil, i), back.AppendJSON(nil, i); !bytes.Equal(x, y) {
				t.Fatalf("%s: row %d is read back as\n%s, want\n%s", name, i, y, x)
			}
		}
	}
}

// A stayChecker remembers the keys of all stays and the outcome of each person. It also remembers
// the value of the column "few" for each combination of drug, outcome and "before".
type stayChecker struct {
	keys          map[string]bool
	outcomes, few map[string]string
}

// broken returns the name of a constraint that a row violates, or "" if it violates none.
func (c *stayChecker) broken(f *records.Frame, i int) string {
	cell := map[string]string{}
	for j, column := range f.Schema().Columns() {
		cell[column.Name()] = f.Value(i, j)
	}
	moment := func(name string) time.Time {
		m, err := time.Parse(time.RFC3339, cell[name])
		if err != nil {
			m, err = time.Parse(time.DateOnly, cell[name])
		}
		if err != nil {
			panic(err)
		}
		return m
	}
	number := func(name string) *big.Rat {
		x, ok := new(big.Rat).SetString(cell[name])
		if !ok {
			panic(name + ": " + cell[name])
		}
		return x
	}
	less := func(strict bool, names ...string) bool {
		var last *big.Rat
		for _, name := range names {
			if cell[name] == "" {
				continue
			}
			x := number(name)
			if last != nil && (last.Cmp(x) > 0 || strict && last.Cmp(x) == 0) {
				return false
			}
			last = x
		}
		return true
	}
	var last time.Time
	for _, name := range []string{"admitted", "operated", "discharged"} {
		if cell[name] == "" {
			continue
		}
		m := moment(name)
		if !last.IsZero() && !last.Before(m) {
			return "admitted < operated < discharged"
		}
		last = m
	}
	if moment("admitted").Before(time.Date(2024, 3, 30, 23, 30, 0, 0, time.UTC)) {
		return "the first admission"
	}
	pair := cell["town"] + "/" + cell["country"]
	if !strings.Contains("|ä/DE|a\u0308/DE|NA/NA|-/JP|日本/JP|/|null/|", "|"+pair+"|") {
		return "town and country"
	}
	ranks := map[string]int{"none": 0, "some": 1, "bad": 2}
	net, tenth := number("net"), big.NewRat(1, 10)
	nearly := big.NewRat(1, 1<<50) // more than the rounding error of 0.1 and 0.2 as float64
	switch waited := cell["waited"]; {
	case !less(false, "waited", "surgery"):
		return "waited <= surgery"
	case waited != "" && (number("waited").Cmp(big.NewRat(-15, 10_000)) < 0 ||
		number("waited").Cmp(big.NewRat(3600, 1)) > 0):
		return "the time waited"
	case ranks[cell["after"]] > ranks[cell["before"]]:
		return "after <= before"
	case !less(false, "net", "gross"):
		return "net <= gross"
	case net.Cmp(new(big.Rat).Sub(tenth, nearly)) < 0 ||
		net.Cmp(new(big.Rat).Add(big.NewRat(1, 5), nearly)) > 0:
		return "net"
	case !less(true, "few", "many"):
		return "few < many"
	case !strings.Contains("9007199254740993 9007199254740995 9007199254740996 9007199254740997 "+
		"9007199254740991", cell["hospital"]):
		return "hospital"
	}
	if was, seen := c.outcomes[cell["person"]]; seen && was != cell["outcome"] {
		return "the outcome of a person"
	}
	c.outcomes[cell["person"]] = cell["outcome"]
	from := fmt.Sprintf("%q %q %q", cell["drug"], cell["outcome"], cell["before"])
	if was, seen := c.few[from]; seen && was != cell["few"] {
		return "few determined by drug, outcome and before"
	}
	c.few[from] = cell["few"]
	key := cell["hospital"] + "/" + cell["case"]
	if c.keys[key] {
		return "unique hospital and case"
	}
	c.keys[key] = true
	return ""
}

// TestNumbersOfTwoKindsAreNotCompared checks that Validate refuses to compare a numeric column with
// an integer column whose values float64 cannot represent, in any order of the columns.
func TestNumbersOfTwoKindsAreNotCompared(t *testing.T) {
	s := must(records.NewSchema(records.Integer("small", 0, 3), records.Numeric("x", 0, 1e17),
		records.Integer("large", 0, 1<<60)))(t)
	for _, columns := range [][]string{{"small", "x", "large"}, {"small", "large", "x"},
		{"x", "small", "large"}, {"large", "small", "x"}} {
		for _, c := range []records.Constraint{records.Ascending(columns...),
			records.StrictlyAscending(columns...), records.Ascending(columns...).Repaired()} {
			var mistake *param.Error
			if err := s.WithConstraints(c).Validate(); !errors.As(err, &mistake) {
				t.Errorf("%v: got error %v, want a *param.Error", c, err)
			}
		}
	}
	if err := s.WithConstraints(records.Ascending("small", "large")).Validate(); err != nil {
		t.Error(err)
	}
}
