package tables

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// AIM measures tables of a few columns, one after another, and each time chooses a table that
// differs much from its model of the records. It draws rows from a graphical model fitted to all
// measurements.
//
// It first releases the counts of each column's values, groups values by these counts, and fits a
// model of independent columns. Each round chooses a table by the exponential mechanism. The score
// of a table is the sum of its cells' distances from the model minus the expected noise of its
// measurement. The table is measured with Gaussian noise, and the model is fitted to everything
// measured so far. If a measurement changes the model by less than its noise, later measurements
// use four times the budget. The last round uses the rest of the budget. A plan with fewer rounds
// than the default spends more of the budget on each of the first rounds.
//
// Columns of two values also have tables of up to eight columns; see Order.
//
// A number to be predicted ([records.Target]) is drawn given the whole row, if there is no class
// and the records are many compared with the noise. Its score, a normal quantile of its rank, is a
// sum of weights, one for each value of another column and of a table of two columns, plus a
// residual. A column of more than 32 values that alone explains most of the score, if the other
// columns explain much of it too, is drawn after the target. A condition on the target is met by
// rejecting rows, up to 4,096 for each; under one on a column after the target, the graphical model
// alone draws the rows.
// Otherwise such a number has the part of a class: its tables have twice the weight, and may have
// coarse groups of the other columns.
//
// If records are few compared with the noise, a choice by the exponential mechanism is nearly
// random. By default a plan for so few records has fewer rounds, and first measures the table of
// each column and the class; see ClassPart. It measures the coarse table if there is one. Rounds
// for more than 64 columns then fit the model only near the new measurement, and compare only
// tables of a column near it.
//
// Guarantee: one Gaussian release of all columns' counts; with WithinPart, one Gaussian release of
// counts within cells; Rounds exponential mechanisms of the same ε; and 8·Rounds Gaussian releases
// of the same noise. The first release decides which cells the second one divides into parts, and a
// record is in at most one part in each column. An exponential mechanism chooses among tables by
// their distances from public numbers. A distance changes by at most 1 if a record is added or
// removed, and by at most 2 if a record is replaced. The mechanism uses this bound as the
// sensitivity. Each later Gaussian release is of one table, in which a record has one cell. The
// choice of tables and the number of releases of each depend on earlier releases only. Rows of
// persons count with their weights. For a number to be predicted there are four further Gaussian
// releases and one exponential mechanism: of the sums of its scores in each value of each other
// column, then of the sums of residuals there, of those in a chosen table, and of the counts of
// residuals. Scores and residuals are clipped to a bound that is public or released, so a record
// changes one sum of each table by at most the bound, or by twice the bound if it is replaced.
//
// Source: McKenna, Mullins, Sheldon and Miklau, "AIM: An Adaptive and Iterative Mechanism for
// Differentially Private Synthetic Data", 2022. This implementation differs from the paper in eight
// ways. Values are grouped by released counts. Frequent single values within a cell of numbers are
// counted. A table with the class can also be chosen with coarse groups: its few cells have larger
// counts, which can exceed the noise. A measurement is made of equal releases, so the composed
// events are fixed in advance. Distances are computed from rows drawn from the model instead of
// from its exact tables. Tables with the class can be measured without a choice. Flags have tables
// of more columns. A number to be predicted is drawn given the whole row.
type AIM struct {
	Common
	// Rounds is the number of choices. 0 means ten per column, but at most the larger of 150 and
	// three per column, and fewer if records are few compared with the noise.
	Rounds int
	// Order is the largest number of columns of a table: 2 or 3. 0 means 3. With 3, columns of two
	// values also have tables of four to eight of them, smaller tables first, at most 2,048 in all.
	Order int
	// ClassPart is the fraction of the budget for measurements that is spent without a choice. It
	// is divided equally among one table for each column, which has the column and the class. A
	// negative number means none. 0 means the default: none, or up to 0.8 if records are few
	// compared with the noise.
	ClassPart float64
	// Coarse is the number of groups of a column's values in coarse tables. A coarse table with the
	// class may be chosen in place of the fine one. 0 means 5; 1 means no coarse tables.
	Coarse int

	known int     // number of the columns that are known before a row is drawn; see After
	trend float64 // fraction of the budget for the trend; 0 for the default, or noTrend
}

const (
	nameAIM = "aim"

	mostRounds     = 1 << 12
	defaultCoarse  = 5
	mostCoarse     = 16
	aimClassWeight = 2 // a table with the class is chosen as if its distance were twice as large
	mostClassPart  = 0.8
	noClassPart    = -1
	nearPart       = 0.2 // of the tables that a local method fits and compares in a round
	fewestRounds   = 20  // smallest default number of rounds
)

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c AIM) Plan() (synth.PassProgram, error) {
	m, err := c.method()
	if err != nil {
		return synth.PassProgram{}, err
	}
	return newPlan(m)
}

// method returns the validated settings with defaults filled in.
func (c AIM) method() (m method, err error) {
	k := c.validate("AIM")
	k.OK(c.Rounds >= 0 && c.Rounds <= mostRounds, "tables.AIM.Rounds", c.Rounds,
		fmt.Sprintf("a positive number up to %d, or 0 for the default", mostRounds))
	k.OK(c.Order == 0 || c.Order == 2 || c.Order == 3, "tables.AIM.Order", c.Order,
		"2 or 3, or 0 for the default")
	k.OK(c.ClassPart <= 0.9, "tables.AIM.ClassPart", c.ClassPart,
		"a fraction up to 0.9, 0 for the default, or a negative number for none")
	k.OK(c.Coarse >= 0 && c.Coarse <= mostCoarse, "tables.AIM.Coarse", c.Coarse,
		fmt.Sprintf("1 to %d, or 0 for the default", mostCoarse))
	k.OK(c.known == 0 || c.known > 0 && c.known < len(c.Schema.Columns()) && c.Schema.Classes() == 0,
		"tables.AIM.After", c.known, "fewer columns than the schema has, which has no class")
	if err := k.Err(); err != nil {
		return m, err
	}
	common, err := c.chosen()
	if err != nil {
		return m, err
	}
	attributes := marginal.AttributesIn(c.Schema, common.Fine)
	sharp := min(common.sharpness(roundsFor(len(attributes))), 1)
	if sharp < 1 {
		most := roundsFor(len(attributes))
		defaults.Fill(&common.choices, &c.Rounds,
			min(max(int(float64(most)*sharp*sharp), fewestRounds), most), "Rounds",
			"few, because the noise of more choices would exceed their differences")
		defaults.Fill(&common.choices, &c.ClassPart, mostClassPart*(1-sharp*sharp), "ClassPart",
			"the part that choices cannot direct well")
	}
	if c.ClassPart < 0 || (method{attributes: attributes}).goal() < 0 {
		c.ClassPart = 0
	}
	known := knownAttributes(c.Schema, c.known)
	m = method{Common: common, local: sharp < 1 && len(attributes) > graphical.MostGrowth,
		before: c.known, known: known,
		rounds: cmp.Or(c.Rounds, roundsFor(len(attributes))),
		order:  min(cmp.Or(c.Order, 3), max(len(attributes), 2)),
		coarse: cmp.Or(c.Coarse, defaultCoarse), classWeight: aimClassWeight, attributes: attributes}
	if m.trendPart = max(c.trend, 0); c.trend == 0 && m.signal >= leastTrend {
		m.trendPart = m.mostTrend()
	}
	if !(m.trendPart <= m.mostTrend()) {
		return m, param.New("tables.AIM.trend", m.trendPart, "a part that the plan has")
	}
	if m.trendPart > 0 {
		c.ClassPart = 0
	}
	m.strategy = worstFitted{classPart: c.ClassPart, known: known}
	return m, nil
}

// sharpness estimates how well the given number of choices can tell good tables from bad ones. It
// is 1 if a table that differs from the model by a fifth of the records has a score of chosenBy, in
// units of the mechanism's random term. The largest random term of e^chosenBy other tables is about
// as large.
func (c Common) sharpness(rounds int) float64 {
	const missed, chosenBy = 0.2, 8
	return missed * c.signal * math.Sqrt(choicesPart/float64(rounds)) / chosenBy
}

// roundsFor returns the default number of rounds: ten per column, but at most the larger of 150 and
// three per column.
func roundsFor(columns int) int { return min(10*columns, max(150, 3*columns), mostRounds) }

// firstLevel returns the number of units of each of the first measurements. It is 1 for the default
// number of rounds, since later measurements use more units. With fewer rounds it is larger, up to
// an equal share of all units; otherwise most units would be left for the last round.
func (m method) firstLevel() int {
	return min(max(roundsFor(len(m.attributes))/max(m.rounds, 1), 1), unitsRound)
}

// worstFitted is the strategy of AIM: in every round, a table that differs much from the model,
// which is then fitted to everything measured.
type worstFitted struct {
	classPart float64 // fraction of the units for tables of each column with the class
	known     int     // number of attributes that are known before a row is drawn
	trend     *trend  // has the tables of its target; nil for none
}

func (worstFitted) name() string { return nameAIM }

// measures excludes the tables of single columns that are known, and tables of a trend's target
// without a column that is drawn after it.
func (s worstFitted) measures(c candidate) bool {
	if t := s.trend; t != nil && slices.Contains(c.attributes, t.Target) &&
		!slices.ContainsFunc(t.Late, func(a int) bool { return slices.Contains(c.attributes, a) }) {
		return false
	}
	return c.attributes[len(c.attributes)-1] >= s.known
}

func (worstFitted) work(m method, _ []candidate) (compared, passes, cells float64) {
	rounds := float64(m.rounds)
	if m.local {
		rounds *= nearPart
	}
	return rounds, usualPasses + rounds*roundPasses/3, float64(m.Cells)
}

// begin measures the tables of classTables. A resumed run may have too few units left for them.
func (s worstFitted) begin(f *fitting) error {
	list, units := s.classTables(f)
	list = list[min(len(f.values), len(list)):]
	units = min(units, f.measures.Remaining()/max(len(list), 1))
	if units == 0 {
		return nil
	}
	for _, i := range list {
		if err := f.measure(i, units); err != nil {
			return err
		}
	}
	return nil
}

// classTables returns, for each column, the candidate with the fewest cells that has this column
// and the class. It omits tables for which the model has no room. It returns nil if the plan
// measures no tables without a choice, or if the units are too few.
func (s worstFitted) classTables(f *fitting) (list []int, units int) {
	label := f.goal()
	if s.classPart == 0 || label < 0 {
		return nil, 0
	}
	best := make([]int, len(f.domain))
	for i, c := range f.list {
		if len(c.attributes) != 2 || !slices.Contains(c.attributes, label) {
			continue
		}
		a := c.attributes[0] + c.attributes[1] - label
		if b := &best[a]; *b == 0 || c.cells < f.list[*b].cells {
			*b = i
		}
	}
	var groups [][]int
	for _, c := range f.columns {
		groups = append(groups, c.Attributes)
	}
	for _, i := range best {
		with := append(groups, f.list[i].attributes)
		if i > 0 && graphical.Fits(f.domain, with, float64(f.Cells)) { // the first are single columns
			list, groups = append(list, i), with
		}
	}
	units = int(s.classPart * float64(f.units()) / float64(max(len(list), 1)))
	if units == 0 {
		return nil, 0
	}
	return list, units
}

// fits accepts tables that the model already contains, and tables with which the model stays within
// the present limit. This limit grows with the number of measurements.
func (worstFitted) fits(f *fitting) func([]int) bool {
	done := 1 - float64(f.measures.Remaining())/float64(f.units())
	limit := float64(f.Cells) * max(done, 0.1)
	if len(f.domain) > graphical.MostGrowth {
		reach := graphical.NewReach(f.domain, f.model.Tree)
		return func(group []int) bool { return reach.Fits(group, limit) }
	}
	measured := graphical.NewGrowth(f.domain, f.measured())
	return func(attributes []int) bool {
		return f.model.Tree.Holder(f.domain, attributes) >= 0 || measured.Fits(attributes, limit)
	}
}

// units returns, in the last round, all units that are left.
func (worstFitted) units(f *fitting) int {
	left := f.measures.Remaining()
	if f.choices.Remaining() <= 1 || left < 2*f.level {
		return left
	}
	return f.level
}

// compared fits the model, and compares all candidates with it again. If the measurement changed
// the model by less than its noise, later measurements use four times the units.
func (worstFitted) compared(ctx context.Context, f *fitting, i int, std float64,
	guesses [][]float64) ([][]float64, error) {
	if i < 0 {
		return f.guesses(), nil
	}
	if err := f.follow(ctx, f.values[len(f.values)-1:]); err != nil {
		return nil, err
	}
	moved := 0.0
	for k, p := range f.law(i) {
		moved += math.Abs(p*f.total - guesses[i][k])
	}
	if moved <= marginal.ExpectedNoise(f.list[i].cells, std) {
		f.level *= 4
	}
	return f.guesses(), nil
}

// PlanFor implements [synth.Design].
func (c AIM) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}
