package records_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// TestFormats reads and writes texts in the format of their column.
func TestFormats(t *testing.T) {
	day := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	number := records.Numeric("x", -5000, 1e7).WithStep(0.01)
	whole := records.Integer("x", -9_000_000, 9_000_000)
	big := int64(9_007_199_254_740_999)
	if int64(int(big)) != big {
		t.Skip("an int has 32 bits")
	}
	wide := records.Integer("x", 0, int(big))
	date := records.Datetime("x", day(1970), day(2030), 24*time.Hour)
	moment := records.Datetime("x", day(1970), day(2030), time.Second)
	clock := records.Duration("x", 0, 24*time.Hour-time.Minute, time.Minute)
	quick := records.Duration("x", 0, 24*time.Hour-time.Millisecond, time.Millisecond)
	for name, c := range map[string]struct {
		column  records.Column
		format  string
		text    string
		usual   string
		written string // "" if it is the text
	}{
		"decimal comma": {number, "1234,5", "2,25", "2.25", ""},
		"German":        {number, "1.234,5", "1.234.567,25", "1234567.25", ""},
		"no groups":     {number, "1.234,5", "1234567,25", "1234567.25", "1.234.567,25"},
		"dollars":       {number, "$1,234.5", "$1,234.5", "1234.5", ""},
		"negative":      {number, "$1,234.5", "-$1,234.5", "-1234.5", ""},
		"sign inside":   {number, "$1,234.5", "$-1,234.5", "-1234.5", "-$1,234.5"},
		"no sign":       {number, "$1,234.5", "7", "7", "$7"},
		"per cent":      {number, "1234.5%", "50%", "50", ""},
		"euros":         {number, "1 234,5 €", "1 234,5 €", "1234.5", ""},
		"two decimals":  {number, "$1,234.00", "$1,234.50", "1234.5", ""},
		"no decimals":   {number, "1234,00 €", "7 €", "7", "7,00 €"},
		"bare decimals": {number, "$1,234.00", "$.00", "0", "$0.00"},
		"parentheses":   {number, "$1,234.5;($1,234.5)", "($1,234.5)", "-1234.5", ""},
		"minus behind":  {number, "1.234,5;1.234,5-", "1.234,5-", "-1234.5", ""},
		"not negative":  {number, "1,234.5;(1,234.5)", "1,234.5", "1234.5", ""},
		"pairs":         {number, "₹12,34,567.5", "₹12,34,567.25", "1234567.25", ""},
		"wrong pairs":   {number, "12,34,567.5", "1,234,567", "-5000", "-5,000"},
		"plus":          {number, "+1234.5", "+2.25", "2.25", ""},
		"plus and less": {number, "+1234.5", "-2.25", "-2.25", ""},
		"whole":         {whole, "1,234", "-1,234,567", "-1234567", ""},
		"beyond 2^53":   {wide, "1,234", "9,007,199,254,740,993", "9007199254740993", ""},
		"European date": {date, "02/01/2006", "20/03/2024", "2024-03-20", ""},
		"American date": {date, "01/02/2006", "03/20/2024", "2024-03-20", ""},
		"compact date":  {date, "20060102", "20240320", "2024-03-20", ""},
		"date and time": {moment, "02.01.2006 15:04:05", "20.03.2024 10:30:01",
			"2024-03-20T10:30:01Z", ""},
		"offset": {moment, "2006-01-02 15:04:05 -0700", "2024-03-20 10:30:00 +0530",
			"2024-03-20T05:00:00Z", "2024-03-20 05:00:00 +0000"},
		"seconds":         {moment, "unix", "1710930600", "2024-03-20T10:30:00Z", ""},
		"milliseconds":    {moment, "unix-ms", "1710930600000", "2024-03-20T10:30:00Z", ""},
		"far":             {moment, "unix", "9223372036854775807", "2030-01-01T00:00:00Z", "1893456000"},
		"time of day":     {clock, "15:04", "07:45", "27900", ""},
		"no zero":         {clock, "15:04", "7:45", "27900", "07:45"},
		"afternoon":       {clock, "3:04 PM", "12:30 AM", "1800", ""},
		"no time of day":  {clock, "15:04", "24:10", "0", "00:00"},
		"not of a clock":  {clock, "15:04", "27900", "0", "00:00"},
		"last of a day":   {quick, "15:04:05.000", "23:59:59.999", "86399.999", ""},
		"fractions":       {quick, "15:04:05.999", "01:00:00.25", "3600.250", ""},
		"wrong group":     {number, "$1,234.5", "1,5", "-5000", "-$5,000"},
		"another date":    {date, "02/01/2006", "2024-03-20", "1970-01-01", "01/01/1970"},
		"not a number":    {number, "1234,5", "x", "-5000", ""},
		"another group":   {number, "1234,5", "1.234", "-5000", "-5000"},
		"the usual point": {number, "1.234,5", "2.25", "-5000", "-5.000"},
	} {
		s := must(records.NewSchema(c.column.WithFormat(c.format), records.Flag("y", "a", "b")))(t)
		text := must(s.MarshalJSON())(t)
		var back records.Schema
		if err := back.UnmarshalJSON(text); err != nil || back.Columns()[0].Format() != c.format {
			t.Errorf("%s: %s is read with format %q, %v", name, text, back.Columns()[0].Format(), err)
		}
		if c.written == "" && name != "not a number" {
			c.written = c.text
		} else if name == "not a number" {
			c.written = "-5000"
		}
		layout := records.CSV{Header: true, Comma: ';'}
		f := must(layout.ReadFrame(strings.NewReader("x;y\n"+c.text+";a\n"), s))(t)
		if got := f.Value(0, 0); got != c.usual {
			t.Errorf("%s: %q is read as %s, want %s", name, c.text, got, c.usual)
		}
		var file bytes.Buffer
		err := layout.WriteFrame(&file, f)
		if err != nil || file.String() != "x;y\n"+c.written+";a\n" {
			t.Errorf("%s: written as %q, want %q; %v", name, file.String(), c.written, err)
		}
	}
}

// TestFormatsAreOfCSV: JSON lines have the usual form, whatever the format.
func TestFormatsAreOfCSV(t *testing.T) {
	day := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	s := must(records.NewSchema(records.Numeric("x", 0, 9999).WithFormat("1.234,5"),
		records.Datetime("d", day(1970), day(2030), time.Second).WithFormat("unix-ms"),
		records.Flag("y", "a", "b")))(t)
	f := must(records.CSV{Header: true, Comma: ';'}.ReadFrame(strings.NewReader(
		"x;d;y\n1.234,5;946684800000;a\n"), s))(t)
	var file bytes.Buffer
	if err := (records.JSONLines{}).WriteFrame(&file, f); err != nil {
		t.Fatal(err)
	}
	back := must(records.JSONLines{}.ReadFrame(&file, s))(t)
	number := must(records.JSONLines{}.ReadFrame(
		strings.NewReader(`{"x": 1234.5, "d": 946684800}`), s))(t)
	for _, g := range []*records.Frame{f, back, number} {
		if g.Value(0, 0) != "1234.5" || g.Value(0, 1) != "2000-01-01T00:00:00Z" {
			t.Errorf("read as %s and %s", g.Value(0, 0), g.Value(0, 1))
		}
	}
}

// TestFormatsThatSayNothing: a format must say how each value is read.
func TestFormatsThatSayNothing(t *testing.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	number := records.Numeric("x", 0, 1)
	date := records.Datetime("x", day, day.AddDate(1, 0, 0), 24*time.Hour)
	for _, c := range []records.Column{number.WithFormat("x"), number.WithFormat("1,234,5"),
		number.WithFormat("1234e5"), number.WithFormat("1234.56"), number.WithFormat("unix"),
		date.WithFormat("15:04"), date.WithFormat("2006"), date.WithFormat("1234.5"),
		records.Flag("x", "a", "b").WithFormat("1234.5"), number.WithFormat("12345"),
		records.Duration("x", 0, time.Hour, time.Second).WithFormat("1234.5"),
		records.Duration("x", 0, time.Hour, time.Second).WithFormat("15:04"),
		records.Duration("x", 0, 24*time.Hour, time.Hour).WithFormat("15:04"),
		records.Duration("x", -time.Hour, time.Hour, time.Minute).WithFormat("15:04"),
		records.Duration("x", 0, 23*time.Hour, time.Hour).WithFormat("3:04"),
		records.Duration("x", 0, 23*time.Hour, time.Hour).WithFormat("15:04 MST"),
		records.Duration("x", time.Hour, time.Hour, 0).WithFormat("15:04"),
		// what is written is read as another value
		records.Datetime("x", day.AddDate(-74, 0, 0), day, 24*time.Hour).WithFormat("02/01/06"),
		records.Datetime("x", day, day.AddDate(1, 0, 0), time.Hour).WithFormat("02/01/2006"),
		records.Datetime("x", day, day.AddDate(1, 0, 0), time.Millisecond).WithFormat("unix"),
		number.WithFormat("-1234.5"), number.WithFormat("ID-1234.5"), number.WithFormat("1234\n5"),
		number.WithFormat("\xa31234.5"), number.WithFormat(strings.Repeat("$", 70) + "1234.5")} {
		if _, err := records.NewSchema(c, records.Flag("y", "a", "b")); err == nil {
			t.Errorf("format %q of %v is accepted", c.Format(), c)
		}
	}
}
