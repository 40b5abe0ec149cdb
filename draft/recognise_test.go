package draft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/records"
)

// TestColumnsAreRecognised drafts a column of each kind of text. The drafted schema reads every row
// that it was drafted from without a cell outside it.
func TestColumnsAreRecognised(t *testing.T) {
	rows := func(f func(i int) any) (list []string) {
		for i := range 40 {
			list = append(list, fmt.Sprint(f(i)))
		}
		return list
	}
	for name, c := range map[string]struct {
		texts []string
		want  string // of the column
		as    string // part of what is said
		or    string
	}{
		"whole": {rows(func(i int) any { return i * i }),
			`x: integer [0, 1521]`, "whole", "identifiers"},
		"real": {[]string{"-0", "2.5", "NA"},
			`x: numeric [0, 2.5], may be missing`, "numbers", ""},
		"exact": {[]string{"9007199254740993", "9007199254740995"},
			`x: integer [9007199254740993, 9007199254740995]`, "whole", ""},
		"constant": {[]string{"7", "7", "7"}, `x: categorical ["7"]`, "a single value", ""},
		"flag":     {[]string{"yes", "no", "yes"}, `x: flag ["no" "yes"]`, "2 different", ""},
		"codes": {[]string{"007", "012", "007", "100"},
			`x: categorical ["007" "012" "100"]`, "leading zeros", ""},
		"numbers": {rows(func(i int) any { return fmt.Sprintf("%08d", 345839+i*7) }),
			`x: identifier pattern:########`, "identifiers", "levels"},
		"customers": {rows(func(i int) any { return fmt.Sprintf("C-%05d", i*31) }),
			`x: identifier pattern:C-#####`, "identifiers", "levels"},
		"uuids": {rows(func(i int) any { return fmt.Sprintf("0b7c1d6e-93a4-4f62-8a3f-%012x", i) }),
			`x: identifier uuid`, "UUIDs", "levels"},
		"names": {rows(func(i int) any { return strings.Repeat("ab", i+1) }),
			`x: hashed into 64 buckets`, "too many", "left out"},
		"cities": {append(rows(func(i int) any { return fmt.Sprint("city ", i) }), "city 3"),
			`x: hashed into 64 buckets`, "too many", "levels"},
		"dates": {[]string{"2024-03-20", "2023-01-31", ""},
			`x: datetime [2023-01-31, 2024-03-20] by 24h0m0s, may be missing`, "whole steps of 24h", ""},
		"one date": {[]string{"2024-03-20", "2024-03-20"},
			`x: datetime [2024-03-20, 2024-03-21] by 24h0m0s`, "dates", ""},
		"times": {[]string{"2024-03-20 10:30", "2024-03-21T09:00:00"},
			`x: datetime [2024-03-20T10:30:00Z, 2024-03-21T09:00:00Z] by 1m0s`, "of 1m", ""},
		"offsets": {[]string{"2024-03-20T10:30:00+05:30", "2024-03-20T10:30:00-05:00"},
			`x: datetime [2024-03-20T05:00:00Z, 2024-03-20T15:30:00Z] by 1m0s`, "converted to UTC", ""},
		"fractions": {[]string{"2024-03-20T10:30:00.25Z", "2024-03-20T10:30:01Z"},
			`x: datetime [2024-03-20T10:30:00.250Z, 2024-03-20T10:30:01.000Z] by 1ms`, "of 1ms", ""},
		"compact dates": {[]string{"20240320", "20231231"},
			`x: integer [2.0231231e+07, 2.024032e+07]`, "whole", "20240320"},
		"slashes": {[]string{"03/20/2024", "12/31/2023", "01/01/2024"},
			`x: categorical ["01/01/2024" "03/20/2024" "12/31/2023"]`, "3 different", "slashes"},
		"money": {[]string{"$1,234.50", "$7", "$12"},
			`x: categorical ["$1,234.50" "$12" "$7"]`, "3 different", "signs"},
		"comma": {[]string{"1,5", "2,5", "3"},
			`x: categorical ["1,5" "2,5" "3"]`, "3 different", "commas"},
	} {
		var file strings.Builder
		file.WriteString("x,y\n")
		for i, text := range c.texts {
			fmt.Fprintf(&file, "%q,%d\n", text, i)
		}
		layout := records.CSV{Header: true}
		layout.Missing = []string{"", "NA"}
		s, all, err := draft.Recognise(strings.NewReader(file.String()), layout,
			draft.Public{MaxLevels: 30})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := s.Columns()[0].String(); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		if r := all[0]; !strings.Contains(r.As, c.as) || !strings.Contains(r.Or, c.or) ||
			(c.or == "") != (r.Or == "") || r.Cells != len(c.texts) || r.Kind != s.Columns()[0].Kind() {
			t.Errorf("%s: recognised as %+v", name, r)
		}
		strays := 0
		layout.Strays = func(int, string, string) { strays++ }
		if _, err := layout.ReadFrame(strings.NewReader(file.String()), s); err != nil || strays > 0 {
			t.Errorf("%s: %d cells are outside the draft; %v", name, strays, err)
		}
	}
}

// TestEmptyColumnsAreLeftOut: a column without any value is said and left out, and the others stay.
func TestEmptyColumnsAreLeftOut(t *testing.T) {
	s, all, err := draft.Recognise(strings.NewReader("a,b\n1,\n2,?\n"), records.CSV{Header: true},
		draft.Public{})
	if err != nil || len(s.Columns()) != 1 || s.Columns()[0].Name() != "a" || len(all) != 2 ||
		all[1].Missing != 2 || !strings.Contains(all[1].As, "left out") {
		t.Errorf("%v, %+v, %v", s.Columns(), all, err)
	}
}
