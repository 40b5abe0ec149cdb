package tables

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// method is a way to measure tables, with all settings except its noise.
type method struct {
	Common
	strategy    strategy
	rounds      int     // number of choices
	order       int     // largest number of columns of a table
	coarse      int     // groups of a column's values in coarse tables; 1 for no coarse tables
	classWeight float64 // weight of a table with the class, relative to one without it
	attributes  []marginal.Attribute
	local       bool    // whether a round fits and compares the model only near its measurement
	before      int     // number of the first columns, which are known before a row is drawn
	known       int     // number of their attributes
	trendPart   float64 // fraction of the budget for the trend of the number to be predicted
}

// A strategy states which tables a method measures, and when it compares them with its model. A
// further method is a config with a Plan, its strategy, and a line in Systems.
type strategy interface {
	name() string // of the system, in files and errors
	// measures reports whether the method ever measures a candidate.
	measures(c candidate) bool
	// work returns how often all candidates are compared with the model, the passes over the model's
	// tables, and the cells of these tables.
	work(m method, list []candidate) (compared, passes, cells float64)
	// begin makes the measurements that need no choice. A resumed run has made some of them.
	begin(f *fitting) error
	// fits returns a function that reports whether a table of attributes may be measured next, given
	// those that have been measured. It is called concurrently.
	fits(f *fitting) func(attributes []int) bool
	// units returns the number of units of the next measurement.
	units(f *fitting) int
	// compared returns the model's guesses for the next choice, after the i-th candidate was measured
	// with the given noise. A negative i means that no candidate was left.
	compared(ctx context.Context, f *fitting, i int, std float64, guesses [][]float64) ([][]float64,
		error)
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

// goal returns the attribute that the table is for: its class, or the number to be predicted. It is
// -1 if there is none.
func (m method) goal() int {
	if m.trendPart > 0 { // the trend has the target's tables
		return -1
	}
	return slices.IndexFunc(m.attributes, func(a marginal.Attribute) bool {
		return a.Class() || a.Target
	})
}

func (m method) units() int { return unitsRound * m.rounds }

// columnNoise returns the noise multiplier of the columns' counts.
func (m method) columnNoise(noise float64) float64 { return noise / math.Sqrt(m.ColumnPart) }

// withinNoise returns the noise multiplier of the counts within cells.
func (m method) withinNoise(noise float64) float64 { return noise / math.Sqrt(m.WithinPart) }

// choiceEpsilon returns the ε of one choice. An exponential mechanism of ε has zero-concentrated
// privacy ε²/8, and a Gaussian of noise multiplier z has 1/(2z²). These formulas only divide the
// budget among the stages; the accountant prices the events themselves.
func (m method) choiceEpsilon(noise float64) float64 {
	return 2 / noise * math.Sqrt(choicesPart/float64(m.rounds))
}

// unitNoise returns the noise multiplier of one unit of measurement.
func (m method) unitNoise(noise float64) float64 {
	return noise * math.Sqrt(float64(m.units())/(1-m.ColumnPart-m.WithinPart-m.trendPart-choicesPart))
}

func (m method) stages(noise float64) []synth.Stage {
	list := []synth.Stage{gaussianStage(purposeColumns, m.columnNoise(noise), 1)}
	if m.WithinPart > 0 {
		list = append(list, gaussianStage(purposeWithin, m.withinNoise(noise), 1))
	}
	if m.rounds > 0 {
		list = append(list, choiceStage(purposeTables, m.choiceEpsilon(noise), m.rounds),
			gaussianStage(purposeValues, m.unitNoise(noise), m.units()))
	}
	return append(list, m.trendStages(noise)...)
}

func gaussianStage(purpose string, z float64, count int) synth.Stage {
	return synth.Stage{Purpose: purpose, Event: accountant.Gaussian{NoiseMultiplier: z},
		Count: count, NoiseMultiplier: z, Once: count == 1}
}

func choiceStage(purpose string, epsilon float64, count int) synth.Stage {
	return synth.Stage{Purpose: purpose, Event: accountant.ExponentialMechanism{Epsilon: epsilon},
		Count: count}
}

// survey returns the release of the columns' counts.
func (m method) survey() marginal.Survey {
	return marginal.Survey{Attributes: m.attributes, Relation: m.Budget.Relation}
}

// parts returns the release of the counts within cells.
func (m method) parts(d marginal.Division) marginal.PartSurvey {
	return marginal.PartSurvey{Attributes: m.attributes, Division: d, Relation: m.Budget.Relation}
}

// unitStd returns the standard deviation of one unit of measurement of a table, in which a record
// has one cell.
func (m method) unitStd(noise float64) float64 {
	return m.unitNoise(noise) * mechanism.HistogramSensitivity(m.Budget.Relation)
}

// change returns the largest sum of absolute differences between a table's cells in neighbouring
// data.
func (m method) change() int {
	if m.Budget.Relation == accountant.ReplaceOne {
		return 2
	}
	return 1
}

// predicted adds the predicted time and memory of a fit to the notes, if Nominal is set.
func (m *method) predicted() {
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
		if a.Coarsens(domain[j], m.coarse) {
			domain[n+j] = m.coarse
		}
	}
	list := m.candidates(domain)
	cells := 0
	for _, c := range list {
		cells += c.cells
	}
	tables := float64(len(list))
	drawn := float64(m.drawn(m.Nominal, len(list)))
	compared, passes, fitted := m.strategy.work(*m, list)
	const count, compare, draw, pass, encode = 40, 6, 300, 50, 400 // operations on a cell or a value
	operations := float64(m.Nominal)*(tables*count+float64(m.Schema.Dim())*encode/10) +
		compared*drawn*(tables*compare+float64(n)*(draw+8*float64(n))) + passes*fitted*pass
	bytes := 24*float64(cells) + 40*fitted + 2*drawn*float64(len(domain)) +
		4*marginal.BatchRows*float64(m.Schema.Dim())
	m.choices.Add("", "", defaults.CostOf(operations, bytes).String())
}

// drawn returns the number of rows that are drawn to compare candidates with the model.
func (m method) drawn(records, candidates int) int {
	most := min(mostDrawn, max(mostCounted/max(candidates, 1), leastDrawn))
	if !m.local {
		records *= 2
	}
	return min(max(records, leastDrawn), most)
}

// drawable returns an error for noise that cannot be drawn on the grids of the counts. A fit with
// such noise would fail after it has spent its budget. Releases with a checkpoint use up to three
// times the noise.
func (m method) drawable(noise float64) error {
	const whole = 1<<45 - 1<<20 // largest noise in steps of the grid; a release draws 1 to 2^45
	std, grid := m.unitStd(noise), marginal.TableGrid(1)
	least, most := m.trendStds(noise)
	ok := m.survey().Drawable(m.columnNoise(noise)) &&
		(m.WithinPart == 0 || m.parts(nil).Drawable(m.withinNoise(noise))) &&
		(m.rounds == 0 || std >= grid && std <= whole*grid) &&
		(m.trendPart == 0 || least >= grid && 3*most <= whole*grid)
	var k param.Checker
	k.OK(ok, "tables."+strings.ToUpper(m.strategy.name())+".Budget", m.Budget.String(),
		"an ε for which the noise of a count is 2^-20 to 2^23 records")
	return k.Err()
}
