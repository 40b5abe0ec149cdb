package tables

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Common holds the settings of every method. All of them are public.
type Common struct {
	Schema records.Schema
	Budget accountant.Budget
	// Nominal is the approximate number of records, which must be public. Defaults are derived from
	// it. The guarantee does not depend on it.
	Nominal int
	Seed    uint64 // of public randomness
	// Bins is the number of ranges into which a column of numbers is divided. By the released counts,
	// each range has about the same number of records. 0 means the method's default.
	Bins int
	// Fine is the number of cells of equal width into which a column of numbers is divided for the
	// first release. Bins are made of these cells. 0 means 126 or, if records are few compared with
	// the noise, fewer.
	Fine int
	// ColumnPart is the fraction of the budget, in terms of the squared effect, for the counts of
	// single columns. 0 means 0.12 or, if records are few compared with the noise, up to 0.3.
	ColumnPart float64
	// WithinPart is the fraction of the budget for counts within frequent cells of numbers: of single
	// values or, if a cell has more than 4,096 values, of sixteen ranges. A negative number means no
	// such counts. 0 means the default: 0.03, or none if Nominal is 0 or records are few compared
	// with the noise.
	WithinPart float64
	// Cells bounds the number of cells of all tables of the fitted model. Each cell takes about 40
	// bytes, and 2 ns in each pass. 0 means 2^18. Each of n systems in a composition has at most
	// 2^20/n, and that of rows which follow others 2^27 divided by the rows of a root row. Draws under
	// conditions are fast only if there are at most 2^19, those of combinations of levels included.
	Cells int

	choices defaults.Choices
	signal  float64 // of Nominal records; see package defaults
}

const (
	leastFine          = 8
	defaultCells       = 1 << 18
	mostCells          = 1 << 20 // what a small file can make a reader allocate
	mostCandidates     = 5_000
	mostCandidateCells = 1 << 24 // cells of all candidates together
	mostTable          = 1 << 16 // cells of one candidate
	mostCodes          = 1 << 18 // codes of all columns together
	mostAttributes     = 1024
	leastBins          = 4
	mostBins           = 16
)

func (c Common) validate(name string) *param.Checker {
	var k param.Checker
	path := "tables." + name + "."
	k.Add(c.Budget.Validate())
	if err := c.Schema.Validate(); err != nil {
		k.Add(err)
		return &k
	}
	if k.OK(c.Schema.Kind() == records.MixedTable, path+"Schema", c.Schema.String(),
		"a table; package merf supports the other kinds of records"); c.Schema.Kind() ==
		records.MixedTable {
		n, codes := len(marginal.AttributesOf(c.Schema)), 0
		for _, a := range marginal.AttributesOf(c.Schema) {
			codes += a.Codes
		}
		k.OK(codes <= mostCodes, path+"Schema", fmt.Sprintf("%d values in all columns together", codes),
			fmt.Sprintf("at most %d values; declare fewer levels", mostCodes))
		k.OK(n <= mostAttributes, path+"Schema", fmt.Sprintf("%d columns", n),
			fmt.Sprintf("at most %d columns", mostAttributes))
	}
	k.OK(c.Nominal >= 0 && c.Nominal <= defaults.Largest, path+"Nominal", c.Nominal,
		"a public number of records, or 0 for none")
	k.OK(c.Bins == 0 || c.Bins >= 2 && c.Bins <= marginal.MostValues, path+"Bins", c.Bins,
		fmt.Sprintf("an integer from 2 to %d, or 0 for the default", marginal.MostValues))
	k.OK(c.Fine == 0 || c.Fine >= leastFine && c.Fine <= marginal.MostCells, path+"Fine", c.Fine,
		fmt.Sprintf("an integer from %d to %d, or 0 for the default", leastFine, marginal.MostCells))
	k.OK(c.ColumnPart == 0 || c.ColumnPart >= 0.01 && c.ColumnPart <= 0.8, path+"ColumnPart",
		c.ColumnPart, "a fraction from 0.01 to 0.8, or 0 for the default")
	k.OK(c.WithinPart <= 0 || c.WithinPart >= leastWithin && c.WithinPart <= mostWithin,
		path+"WithinPart", c.WithinPart, fmt.Sprintf("a fraction from %g to %g, 0 for the default, or a "+
			"negative number for none", leastWithin, mostWithin))
	k.OK(c.Cells >= 0 && c.Cells <= mostCells, path+"Cells", c.Cells,
		fmt.Sprintf("a positive number up to %d, or 0 for the default", mostCells))
	return &k
}

// chosen returns the settings with defaults in place of zero values.
//
// Bins depends on the signal s (see package defaults): a table of b² cells that gets 1/k of the
// budget has noise of norm b·√k/s. With b = √(s/30) this noise is small for the about twenty tables
// of a model.
//
// If the columns' counts get a fraction p of the budget, their noise is Nominal·√(m/p)/s, where m
// is the number of columns. With ¾·s·√(p/m) cells, the average number of records of a cell is 4/3
// times the noise. ColumnPart and Fine are chosen so, as far as their ranges allow.
func (c Common) chosen() (Common, error) {
	signal := math.Inf(1)
	if c.Nominal > 0 {
		t, err := defaults.New(c.Schema, c.Budget, c.Nominal)
		if err != nil {
			return c, fmt.Errorf("tables: defaults: %w", err)
		}
		signal = t.Signal
		m := float64(len(c.Schema.Columns()))
		part := m * math.Pow(marginal.MostCells/(cellRecords*signal), 2)
		defaults.Fill(&c.choices, &c.ColumnPart, min(max(part, leastColumnPart), mostColumnPart),
			"ColumnPart", "more if the noise of a cell would exceed its records")
		fine := int(min(cellRecords*signal*math.Sqrt(c.ColumnPart/m), marginal.MostCells))
		defaults.Fill(&c.choices, &c.Fine, max(fine, fewestFine), "Fine",
			"as many cells as the noise of their counts permits")
		bins := int(math.Sqrt(t.Signal / 30))
		if c.WithinPart == 0 && c.resolves(t.Signal) {
			defaults.Fill(&c.choices, &c.WithinPart, defaultWithin, "WithinPart",
				"frequent single values exceed the noise of their counts")
		}
		defaults.Fill(&c.choices, &c.Bins, min(max(bins, leastBins), mostBins), "Bins",
			"as many as the noise of a table of two columns permits")
	}
	c.signal = signal
	c.Bins = cmp.Or(c.Bins, 16)
	c.Fine = cmp.Or(c.Fine, marginal.MostCells)
	c.ColumnPart = cmp.Or(c.ColumnPart, leastColumnPart)
	c.Cells = cmp.Or(c.Cells, defaultCells)
	if c.WithinPart < 0 || c.cells() == 0 {
		c.WithinPart = 0
	}
	return c, nil
}

// cells returns the number of columns of numbers that are divided into cells.
func (c Common) cells() (n int) {
	for _, a := range marginal.AttributesIn(c.Schema, cmp.Or(c.Fine, marginal.MostCells)) {
		if a.Cells > 0 {
			n++
		}
	}
	return n
}

// resolves reports whether the default counts within cells have so little noise that a value with a
// fraction resolved of the records exceeds it by clearBy. If the counts get a
// fraction p of the budget, their noise is Nominal·√(m/p)/s, where m is the number of columns that
// are divided into cells and s is the signal.
func (c Common) resolves(signal float64) bool {
	m := float64(c.cells())
	return m > 0 && clearBy*math.Sqrt(m/defaultWithin) <= resolved*signal
}
