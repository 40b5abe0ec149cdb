package main

import (
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/seed7ba64551/privgen/records"
)

// checkSheet reports, before anything is drawn, whether the records fit into a sheet.
func (j *sampleJob) checkSheet(s records.Schema) error {
	if j.format != "xlsx" {
		return nil
	}
	rows := j.n
	if !j.noHeader {
		rows++
	}
	if columns := len(s.Columns()); rows > excelize.TotalRows || columns > excelize.MaxColumns {
		return usagef("--format: a sheet holds at most %d rows with the header, and %d columns: want csv, or "+
			"another -n", excelize.TotalRows, excelize.MaxColumns)
	}
	return nil
}

// writeBook writes a table as the sheet of a workbook. The cells have the texts of a CSV file, but
// numbers without a format are numbers there too. A guard prevents that a text becomes a formula
// when the sheet is saved in another form.
func writeBook(w io.Writer, s records.Schema, layout records.CSV, guard bool,
	parts iter.Seq2[records.Data, error]) (err error) {
	book := excelize.NewFile()
	defer func() { err = errors.Join(err, book.Close()) }()
	sheet, err := book.NewStreamWriter(book.GetSheetName(0))
	if err != nil {
		return err
	}
	number := plainNumbers(s)
	at, cells := 0, make([]any, len(number))
	for row, err := range rowsOf(s, layout, parts) {
		if err != nil {
			return err
		}
		for i, text := range row {
			cells[i], err = cellOf(text, number[i], guard)
			if err != nil {
				return err
			}
		}
		at++
		place, err := excelize.CoordinatesToCellName(1, at)
		if err != nil {
			return err
		}
		if err := sheet.SetRow(place, cells); err != nil {
			return err
		}
	}
	if err := sheet.Flush(); err != nil {
		return err
	}
	return book.Write(w)
}

// plainNumbers says for each column whether its cells are numbers in a sheet. A number with a
// format, such as an amount of money, keeps its text.
func plainNumbers(s records.Schema) (number []bool) {
	for _, c := range s.Columns() {
		number = append(number, c.Format() == "" && (c.Kind() == records.DurationColumn ||
			c.IsNumber() && c.Kind() != records.DatetimeColumn))
	}
	return number
}

// cellOf returns the value of a cell. A number that a spreadsheet program would round stays a text.
func cellOf(text string, number, guard bool) (any, error) {
	if x, err := strconv.ParseFloat(text, 64); number && err == nil && digitsIn(text) <= 15 {
		return x, nil
	}
	if utf8.RuneCountInString(text) >= excelize.TotalCellChars {
		return nil, usagef("--format: a cell of a sheet holds fewer than %d characters: want csv",
			excelize.TotalCellChars)
	}
	if text == "" {
		return nil, nil
	}
	if guard || unguarded(text) != text { // which would be read as another text
		text = guarded(text)
	}
	return text, nil
}

// digitsIn counts the digits of a number.
func digitsIn(text string) (n int) {
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// writeGuarded writes a table as CSV that a spreadsheet program can open safely.
func writeGuarded(w io.Writer, s records.Schema, layout records.CSV,
	parts iter.Seq2[records.Data, error]) error {
	out := csv.NewWriter(w)
	if layout.Comma != 0 {
		out.Comma = layout.Comma
	}
	trusted := plainNumbers(s)
	for row, err := range rowsOf(s, layout, parts) {
		if err != nil {
			return err
		}
		for i, text := range row {
			if !trusted[i] {
				row[i] = guarded(text)
			}
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// rowsOf yields the texts of a table, the header first if the layout has one, as they are written
// to a CSV file.
func rowsOf(s records.Schema, layout records.CSV,
	parts iter.Seq2[records.Data, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		layout.Comma = 0
		shown := missingIn(s.Columns()[0])
		lines, to := io.Pipe()
		defer lines.Close()
		go func() { to.CloseWithError(layout.WriteFrames(to, s, parts)) }()
		in := csv.NewReader(lines)
		in.ReuseRecord, in.FieldsPerRecord = true, len(s.Columns())
		for {
			row, err := in.Read()
			if err == nil && !slices.ContainsFunc(row, func(text string) bool { return text != "" }) {
				row[0] = shown // since an empty line would be no record
			}
			if err == io.EOF || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// missingIn returns a text of a missing value that is no level of a column, and not empty.
func missingIn(c records.Column) string {
	for _, text := range append([]string{"?"}, usualMissing...) {
		if text != "" && !slices.Contains(c.Levels(), text) {
			return text
		}
	}
	return ""
}
