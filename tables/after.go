package tables

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// After returns the design of the same plan for rows whose first columns are known before a row is
// drawn, such as the columns of the row's parent in another table. Only tables with at least one of
// the other columns are measured, and a model draws the other columns given the first ones.
//
// Guarantee: that of AIM. Which tables are measured depends on the number of columns only.
func (c AIM) After(columns int) synth.Design {
	c.known = columns
	return c
}

// knownAttributes returns the number of attributes of the first columns.
func knownAttributes(s records.Schema, columns int) (n int) {
	for _, b := range s.Blocks() {
		if b.Column < columns {
			n++
		}
	}
	return n
}

// completeRows is the number of rows that are drawn with one source of random numbers.
const completeRows = 1 << 11

// mostPassed is the largest number of cells that the rows of one root row pass messages through.
const mostPassed = 1 << 27

// After returns a function that draws rows of the schema of the last columns, one for each row of
// known, which holds the first columns. Its results depend on the seed and on known only. A root
// row has at most some rows.
//
// Errors: *param.Error for a schema of other columns; synth.ErrFormat for a model that no fit has.
func (t *model) After(own records.Schema, rows int) (func(known *records.Nonzeros,
	seed uint64) (*records.Frame, error), error) {
	columns, last := t.schema.Columns(), own.Columns()
	first := len(columns) - len(last)
	s, err := records.NewSchema(columns[max(first, 0):]...)
	if err != nil || !s.Equal(own) || own.Kind() != records.MixedTable || first < 1 ||
		t.schema.Classes() > 0 || t.trend != nil {
		return nil, param.New("tables.After.own", own.String(), "the schema of the last columns")
	}
	cells := 0.0
	for _, c := range t.model.Tree.Cliques {
		if len(c.Attributes) > 1 { // a file has a number for each cell of the others
			cells += t.model.Domain.Cells(c.Attributes)
		}
	}
	if cells > float64(mostPassed/rows) {
		return nil, malformed(fmt.Sprintf("%.0f cells for %d rows of a root row", cells, rows))
	}
	d := &afterwards{model: t, own: own, attributes: marginal.AttributesIn(own, t.fine)}
	d.first = len(t.attributes) - len(d.attributes)
	d.completers.New = func() any { return t.model.Completer(d.first) }
	return d.draw, nil
}

// afterwards draws the last columns of rows.
type afterwards struct {
	*model
	own        records.Schema
	attributes []marginal.Attribute // of the last columns alone
	first      int
	completers sync.Pool
}

func (d *afterwards) draw(known *records.Nonzeros, seed uint64) (*records.Frame, error) {
	codes := make([][]uint16, d.first)
	marginal.CodesOf(d.model.attributes[:d.first], known, codes)
	for j, list := range codes {
		for i, code := range list {
			list[i] = d.groups[j].Group[code]
		}
	}
	parts := make([]records.Data, (known.Rows+completeRows-1)/completeRows)
	errs := make([]error, len(parts))
	marginal.InParallel(len(parts), func(k int) {
		lo, hi := k*completeRows, min((k+1)*completeRows, known.Rows)
		parts[k], errs[k] = d.rows(codes, lo, hi, rand.New(rand.NewPCG(seed, uint64(k))))
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	all, err := records.Concat(d.own, parts...)
	if err != nil {
		return nil, err
	}
	f, _ := records.AsFrame(all)
	return f, nil
}

// rows draws rows lo … hi-1.
func (d *afterwards) rows(codes [][]uint16, lo, hi int, rng *rand.Rand) (*records.Frame, error) {
	c := d.completers.Get().(*graphical.Completer)
	defer d.completers.Put(c)
	row := make([]uint16, len(d.model.attributes))
	var z records.Nonzeros
	z.Reset()
	for i := lo; i < hi; i++ {
		for j := range codes {
			row[j] = codes[j][i]
		}
		c.Complete(rng, row)
		for k, a := range d.attributes {
			j := d.first + k
			g := int(row[j])
			code := d.codes[j][g][d.choices[j][g].Pick(rng, -1)]
			a.Write(&z, code, nil, d.model.parts[j][code], rng)
		}
		z.End()
	}
	return records.DecodeNonzeros(d.own, &z)
}
