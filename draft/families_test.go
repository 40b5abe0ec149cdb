package draft_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/records"
)

// recognise drafts the schema of a file with a header.
func recognise(t *testing.T, file string, comma rune) (records.Schema, []draft.Recognised) {
	t.Helper()
	s, all, err := draft.Recognise(strings.NewReader(file), records.CSV{Header: true, Comma: comma,
		Missing: []string{""}}, draft.Public{})
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

// file returns a table of columns of texts, and a column of numbers that makes it one.
func file(rows int, columns map[string]func(i int) string) string {
	var b strings.Builder
	names := make([]string, 0, len(columns))
	for name := range columns {
		names = append(names, name)
	}
	slices.Sort(names)
	b.WriteString("row|" + strings.Join(names, "|") + "\n")
	for i := range rows {
		fmt.Fprint(&b, i*i)
		for _, name := range names {
			b.WriteString("|" + columns[name](i))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// written reads a file by its draft and returns the texts that are written of it, by column.
func written(t *testing.T, text string, s records.Schema) map[string][]string {
	t.Helper()
	layout := records.CSV{Header: true, Comma: '|', Missing: draft.MissingTexts()}
	f, err := layout.ReadFrame(strings.NewReader(text), s)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := layout.WriteFrame(&out, f); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	texts := map[string][]string{}
	for j, name := range strings.Split(lines[0], "|") {
		for _, line := range lines[1:] {
			texts[name] = append(texts[name], strings.Split(line, "|")[j])
		}
	}
	return texts
}

// TestDatesAreWrittenBackAsTheyWere: any order of days, months and years, with any signs between
// them, is found, and what is read is written with the same bytes.
func TestDatesAreWrittenBackAsTheyWere(t *testing.T) {
	columns := map[string]func(int) string{}
	at := func(i int) time.Time {
		return time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC).Add(time.Duration(i) * 7777777 * time.Second)
	}
	layouts := []string{"2006-01-02", "20060102", "2006/01/02", "2006.01.02", "01/02/2006", "1/2/2006",
		"02.01.2006", "2.1.2006", "02-01-06", "1/2/06", "06.02.01", "2006-02-01", "02-Jan-2006",
		"2-Jan-06", "Jan 2, 2006", "2 January 2006", "January 02, 2006", "01 2, 2006", "02 Jan '06",
		"02Jan2006", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "02012006",
		"2006-01-02T15:04:05", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05-07:00",
		"2006-01-02T15:04:05-0700", "2006-01-02T15:04:05.000Z", "2006-01-02 15:04:05.00",
		"2006-01-02 15:04:05 UTC", "1/2/2006 3:04 PM", "01/02/2006 03:04:05 pm", "02.01.06 15:04",
		"20060102150405", "200601021504", "20060102T150405Z", "02/Jan/2006:15:04:05 -0700",
		"Mon, 02 Jan 2006 15:04:05 GMT", "Mon Jan _2 15:04:05 2006", "Monday, January 2, 2006",
		"2006年1月2日", "02-Jan-06 03.04.05.000000 PM", "15:04 02/01/2006"}
	for _, layout := range layouts {
		columns[layout] = func(i int) string { return at(i).Format(layout) }
	}
	text := file(80, columns)
	s, all := recognise(t, text, '|')
	back := written(t, text, s)
	for j, c := range s.Columns()[1:] {
		if c.Kind() != records.DatetimeColumn {
			t.Errorf("%s: got %v: %+v", c.Name(), c, all[j+1])
			continue
		}
		for i, got := range back[c.Name()] {
			if want := columns[c.Name()](i); got != want {
				t.Errorf("%s: row %d comes back as %s, want %s", c.Name(), i, got, want)
				break
			}
		}
	}
}

// TestNumbersAsPeopleWriteThem finds the signs of money, units and groups, and reads all numbers.
func TestNumbersAsPeopleWriteThem(t *testing.T) {
	forms := map[string]string{ // by example, whose 1234.5 is replaced by other numbers
		"1,234.5": "1,234.5", "$1,234.5": "$1,234.5", "1.234,5 €": "1.234,5 €", "1234,5": "1234,5",
		"R$ 1.234,5": "R$ 1.234,5", "1'234.5": "1'234.5", "1 234,5": "1 234,5",
		"USD 1234.5": "USD 1234.5",
		"1234.5kg":   "1234.5kg", "1234.5 km/h": "1234.5 km/h", "1234.5%": "1234.5%",
		"1234.5°C":    "1234.5°C",
		"Rs. 1,234.5": "Rs. 1,234.5", "1\u202f234,5": "1\u202f234,5", "1234.5 EUR": "1234.5 EUR",
		"€1.234,5": "€1.234,5", "1234,5 Tage": "1234,5 Tage", "1,234.5円": "1,234.5円",
		"-1234.5": "", "1234.5": "", // the usual form needs no format
	}
	columns := map[string]func(int) string{}
	for example := range forms {
		before, rest, _ := strings.Cut(example, "1")
		group, rest, _ := strings.Cut(rest, "234")
		point, after, _ := strings.Cut(rest, "5")
		columns[example] = func(i int) string {
			whole := fmt.Sprint(i*i%900 + 1)
			if i%3 > 0 || group == "" {
				whole += group + fmt.Sprintf("%03d", 7*i)
			}
			return before + whole + point + fmt.Sprint(1+i%9) + after
		}
	}
	text := file(60, columns)
	s, all := recognise(t, text, '|')
	back := written(t, text, s)
	for j, c := range s.Columns()[1:] {
		zeros := strings.ReplaceAll(forms[c.Name()], "5", "0")
		if c.Kind() != records.NumericColumn || c.Format() != zeros && zeros != "" || c.Step() != 0.1 {
			t.Errorf("%s: got %v of format %q: %+v", c.Name(), c, c.Format(), all[j+1])
			continue
		}
		for i, got := range back[c.Name()] {
			if want := columns[c.Name()](i); got != want {
				t.Errorf("%s: row %d comes back as %s, want %s", c.Name(), i, got, want)
				break
			}
		}
	}
}

// TestNumbersThatNameSomething are no numbers: digits with leading zeros, long and equally long
// ones, versions, and codes with letters.
func TestNumbersThatNameSomething(t *testing.T) {
	spread := func(i int) int { return (i*7919 + 13) * 104729 % 1000000007 }
	rule := func(pattern string) string { return "identifier pattern:" + pattern }
	wants := map[string]string{"ean": rule("4############"), "order": rule("C-######"),
		"material": rule("000000########"), "card": rule("4### ####"), "phone": "hashed into",
		"version": `categorical ["1.10" "1.2" "1.9"]`, "hex": "hashed into", "mac": "hashed into",
		"snowflake": rule("#########0#########"), "flat": rule("###?"), "score": "hashed into",
		"code": "hashed into"}
	texts := map[string]func(int) string{
		"ean":      func(i int) string { return fmt.Sprintf("4%012d", 1000*spread(i)+i) },
		"order":    func(i int) string { return fmt.Sprintf("C-%06d", 31*i) },
		"material": func(i int) string { return fmt.Sprintf("000000%08d", spread(i)%100000000) },
		"card": func(i int) string {
			return fmt.Sprintf("4%03d %04d", spread(i)%1000, spread(i+99)%10000)
		},
		"phone":   func(i int) string { return fmt.Sprintf("+%d %d", 30+i, spread(i)) },
		"version": func(i int) string { return []string{"1.2", "1.9", "1.10"}[i%3] },
		"hex":     func(i int) string { return fmt.Sprintf("%08x", spread(i)) },
		"mac": func(i int) string {
			return fmt.Sprintf("%02X:%02X", spread(i)%256, spread(i+5)%256)
		},
		"snowflake": func(i int) string {
			return fmt.Sprintf("%d%010d", 123456789+spread(i)/2, spread(i+1))
		},
		"flat":  func(i int) string { return fmt.Sprintf("%d%c", 3*i, 'A'+rune(i%3)) },
		"score": func(i int) string { return fmt.Sprintf("%d-%d", i%17, i%13) },
		"code":  func(i int) string { return fmt.Sprintf("%03d", spread(i)%600) },
	}
	s, _ := recognise(t, file(200, texts), '|')
	for _, c := range s.Columns()[1:] {
		if !strings.Contains(c.String(), wants[c.Name()]) {
			t.Errorf("got %v, want %s", c, wants[c.Name()])
		}
	}
}

// TestWordsAmongNumbers are missing values: usual words in any share, and other words if they are
// few. The form of the column is found among them, and the draft says which they are.
func TestWordsAmongNumbers(t *testing.T) {
	columns := map[string]func(int) string{}
	words := []string{"N/A", "-", "--", ".", "null", "NULL", "(blank)", "#DIV/0!", `\N`, "nan",
		"k. A.",
		"ausstehend", "not taken"}
	for k, word := range words {
		columns[fmt.Sprintf("number %02d", k)] = func(i int) string {
			if i%3 == 1 {
				return word
			}
			return fmt.Sprintf("%d,%d %%", i, i%10)
		}
		columns[fmt.Sprintf("date %02d", k)] = func(i int) string {
			if i%3 == 1 {
				return word
			}
			return fmt.Sprintf("%02d.%02d.2024", 1+i%28, 1+i%12)
		}
	}
	columns["zeros"] = func(i int) string { return []string{"20240131", "00000000", "20240501"}[i%3] }
	columns["levels"] = func(i int) string { return []string{"red", "N/A", "blue"}[i%3] }
	columns["grades"] = func(i int) string { return []string{"A", "1", "2"}[i%3] }
	text := file(90, columns)
	s, all := recognise(t, text, '|')
	for j, c := range s.Columns()[1:] {
		r := all[j+1]
		switch name := c.Name(); name {
		case "levels", "grades": // in which a word is a level, and is written back
			if c.Kind() != records.CategoricalColumn || c.HasMissing() || len(c.Levels()) != 3 {
				t.Errorf("got %v", c)
			}
		default:
			if !c.IsNumber() && c.Kind() != records.DatetimeColumn || !c.HasMissing() || r.Missing != 30 {
				t.Errorf("got %v: %+v", c, r)
			}
			if name != "zeros" && len(r.Absent) != 1 {
				t.Errorf("%s: the words %q, want one", name, r.Absent)
			}
		}
	}
	for name, texts := range written(t, text, s) {
		if c, ok := columns[name]; ok && texts[1] != c(1) && name != "zeros" {
			t.Errorf("%s: a missing value is written as %q, want %q", name, texts[1], c(1))
		}
	}
}

// TestFewStraysDoNotDecide: a column is read in the way that misses few of its cells. If it misses
// more, it holds texts.
func TestFewStraysDoNotDecide(t *testing.T) {
	for strays, want := range map[int]records.ColumnKind{0: records.IntegerColumn,
		2: records.IntegerColumn, 5: records.HashedColumn} {
		s, all := recognise(t, file(200, map[string]func(int) string{"x": func(i int) string {
			if i >= 200-strays {
				return fmt.Sprintf("12;%d x9", i)
			}
			return fmt.Sprint(3 * i)
		}}), '|')
		if got := s.Columns()[1].Kind(); got != want || want == records.IntegerColumn &&
			all[1].Strays != strays {
			t.Errorf("%d strays: got %v, want %v: %+v", strays, got, want, all[1])
		}
	}
}

// TestFewNumbersAreLevels, if they are not counted: 0 and 1, shares of employment, or a code for no
// answer beyond the grades.
func TestFewNumbersAreLevels(t *testing.T) {
	texts := map[string][]string{"x01": {"0", "1", "1"}, "fte": {"1.0", "0.5", "0.75"},
		"grade": {"1", "99", "5"}, "vat": {"7 %", "19 %", "7 %"}, "count": {"3", "1", "2"}}
	columns := map[string]func(int) string{}
	for name, list := range texts {
		columns[name] = func(i int) string { return list[i%3] }
	}
	wants := map[string]string{"x01": `flag ["0" "1"]`, "fte": `ordinal ["0.5" "0.75" "1.0"]`,
		"grade": `ordinal ["1" "5" "99"]`, "vat": `flag ["7 %" "19 %"]`, "count": "integer [1, 3]"}
	s, _ := recognise(t, file(90, columns), '|')
	for _, c := range s.Columns()[1:] {
		if want := c.Name() + ": " + wants[c.Name()]; c.String() != want {
			t.Errorf("got %v, want %v", c, want)
		}
	}
}

// TestOneColumnTellsAboutAnother: where no text tells two forms apart, other columns do.
func TestOneColumnTellsAboutAnother(t *testing.T) {
	const clear, unclear = "%02d/%02d/2024", "%02d/%02d/2023"
	table := func(daysFirst, comma bool) string {
		return file(40, map[string]func(int) string{
			"clear": func(i int) string {
				if daysFirst {
					return fmt.Sprintf(clear, 1+i%28, 1+i%12)
				}
				return fmt.Sprintf(clear, 1+i%12, 1+i%28)
			},
			"unclear": func(i int) string { return fmt.Sprintf(unclear, 1+i%5, 2+i%9) },
			"decimal": func(i int) string {
				return strings.ReplaceAll(fmt.Sprintf("%d.%d", i, i%10), ".", map[bool]string{true: ",",
					false: "."}[comma])
			},
			"thousands": func(i int) string { return fmt.Sprintf("%d.%03d", 1+i, 7*i) },
		})
	}
	for _, first := range []bool{true, false} {
		s, _ := recognise(t, table(first, first), '|')
		layout, thousands := "01/02/2006", "1234.000"
		if first {
			layout, thousands = "02/01/2006", "1.234"
		}
		for name, want := range map[string]string{"clear": layout, "unclear": layout,
			"thousands": thousands} {
			if c := s.Columns()[s.ColumnIndex(name)]; c.Format() != want {
				t.Errorf("%s: got format %q, want %q", name, c.Format(), want)
			}
		}
	}
}

// TestHeadersAsPeopleWriteThem: the names of columns are found if they have digits, signs or
// blanks, if columns at the end have none, and if one of many is also a level.
func TestHeadersAsPeopleWriteThem(t *testing.T) {
	for text, good := range map[string]bool{
		"a,+/- %\nx,1\ny,2\n":                        true,
		"5-year rate,a\n1,x\n2,y\n":                  true,
		"geo,2019,2020\nDE,50.5,40\nFR,60,70\n":      true,
		"geo,1950,1990\nDE,1950,1951\nFR,7,19\n":     false, // the years could be values
		"geo,7,9\nDE,8,8.5\nFR,7.5,8\n":              false,
		"a,b,,\n1,x,,\n2,y,,\n":                      true,
		",a,b\n0,3,x\n1,4,y\n":                       true, // a column of row numbers
		"n,k,m,Closed\n1,2,3,Open\n4,5,6,Closed\n":   true,
		"n,Closed\n1,Open\n4,Closed\n":               false,
		"not taken,a\n1,x\n2,y\n":                    true,
		"12.5 kg,a\n1 kg,x\n2 kg,y\n":                false,
		"2024-01-31,a\n2023-05-06,x\n2022-07-08,y\n": false,
	} {
		_, err := draft.FromPublic(strings.NewReader(text), records.CSV{Header: true},
			draft.Public{Unsure: true})
		if (err == nil) != good {
			t.Errorf("%q: got error %v", text, err)
		}
	}
}

// TestColumnsOfOneName are left out, since no reader finds them.
func TestColumnsOfOneName(t *testing.T) {
	s, all := recognise(t, "n|x|x\n1|2|3\n4|5|6\n", '|')
	if len(s.Columns()) != 1 || len(all) != 3 || !strings.Contains(all[2].As, "left out") {
		t.Errorf("got %v: %+v", s.Columns(), all)
	}
}

// TestBucketsHaveTextsOfTheRows: generated records hold texts of the public rows, and not names of
// buckets.
func TestBucketsHaveTextsOfTheRows(t *testing.T) {
	rows := map[string]bool{}
	s, _ := recognise(t, file(400, map[string]func(int) string{"mail": func(i int) string {
		text := fmt.Sprintf("user%d@example.com", i*i%397)
		rows[text] = true
		return text
	}}), '|')
	c := s.Columns()[1]
	if c.Kind() != records.HashedColumn || len(c.Levels()) < 20 {
		t.Fatalf("got %v", c)
	}
	for _, text := range c.Levels() {
		if !rows[text] {
			t.Errorf("the bucket %q is no text of the rows", text)
		}
	}
}

// TestTextsThatNoLevelCanHave: texts with control characters are hashed, and bytes that are not
// UTF-8 are refused with their column.
func TestTextsThatNoLevelCanHave(t *testing.T) {
	s, _ := recognise(t, "n|x\n1|a\x01b\n2|c\n3|c\n4|a\x01b\n", '|')
	if got := s.Columns()[1].Kind(); got != records.HashedColumn {
		t.Errorf("got %v", got)
	}
	_, err := draft.FromPublic(strings.NewReader("n,x\n1,K\xf6ln\n2,Bonn\n"),
		records.CSV{Header: true}, draft.Public{})
	if !errors.Is(err, records.ErrFormat) || !strings.Contains(err.Error(), "column 2 is not UTF-8") {
		t.Errorf("got error %v", err)
	}
}
