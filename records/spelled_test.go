package records_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// TestFormatsKeepNumbers: numbers that are written with an exponent otherwise, and whole numbers
// that no float64 represents, are read as they were written, in every format.
func TestFormatsKeepNumbers(t *testing.T) {
	most := math.MaxInt >> 3 // beyond 2^53 with 64 bits
	for _, format := range []string{"1234.00", "€ 1.234,00", "1,234.00;(1,234.00)", "+1234.000",
		"1234,5 %"} {
		s, err := records.NewSchema(records.Numeric("x", -1e20, 1e20).WithFormat(format),
			records.Integer("n", -most, most).WithFormat(format))
		if err != nil {
			t.Fatal(err)
		}
		f, err := records.FromValues(s, []any{1e-6, most}, []any{-2.5e-7, -most + 2},
			[]any{3e17, most - 2}, []any{1e-300, 0}, []any{-7e19, 10})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := (records.CSV{Header: true}).WriteFrame(&file, f); err != nil {
			t.Fatal(err)
		}
		written := strings.Split(file.String(), "\n")
		back, err := records.CSV{Header: true}.ReadFrame(&file, s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Len() {
			for j := range 2 {
				if got, want := back.Value(i, j), f.Value(i, j); got != want {
					t.Errorf("%s: %s is written as %s and read as %s", format, want, written[i+1], got)
				}
			}
		}
	}
}

// TestLayoutsOfSeveralMoments: a layout is refused if one text spells several moments of a column,
// or if its moment depends on where the reader is.
func TestLayoutsOfSeveralMoments(t *testing.T) {
	from := time.Date(2024, 1, 1, 1, 0, 0, 0, time.UTC)
	for layout, fine := range map[string]bool{"2006-01-02 15:04": true, "2006-01-02 03:04 PM": true,
		"2006-01-02 03:04": false, "2006-01-02 15:04 MST": false, "2006-01-02 15:04 -0700": true} {
		_, err := records.NewSchema(records.Datetime("x", from, from.Add(1000*time.Hour),
			time.Minute).WithFormat(layout))
		if (err == nil) != fine {
			t.Errorf("%s: %v", layout, err)
		}
	}
}

// TestReadersAgreeOnBlanks: blanks around a text have no meaning in any reader.
func TestReadersAgreeOnBlanks(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("a", "no", "yes"), records.Hashed("h", 1000),
		records.Integer("n", 0, 9), records.Duration("d", 0, time.Hour, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(read(t, s, `{"a":"yes","h":"some","n":"5","d":"7"}`))
	if got := fmt.Sprint(read(t, s, `{"a":" yes\t","h":" some ","n":" 5","d":"7 "}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// read returns the levels and texts of a line of JSON.
func read(t *testing.T, s records.Schema, line string) (list []string) {
	t.Helper()
	f, err := records.JSONLines{}.ReadFrame(strings.NewReader(line), s)
	if err != nil {
		t.Fatal(err)
	}
	for j := range s.Columns() {
		list = append(list, f.Value(0, j))
	}
	return list
}

// TestFirstTextIsNoByteOrderMark: a text that begins like a byte order mark is read as written if
// it is the first of a file.
func TestFirstTextIsNoByteOrderMark(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("\ufeffa", "no", "\ufeffyes"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := records.FromValues(s, []any{"\ufeffyes"})
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []records.CSV{{}, {Header: true}} {
		var file bytes.Buffer
		if err := layout.WriteFrame(&file, f); err != nil {
			t.Fatal(err)
		}
		back, err := layout.ReadFrame(&file, s)
		if err != nil || back.Level(0, 0) != 1 {
			t.Errorf("header %v: error %v, or another level", layout.Header, err)
		}
	}
}

// TestNumbersOfSeconds: a number of seconds is the length of time that its text spells.
func TestNumbersOfSeconds(t *testing.T) {
	s, err := records.NewSchema(records.Duration("d", 0, time.Hour, time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	var numbers []float64
	var texts []string
	for k := range 100_000 {
		numbers = append(numbers, float64(k)/1000)
		texts = append(texts, fmt.Sprint(numbers[k]))
	}
	a, err := records.FromColumns(s, records.Values{Numbers: numbers})
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.FromColumns(s, records.Values{Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	for i := range numbers {
		x, _ := a.Duration(i, 0)
		if y, _ := b.Duration(i, 0); x != y {
			t.Fatalf("%s: a number is read as %v, its text as %v", texts[i], x, y)
		}
	}
}

// TestLongNumbersAreHashedExactly: a whole number in a column of hashed texts has the same text in
// JSON as in CSV. As the nearest float64, two numbers would be one text, and a level that is found
// would be a number that no record has.
func TestLongNumbersAreHashedExactly(t *testing.T) {
	s, err := records.NewSchema(records.Hashed("h", 60_000).WithOther("other"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"1234567890123456789", "-12345678901234567", "0.5", "100"} {
		f, err := records.JSONLines{}.ReadFrame(strings.NewReader("{\"h\":"+text+"}"), s)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := records.OpenTexts(f)
		if err != nil || counts[0][text] != 1 {
			t.Errorf("%s is read as %v, error %v", text, counts, err)
		}
	}
}

// TestKnownTextsAreNotMissing: a known text of a hashed column is read as this text, like a level,
// even if it is among the texts of a missing value.
func TestKnownTextsAreNotMissing(t *testing.T) {
	s, err := records.NewSchema(records.Hashed("country", 50, "NA", "NO").WithMissing(),
		records.Flag("f", "0", "1"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := records.CSV{Header: true, Missing: []string{"NA", "?"}}.ReadFrame(strings.NewReader(
		"country,f\nNA,1\nNO,0\n?,0\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"NA", "NO", ""} {
		if got := f.Value(i, 0); got != want {
			t.Errorf("row %d: got %q, want %q", i, got, want)
		}
	}
}
