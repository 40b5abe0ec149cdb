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
			`x: hashed into 5 buckets`, "too many", "left out"},
		"cities": {append(rows(func(i int) any { return fmt.Sprint("city ", i) }), "city 3"),
			`x: hashed into 19 buckets`, "too many", "levels"},
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
			`x: datetime [2023-12-31, 2024-03-20] by 24h0m0s`, "form 20060102", "whole"},
		"clock": {rows(func(i int) any { return fmt.Sprintf("%d:%02d", i/2, i) }),
			`x: duration [0s, 23h59m0s] by 1m0s`, "form 15:04, in whole steps of 1m", "minutes and seconds"},
		"clock of 12 hours": {[]string{"12:30 AM", "1:05 PM", "11:00 PM"},
			`x: duration [0s, 23h59m0s] by 1m0s`, "form 3:04 PM", ""},
		"zeros": {[]string{"12:30am", "01:05pm", "n/a"},
			`x: duration [0s, 23h59m0s] by 1m0s, may be missing`, "form 03:04pm", ""},
		"clock with seconds": {[]string{"23:59:59", "7:00:00", "12:00:00"},
			`x: duration [0s, 23h59m59s] by 1s`, "form 15:04:05", ""},
		"parts of a second": {[]string{"23:59:59.5", "07:00:00.25"},
			`x: duration [0s, 23h59m59.999s] by 1ms`, "form 15:04:05", ""},
		"tenths": {[]string{"23:59:59.5", "07:00:00.2"},
			`x: duration [0s, 23h59m59.9s] by 100ms`, "form 15:04:05", ""},
		"shifts": {append(rows(func(i int) any { return []string{"06:00", "14:00"}[i%2] }),
			rows(func(i int) any { return "22:00" })...),
			`x: categorical ["06:00" "14:00" "22:00"]`, "3 different texts", ""},
		"prices": {append(rows(func(i int) any { return []string{"$3,400.50", "$7"}[i%2] }),
			rows(func(i int) any { return "$1,200" })...),
			`x: ordinal ["$7" "$1,200" "$3,400.50"]`, "3 different numbers", "numbers"},
		"lengths": {rows(func(i int) any { return fmt.Sprintf("%d:%02d", i, i) }),
			`x: hashed into 16 buckets`, "too many", "left out"},
		"slashes": {[]string{"03/20/2024", "12/31/2023", "01/01/2024"},
			`x: datetime [2023-12-31, 2024-03-20] by 24h0m0s`, "form 01/02/2006", ""},
		"days first": {[]string{"03/02/2024", "31/12/2023"},
			`x: datetime [2023-12-31, 2024-02-03] by 24h0m0s`, "form 02/01/2006", ""},
		"either order": {[]string{"03/02/2024", "01/12/2023"},
			`x: datetime [2023-01-12, 2024-03-02] by 24h0m0s`, "form 01/02/2006", "form 02/01/2006"},
		"zoned": {[]string{"2024-03-02 10:30:00 +0100", "2023-01-12 10:30:00 +0100"},
			`x: datetime [2023-01-12T09:30:00Z, 2024-03-02T09:30:00Z] by 1m0s`, "2006-01-02 15:04:05 -0700",
			"2006-02-01"},
		"points": {[]string{"1.234.567", "2.345.678"}, `x: integer [1.234567e+06, 2.345678e+06]`,
			"form 1.234", ""},
		"day after year": {[]string{"2024-20-03", "2024-01-04"},
			`x: datetime [2024-03-20, 2024-04-01] by 24h0m0s`, "form 2006-02-01", ""},
		"points and time": {[]string{"20.03.2024 10:30", "21.03.2024 09:00"},
			`x: datetime [2024-03-20T10:30:00Z, 2024-03-21T09:00:00Z] by 1m0s`, "02.01.2006 15:04", ""},
		"month's name": {[]string{"Mar 20, 2024", "Dec 31, 2023"},
			`x: datetime [2023-12-31, 2024-03-20] by 24h0m0s`, "form Jan 02, 2006", ""},
		"money": {[]string{"$1,234.50", "$7", "$12"}, `x: numeric [7, 1234.5] by 0.01`,
			"form $1,234.5", ""},
		"loss": {[]string{"-$1,234", "$7", "12"},
			`x: integer [-1234, 12]`, "form $1,234", "form $1234,5"},
		"euros": {[]string{"1.234,50 €", "7,00 €"}, `x: numeric [7, 1234.5] by 0.01`, "1.234,5 €", ""},
		"share": {[]string{"50%", "7.5%", "0%"}, `x: numeric [0, 50] by 0.1`, "1234.5%", ""},
		"comma": {[]string{"1,5", "2,5", "3"}, `x: numeric [1.5, 3] by 0.1`, "form 1234,5", ""},
		"mixed": {[]string{"1234.5", "2,345.5"},
			`x: numeric [1234.5, 2345.5] by 0.1`, "form 1,234.5", ""},
		"either": {[]string{"1,234", "2,345"}, `x: integer [1234, 2345]`, "form 1,234",
			"form 1234,5"},
		"spellings": {[]string{"Yes", "no", "YES", "y", "No"}, `x: flag ["No" "YES"]`, "yes or no", ""},
		"seconds": {[]string{"1710930600", "1710930601"}, `x: integer [1.7109306e+09, 1.710930601e+09]`,
			"whole", ""},
		"not numbers": {[]string{"1,23", "4,5,6", "x"}, `x: categorical ["1,23" "4,5,6" "x"]`,
			"3 different", ""},
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
		f, err := layout.ReadFrame(strings.NewReader(file.String()), s)
		if err != nil || strays > 0 {
			t.Errorf("%s: %d cells are outside the draft; %v", name, strays, err)
			continue
		}
		var out strings.Builder // what is written is read again as the same values
		layout.Strays = nil
		if err := layout.WriteFrame(&out, f); err != nil {
			t.Fatal(err)
		}
		again, err := layout.ReadFrame(strings.NewReader(out.String()), s)
		for i := range c.texts {
			if err != nil || again.Value(i, 0) != f.Value(i, 0) {
				t.Errorf("%s: row %d comes back as %v, want %s; %v", name, i, again, f.Value(i, 0), err)
			}
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

// TestTimesSince1970 takes whole numbers for times only if the column's name says so.
func TestTimesSince1970(t *testing.T) {
	for text, format := range map[string]string{"1710930600": "unix", "1710930600250": "unix-ms"} {
		s, all, err := draft.Recognise(strings.NewReader("created_at,n\n"+text+",1\n1"+text[1:]+
			",2\n1800000000"+text[10:]+",3\n"), records.CSV{Header: true}, draft.Public{})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Columns()[0]; c.Kind() != records.DatetimeColumn || c.Format() != format {
			t.Errorf("%s: got %v of format %q: %+v", text, c, c.Format(), all[0])
		}
	}
}
