package records

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// mostKept is the number of bytes of the longest texts that columns with open levels keep. Longer
// texts, and texts that can be no level, belong to the other level.
const mostKept = 256

const mostShared = 1 << 14 // texts that rows of a frame share

// keepText keeps the text of the last cell of a column with open levels.
func (b *FrameBuilder) keepText(j int, text string) {
	if !b.schema.table.cells[j].open || len(text) > mostKept || !plainText(text) {
		return
	}
	if _, other := b.codes(j)[text]; other {
		return
	}
	one, known := b.kept[text]
	if !known {
		one = strings.Clone(text)
		if b.kept == nil {
			b.kept = map[string]string{}
		}
		if len(b.kept) < mostShared {
			b.kept[one] = one
		}
	}
	texts := b.cells[j].texts
	texts[len(texts)-1] = one
}

// Recode returns the rows of a table with other levels in the columns whose levels are open; see
// [Hashed]. The schema of the result is s, which has the same columns as the table's except that
// these columns may be of another kind of levels. For each cell of an open column the function code
// gets the number of the row among all rows, of persons too, the text, and the level. It returns
// the level in the result, -1 for a missing value. The text is empty for a missing value, for one
// that can be no level, for generated rows, and for data of types of other packages.
//
// Errors: *[param.Error] for data that are not a table or persons with rows of a table.
func Recode(d Data, s Schema,
	code func(row, column int, text string, level int) int) (Data, error) {
	switch own := d.(type) {
	case stated:
		of, err := Recode(own.Data, s, code)
		own.Data = of
		return own, err
	case *Persons:
		rows, err := Recode(own.rows, s.ByPerson(0), code)
		return &Persons{personsRef: &personsRef{&personsRows{rows, own.first, own.shares, s}}}, err
	case *Frame:
		out := own.Slice(0, own.n)
		out.schema = s
		for j, c := range own.cells {
			if own.schema.table.cells[j].open {
				out.cells[j] = cells{levels: own.recoded(j, c, code)}
			}
		}
		return out, nil
	}
	whole, err := Concat(d.Schema(), d)
	if _, table := whole.(*Frame); err != nil || !table {
		return nil, errors.Join(err, param.New("records.Recode.d", fmt.Sprintf("%T", d), "a table"))
	}
	return Recode(whole, s, code)
}

// recoded returns the levels of column j.
func (f *Frame) recoded(j int, c cells,
	code func(row, column int, text string, level int) int) []uint16 {
	levels := make([]uint16, f.n)
	for i := range levels {
		text := ""
		if c.texts != nil {
			text = c.texts[i]
		}
		levels[i] = missingLevel
		if level := code(i, j, text, f.Level(i, j)); level >= 0 {
			levels[i] = uint16(level)
		}
	}
	return levels
}

// OpenTexts counts the texts of each column with open levels; see [Hashed]. A record counts once in
// each column, and a person with several rows once too, for that person's most frequent text: of
// several such texts the first in alphabetical order. Missing values, and texts that can be no
// level, do not count.
//
// Guarantee: none. The counts are private. Adding or removing a record or a person changes one
// count of each column by 1.
//
// Errors: see [Recode].
func OpenTexts(d Data) (counts []map[string]int64, err error) {
	s := d.Schema()
	of := make([][]string, len(s.Columns())) // by column and row
	_, err = Recode(d, s, func(_, column int, text string, _ int) int {
		of[column] = append(of[column], text)
		return 0
	})
	if err != nil {
		return nil, err
	}
	p, persons := AsPersons(d)
	for j, code := range s.table.cells {
		if !code.open {
			continue
		}
		own := map[string]int64{}
		if persons {
			for person := range p.Len() {
				lo, hi := p.Span(person)
				own[mostFrequent(of[j][lo:hi])]++
			}
		} else {
			for _, text := range of[j] {
				own[text]++
			}
		}
		delete(own, "")
		counts = append(counts, own)
	}
	return counts, nil
}

// mostFrequent returns "" if no row has a text.
func mostFrequent(texts []string) (best string) {
	times := map[string]int{}
	for _, text := range texts {
		if text != "" {
			times[text]++
		}
	}
	for text, n := range times {
		if n > times[best] || n == times[best] && text < best {
			best = text
		}
	}
	return best
}
