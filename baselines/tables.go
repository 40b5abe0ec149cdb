package baselines

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Tables holds the settings of the methods for tables. All of them are public.
type Tables struct {
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
	// bytes, and 10 ns in each pass. 0 means 2^18.
	Cells int
	// ClassWeight is the weight in choices of a table with the class relative to a table without it.
	// It must be at least 1. 0 means 2 for AIM and 1 for MST.
	ClassWeight float64
	// Coarse is the number of groups of a column's values in coarse tables. AIM may choose a coarse
	// table with the class in place of the fine one. 0 means 5; 1 means no coarse tables. MST has no
	// coarse tables.
	Coarse int

	choices defaults.Choices
	signal  float64 // of Nominal records; see package defaults
}

const (
	defaultCoarse      = 5
	leastFine          = 8
	mostCoarse         = 16
	defaultCells       = 1 << 18
	mostCells          = 1 << 22
	mostCandidates     = 5_000
	mostCandidateCells = 1 << 24 // cells of all candidates together
	mostTable          = 1 << 16 // cells of one candidate
	mostCodes          = 1 << 18 // codes of all columns together
	mostAttributes     = 1024
	leastBins          = 4
	mostBins           = 32
)

func (c Tables) validate(name string) *param.Checker {
	var k param.Checker
	path := "baselines." + name + "."
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
	k.OK(c.Coarse >= 0 && c.Coarse <= mostCoarse, path+"Coarse", c.Coarse,
		fmt.Sprintf("1 to %d, or 0 for the default", mostCoarse))
	k.OK(c.ClassWeight == 0 || c.ClassWeight >= 1 && c.ClassWeight <= 1e3, path+"ClassWeight",
		c.ClassWeight, "a number from 1 to 1000, or 0 for the default")
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
func (c Tables) chosen(classWeight float64) (Tables, error) {
	signal := math.Inf(1)
	if c.Nominal > 0 {
		t, err := defaults.New(c.Schema, c.Budget, c.Nominal)
		if err != nil {
			return c, fmt.Errorf("baselines: defaults: %w", err)
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
	c.ClassWeight = cmp.Or(c.ClassWeight, classWeight)
	c.Coarse = cmp.Or(c.Coarse, defaultCoarse)
	return c, nil
}

// cells returns the number of columns of numbers that are divided into cells.
func (c Tables) cells() (n int) {
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
func (c Tables) resolves(signal float64) bool {
	m := float64(c.cells())
	return m > 0 && clearBy*math.Sqrt(m/defaultWithin) <= resolved*signal
}

// tableMethod is AIM or MST with all settings except its noise.
type tableMethod struct {
	Tables
	system     string
	rounds     int     // number of choices
	classPart  float64 // fraction of the units for tables of each column with the class
	order      int     // largest number of columns of a table
	attributes []marginal.Attribute
}

// Fractions of the squared effect for the stages, and settings of their noise.
const (
	leastColumnPart = 0.12 // fraction for the columns' counts
	mostColumnPart  = 0.3
	choicesPart     = 0.1 // fraction for the choices
	unitsRound      = 8   // units of measurement for each round
	fewestFine      = 24  // smallest default of Fine
	leastWithin     = 0.001
	defaultWithin   = 0.03
	mostWithin      = 0.05
	noWithin        = -1
	resolved        = 0.06 // fraction of the records
	clearBy         = 5    // in standard deviations of the noise
	leastDivided    = 4    // smallest count of a divided cell, in standard deviations of its parts
	cellRecords     = 0.75 // noise of a cell's count, divided by its average number of records
)

const (
	purposeColumns = "column counts"
	purposeWithin  = "counts within cells"
	purposeTables  = "table choices"
	purposeValues  = "table measurements"
)

func (m tableMethod) units() int { return unitsRound * m.rounds }

// columnNoise returns the noise multiplier of the columns' counts.
func (m tableMethod) columnNoise(noise float64) float64 { return noise / math.Sqrt(m.ColumnPart) }

// withinNoise returns the noise multiplier of the counts within cells.
func (m tableMethod) withinNoise(noise float64) float64 { return noise / math.Sqrt(m.WithinPart) }

// choiceEpsilon returns the ε of one choice. An exponential mechanism of ε has zero-concentrated
// privacy ε²/8, and a Gaussian of noise multiplier z has 1/(2z²). These formulas only divide the
// budget among the stages; the accountant prices the events themselves.
func (m tableMethod) choiceEpsilon(noise float64) float64 {
	return 2 / noise * math.Sqrt(choicesPart/float64(m.rounds))
}

// unitNoise returns the noise multiplier of one unit of measurement.
func (m tableMethod) unitNoise(noise float64) float64 {
	return noise * math.Sqrt(float64(m.units())/(1-m.ColumnPart-m.WithinPart-choicesPart))
}

func (m tableMethod) stages(noise float64) []synth.Stage {
	gaussian := func(purpose string, z float64, count int) synth.Stage {
		return synth.Stage{Purpose: purpose, Event: accountant.Gaussian{NoiseMultiplier: z},
			Count: count, NoiseMultiplier: z, Once: count == 1}
	}
	list := []synth.Stage{gaussian(purposeColumns, m.columnNoise(noise), 1)}
	if m.WithinPart > 0 {
		list = append(list, gaussian(purposeWithin, m.withinNoise(noise), 1))
	}
	if m.rounds > 0 {
		list = append(list, synth.Stage{Purpose: purposeTables,
			Event: accountant.ExponentialMechanism{Epsilon: m.choiceEpsilon(noise)}, Count: m.rounds},
			gaussian(purposeValues, m.unitNoise(noise), m.units()))
	}
	return list
}

// survey returns the release of the columns' counts.
func (m tableMethod) survey() marginal.Survey {
	return marginal.Survey{Attributes: m.attributes, Relation: m.Budget.Relation}
}

// parts returns the release of the counts within cells.
func (m tableMethod) parts(d marginal.Division) marginal.PartSurvey {
	return marginal.PartSurvey{Attributes: m.attributes, Division: d, Relation: m.Budget.Relation}
}

// unitStd returns the standard deviation of one unit of measurement of a table, in which a record
// has one cell.
func (m tableMethod) unitStd(noise float64) float64 {
	return m.unitNoise(noise) * mechanism.HistogramSensitivity(m.Budget.Relation)
}

// change returns the largest sum of absolute differences between a table's cells in neighbouring
// data.
func (m tableMethod) change() int {
	if m.Budget.Relation == accountant.ReplaceOne {
		return 2
	}
	return 1
}

// predicted adds the predicted time and memory of a fit to the notes, if Nominal is set.
func (m *tableMethod) predicted() {
	if m.Nominal == 0 {
		return
	}
	n := len(m.attributes)
	domain := make(graphical.Domain, 2*n)
	for j, a := range m.attributes {
		domain[j] = a.Codes
		if n := a.Ordered(); n > m.Bins/2 {
			domain[j] = a.Codes - n + min(n, m.Bins+m.Bins/2)
		}
		if a.Coarsens(domain[j], m.Coarse) {
			domain[n+j] = m.Coarse
		}
	}
	list := m.candidates(domain)
	cells := 0
	for _, c := range list {
		cells += c.cells
	}
	tables := float64(len(list))
	drawn := float64(m.drawn(m.Nominal, len(list)))
	compared, passes, fitted := m.fits(list)
	const count, pass, encode = 40, 150, 400 // operations on a cell or a value
	operations := float64(m.Nominal)*(tables*count+float64(m.Schema.Dim())*encode/10) +
		compared*drawn*tables*count + passes*fitted*pass
	bytes := 24*float64(cells) + 40*fitted + 2*drawn*float64(len(domain)) +
		4*marginal.BatchRows*float64(m.Schema.Dim())
	m.choices.Add("", "", defaults.CostOf(operations, bytes).String())
}

// fits returns how often all candidates are compared with the model, the passes over the model's
// tables, and the cells of these tables. AIM compares and fits in every round. MST compares once
// and fits a tree of pairs at the end.
func (m tableMethod) fits(list []candidate) (compared, passes, cells float64) {
	rounds, cells := float64(m.rounds), float64(m.Cells)
	if m.system != nameMST {
		return rounds, lastPasses + rounds*roundPasses/3, cells
	}
	largest := 0
	for _, c := range list {
		largest = max(largest, c.cells)
	}
	return 1, lastPasses, min(cells, rounds*float64(largest))
}

// drawn returns the number of rows that are drawn to compare candidates with the model.
func (m tableMethod) drawn(records, candidates int) int {
	most := min(mostDrawn, max(mostCounted/max(candidates, 1), leastDrawn))
	return min(max(2*records, leastDrawn), most)
}

// tableWork is a method with its noise.
type tableWork struct {
	tableMethod
	noise float64
}

// newTablePlan returns the plan with the smallest noise that meets the budget.
func newTablePlan(m tableMethod) (*Plan, error) {
	noise, _, err := accountant.CalibrateNoise(m.Budget, func(noise float64) accountant.Event {
		return synth.Total(m.stages(noise)...)
	})
	if len(m.choices) == 0 || m.choices[len(m.choices)-1].Setting != "" { // not read from a file
		m.predicted()
	}
	if err != nil {
		return nil, fmt.Errorf("baselines: noise of %s: %w", m.system, err)
	}
	if err := m.drawable(noise); err != nil {
		return nil, err
	}
	p, err := synth.NewProgram(m.system, m.Schema, m.Budget, m.stages(noise), tableWork{m, noise})
	if err != nil {
		return nil, err
	}
	return &Plan{p}, nil
}

// drawable returns an error for noise that cannot be drawn on the grids of the counts. A fit with
// such noise would fail after it has spent its budget. Releases with a checkpoint use up to three
// times the noise.
func (m tableMethod) drawable(noise float64) error {
	const whole = 1<<45 - 1<<20 // largest noise in steps of the grid; a release draws 1 to 2^45
	std, grid := m.unitStd(noise), marginal.TableGrid(1)
	ok := m.survey().Drawable(m.columnNoise(noise)) &&
		(m.WithinPart == 0 || m.parts(nil).Drawable(m.withinNoise(noise))) &&
		(m.rounds == 0 || std >= grid && std <= whole*grid)
	var k param.Checker
	k.OK(ok, "baselines."+strings.ToUpper(m.system)+".Budget", m.Budget.String(),
		"an ε for which the noise of a count is 2^-20 to 2^23 records")
	return k.Err()
}

// TakesPersons marks that the system supports schemas with several rows per person: rows count with
// weights.
func (w tableWork) TakesPersons() {}

// Title describes the records.
func (w tableWork) Title() string { return w.Schema.String() }

// Notes lists the choices of the default rules.
func (w tableWork) Notes() []string { return w.choices.Notes() }

// Passes returns the names of the passes over all records.
func (w tableWork) Passes() []string {
	list := []string{purposeColumns}
	if w.WithinPart > 0 {
		list = append(list, purposeWithin)
	}
	if w.rounds > 0 {
		list = append(list, purposeTables)
	}
	return list
}

// Partial returns the counts of a pass over no records.
//
// Errors: *param.Error for a pass that does not belong to the plan.
func (w tableWork) Partial(p synth.Pass, _ device.Backend) (*partial.Partial, error) {
	var c partial.Counter
	switch {
	case p.Purpose == purposeColumns && p.State == nil:
		c = w.survey().Counter()
	case p.Purpose == purposeWithin && w.WithinPart > 0:
		d, ok := marginal.ReadDivision(w.attributes, p.State)
		if ok {
			c = w.parts(d).Counter()
		}
	case p.Purpose == purposeTables && w.rounds > 0:
		if groups, ok := marginal.ReadPassState(w.attributes, p.State, w.Coarse); ok {
			c = w.tableCounter(groups)
		}
	}
	if c == nil {
		return nil, param.New("baselines.Pass ("+w.system+")", p.Purpose,
			"a pass of this plan, with its state unchanged")
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	pass, err := partial.NewPass(w.system, w.Schema, w.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, w.Schema, c, false), nil
}

// tableJSON is the configuration of a method for tables in a plan's JSON.
type tableJSON struct {
	Bins        int     `json:"bins"`
	Cells       int     `json:"cells"`
	ClassWeight float64 `json:"class_weight"`
	Rounds      int     `json:"rounds,omitempty"`
	Order       int     `json:"order,omitempty"`
	Coarse      int     `json:"coarse,omitempty"`
	Nominal     int     `json:"nominal,omitempty"`
	// Plans without these fields have 126, 0.12 and 0.
	Fine       int     `json:"fine,omitempty"`
	ColumnPart float64 `json:"column_part,omitempty"`
	ClassPart  float64 `json:"class_part,omitempty"`
	WithinPart float64 `json:"within_part,omitempty"`
	Seed       uint64  `json:"seed,string"`
	// Noise is for readers of the plan; it is computed again when a plan is read.
	Noise   float64          `json:"noise_multiplier,omitempty"`
	Choices defaults.Choices `json:"choices,omitempty"`
}

// Config returns the configuration in JSON.
func (w tableWork) Config() (json.RawMessage, error) {
	coarse := w.Coarse
	if coarse == 1 { // no coarse tables; older plans lack this field
		coarse = 0
	}
	return json.Marshal(tableJSON{Bins: w.Bins, Cells: w.Cells, ClassWeight: w.ClassWeight,
		Rounds: w.rounds, Order: w.order, Coarse: coarse, Nominal: w.Nominal, Seed: w.Seed,
		Fine: w.Fine, ColumnPart: w.ColumnPart, ClassPart: w.classPart, WithinPart: w.WithinPart,
		Noise: w.noise, Choices: w.choices})
}

// tableSystem returns the functions that read plans and generators of a method for tables.
func tableSystem(name string, plan func(Tables, tableJSON) (*Plan, error)) synth.System {
	return synth.System{Name: name, Model: readTableModel,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) {
			var j tableJSON
			if err := s.Decode(&j); err != nil {
				return nil, err
			}
			return synth.PlanOf(plan(Tables{Schema: s.Schema, Budget: s.Budget, Nominal: j.Nominal,
				Seed: j.Seed, Bins: j.Bins, Cells: j.Cells, ClassWeight: j.ClassWeight,
				Fine: cmp.Or(j.Fine, marginal.MostCells), ColumnPart: cmp.Or(j.ColumnPart, leastColumnPart),
				WithinPart: cmp.Or(j.WithinPart, noWithin), Coarse: cmp.Or(j.Coarse, 1),
				choices: j.Choices}, j))
		}}
}

// Fit releases the counts of columns and then the chosen tables.
func (w tableWork) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	return w.fitTables(ctx, r)
}
