package main

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/seed7ba64551/privgen/records"
)

// A sheet is read as if it had been saved as CSV, so one schema serves both. A cell has the text
// that its format shows, and ISO dates where the format is that of the reader's language.
var shown = excelize.Options{ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd",
	LongTimePattern: "hh:mm:ss"}

// sheetOf returns the rows of a sheet as lines of comma-separated values.
func (l *layout) sheetOf(in io.Reader, s records.Schema) (out io.Reader, c records.CSV, end func(),
	err error) {
	plain := *l
	plain.comma, plain.comment = "auto", ""
	if c, err = plain.csv(); err != nil {
		return nil, c, nil, err
	}
	book, err := openBook(in)
	if err != nil {
		return nil, c, nil, err
	}
	name, err := l.sheetName(book.GetSheetList())
	if err != nil {
		return nil, c, nil, err
	}
	rows, err := book.Rows(name)
	if err != nil {
		return nil, c, nil, damagedBook
	}
	exact, err := book.Rows(name)
	if err != nil {
		return nil, c, nil, damagedBook
	}
	sheet := &sheetLines{rows: rows, exact: exact, want: l.fields(s)}
	return sheet, c, func() { _ = errors.Join(rows.Close(), exact.Close(), book.Close()) }, nil
}

// sheetName returns the name of the sheet to read.
func (l *layout) sheetName(names []string) (string, error) {
	switch {
	case len(names) == 0:
		return "", fileFault("the workbook has no sheet")
	case l.sheet == "":
		return names[0], nil
	case !slices.Contains(names, l.sheet):
		return "", usagef("--sheet: %q: want one of %q", l.sheet, names)
	}
	return l.sheet, nil
}

var damagedBook = fileFault("the workbook cannot be read: want an .xlsx file without a password, as " +
	"a spreadsheet program saves it")

// openBook reads a workbook. It keeps the bound of package records on what a file unpacks to, and
// keeps the sheets in memory, since a temporary file of them could outlive a crash.
func openBook(in io.Reader) (book *excelize.File, err error) {
	at, size, remove, err := seekable(in)
	if err != nil {
		return nil, err
	}
	defer remove()
	defer func() {
		if recover() != nil { // the library may not be ready for every damaged file
			book, err = nil, damagedBook
		}
	}()
	if err := soundBook(at, size); err != nil {
		return nil, err
	}
	options := shown
	options.UnzipSizeLimit = records.Limits{}.UnpackedFor(size)
	options.UnzipXMLSizeLimit = options.UnzipSizeLimit
	book, err = excelize.OpenReader(io.NewSectionReader(at, 0, size), options)
	if err != nil {
		return nil, damagedBook
	}
	return book, nil
}

// soundBook fails if a sheet is not well-formed, or if its cells are not in order: the library
// would read the first part of the sheet, or put a value into another column.
func soundBook(at io.ReaderAt, size int64) error {
	z, err := zip.NewReader(at, size)
	if err != nil {
		return damagedBook
	}
	left := records.Limits{}.UnpackedFor(size)
	most, elements := left, leastElements+size/4
	bounds := bookBounds{values: records.Limits{}.ValuesFor(size), elements: elements, most: elements}
	for _, f := range z.File {
		if left -= int64(min(f.UncompressedSize64, 1<<62)); left < 0 {
			return fileFault("the workbook unpacks to more than %d bytes for each of its own: want a smaller one, "+
				"or its sheet as CSV", mostUnpacked)
		}
		part, err := f.Open()
		if err != nil {
			return damagedBook
		}
		err = bounds.sound(part)
		part.Close()
		if err == errNoXML && !(strings.HasPrefix(f.Name, "xl/") && strings.HasSuffix(f.Name, ".xml")) {
			err = nil // a picture, say
		}
		if err != nil {
			return err
		}
	}
	if bounds.expanded() > 4*most { // a text that is not used again stands once in the file
		return longTexts
	}
	return nil
}

// errNoXML is the error of a part that has no first element.
var errNoXML = fmt.Errorf("%w", damagedBook)

// bookBounds is what a workbook may still hold.
type bookBounds struct {
	values   int64 // cells of sheets with the gaps before them, which the library fills
	elements int64 // rows and others, each of which takes the library some hundred bytes

	most    int64   // shared texts
	lengths []int64 // of the shared texts
	uses    []int64 // of each shared text in cells
}

// longGap is the number of empty cells before another one from which on they cost more.
const longGap = 64

// Longest text of a cell and longest format that spreadsheet programs write, in bytes.
const (
	longestText   = 4 * 32767
	longestFormat = 4 * 255
)

var longTexts = fileFault("the workbook has longer texts or formats than spreadsheet programs write, or too " +
	"many long ones for its size: save the sheet as CSV")

// expanded returns the length of all shared texts in cells.
func (b *bookBounds) expanded() (n int64) {
	for i := range min(len(b.lengths), len(b.uses)) {
		n += b.lengths[i] * b.uses[i]
	}
	return n
}

// use counts a use of a shared text.
func (b *bookBounds) use(index string) {
	i, err := strconv.Atoi(strings.TrimSpace(index))
	if err != nil || i < 0 || int64(i) >= b.most {
		return
	}
	if i >= len(b.uses) {
		b.uses = append(b.uses, make([]int64, i+1-len(b.uses))...)
	}
	b.uses[i]++
}

// leastElements is for small workbooks. A shared text is two elements.
const leastElements = 3 << 14

// sound checks a part of a workbook: a sheet, whatever its name, or another part.
func (b *bookBounds) sound(in io.Reader) error {
	d, p := xml.NewDecoder(in), bookPart{bookBounds: b}
	for {
		token, err := d.Token() // which checks that elements are closed
		switch {
		case err == io.EOF && p.root != "":
			return nil
		case err != nil && p.root == "":
			return errNoXML
		case err != nil:
			return damagedBook
		}
		switch e := token.(type) {
		case xml.CharData:
			err = p.chars(e)
		case xml.StartElement:
			err = p.start(e)
		case xml.EndElement:
			if p.shared && e.Name.Local == "v" {
				b.use(string(p.index))
			}
		}
		if err != nil {
			return err
		}
	}
}

// bookPart is a part of a workbook as far as it has been read.
type bookPart struct {
	*bookBounds
	root        string // name of the first element
	row, column int    // of the last cell of a sheet
	text        int64  // bytes since the start of a text or a cell
	shared      bool   // the cell shows a shared text
	index       []byte // of a shared text, which comments may divide
}

func (p *bookPart) isSheet() bool { return p.root == "worksheet" }
func (p *bookPart) isList() bool  { return p.root == "sst" } // of shared texts

func (p *bookPart) chars(chars []byte) error {
	if p.text += int64(len(chars)); p.text > longestText && (p.isSheet() || p.isList()) {
		return longTexts
	}
	if n := len(p.lengths); p.isList() && n > 0 {
		p.lengths[n-1] = p.text
	} else if p.shared {
		p.index = append(p.index, chars...)
	}
	return nil
}

func (p *bookPart) start(e xml.StartElement) error {
	name := e.Name.Local
	if p.root == "" {
		p.root = name
	}
	if anyOf(e, "formatCode", func(v string) bool { return len(v) > longestFormat }) {
		return longTexts
	}
	if p.isList() && name == "si" {
		p.text, p.lengths = 0, append(p.lengths, 0)
	}
	if !p.isSheet() || !slices.Contains([]string{"c", "v", "f", "is", "t"}, name) {
		if p.elements--; p.elements < 0 {
			return fileFault("the workbook has too many texts, rows or formats for its size: " +
				"save the sheet as CSV")
		}
	}
	if !p.isSheet() {
		return nil
	}
	switch name {
	case "row":
		return p.startRow(lastOf(e, "r"))
	case "c":
		p.text, p.shared = 0, anyOf(e, "t", func(v string) bool { return v == "s" })
		return p.startCell(lastOf(e, "r"))
	case "v":
		p.index = p.index[:0]
	}
	return nil
}

// anyOf reports whether an attribute of that name has a value with the property.
func anyOf(e xml.StartElement, name string, property func(value string) bool) bool {
	return slices.ContainsFunc(e.Attr, func(a xml.Attr) bool {
		return a.Name.Local == name && property(a.Value)
	})
}

// lastOf returns the value of the last attribute of that name, which the library takes.
func lastOf(e xml.StartElement, name string) (value string) {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			value = a.Value
		}
	}
	return value
}

// startRow begins the row of that number, or the next one.
func (p *bookPart) startRow(number string) error {
	n := p.row + 1
	if number != "" {
		if _, err := fmt.Sscan(number, &n); err != nil {
			return damagedBook
		}
	}
	if n <= p.row {
		return fileFault("the rows of the workbook are not in order: save it again with a spreadsheet program")
	}
	p.row, p.column = n, 0
	return nil
}

// startCell begins the cell at a place such as B7, or the next one.
func (p *bookPart) startCell(place string) (err error) {
	n := p.column + 1
	if place != "" {
		if n, _, err = excelize.CellNameToCoordinates(place); err != nil {
			return damagedBook
		}
	}
	if n <= p.column {
		return fileFault("the cells of row %d of the workbook are not in order: save it again with a "+
			"spreadsheet program", p.row)
	}
	cost := int64(n - p.column)
	if cost > longGap { // the library makes room for it in steps, and leaves garbage
		cost *= 3
	}
	if p.values -= cost; p.values < 0 {
		return fileFault("the workbook has too many empty cells before others: remove what stands " +
			"beside the table, and save it again")
	}
	p.column = n
	return nil
}

// sheetLines reads the rows of a sheet as lines of comma-separated values. Empty rows are skipped.
type sheetLines struct {
	rows *excelize.Rows
	want int // number of fields; 0 until the first row
	row  int

	exact *excelize.Rows // the same rows, read as far as row at, with the values in the file
	at    int

	line []byte
	left []byte // what is left of the last line
	err  error
}

func (s *sheetLines) Read(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(s.left) == 0 && s.err == nil {
			s.err = s.next()
		}
		if s.err != nil {
			break
		}
		n := copy(p[done:], s.left)
		s.left = s.left[n:]
		done += n
	}
	if done == 0 && len(p) > 0 {
		return 0, s.err
	}
	return done, nil
}

// next writes the next row that is not empty.
func (s *sheetLines) next() (err error) {
	defer func() {
		if recover() != nil {
			err = damagedBook
		}
	}()
	for s.rows.Next() {
		s.row++
		cells, err := s.rows.Columns()
		if err != nil {
			return damagedBook
		}
		if err := s.unrounded(cells); err != nil {
			return damagedBook
		}
		for len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1]) == "" {
			cells = cells[:len(cells)-1]
		}
		if len(cells) == 0 {
			continue
		}
		if s.want == 0 {
			s.want = len(cells)
		}
		if len(cells) > s.want {
			return fileFault("row %d of the sheet has %d cells: want at most %d, as the columns need: remove what stands "+
				"beside the table%s", s.row, len(cells), s.want, notPublic)
		}
		s.write(cells)
		return nil
	}
	if s.rows.Error() != nil {
		return damagedBook
	}
	return io.EOF
}

// unrounded replaces whole numbers that are shown with fewer digits than they have. Spreadsheet
// programs show 15 digits of a number, and fewer with an exponent, but others write identifiers of
// more digits: two persons would have one name.
func (s *sheetLines) unrounded(cells []string) error {
	long := func(text string) bool {
		whole, _, _ := strings.Cut(text, ".")
		return strings.Trim(text, "-+., 0123456789E") == "" &&
			(len(whole) > 15 || strings.Contains(text, "E+"))
	}
	if !slices.ContainsFunc(cells, long) {
		return nil
	}
	for ; s.at < s.row && s.exact.Next(); s.at++ {
	}
	exact, err := s.exact.Columns(excelize.Options{RawCellValue: true})
	for i := range min(len(cells), len(exact)) {
		text := exact[i]
		if v, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") &&
			text != cells[i] { // such as 1.234567890123456E15; a text is shown as it is
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		if long(cells[i]) && strings.Trim(text, "-0123456789") == "" && text != "" {
			cells[i] = text
		}
	}
	return err
}

// write writes the cells of a row, and empty ones up to the number of fields.
func (s *sheetLines) write(cells []string) {
	s.line = s.line[:0]
	for i := range s.want {
		if i > 0 {
			s.line = append(s.line, ',')
		}
		if i < len(cells) {
			s.line = appendField(s.line, unguarded(cells[i]))
		}
	}
	s.line = append(s.line, '\n')
	s.left = s.line
}

// appendField appends a text as a field on one line.
func appendField(line []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",\r\n") {
		return append(line, text...)
	}
	text = lineBreaks.Replace(strings.ToValidUTF8(text, "\ufffd"))
	return append(append(append(line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
