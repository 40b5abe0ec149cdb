package baselines

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/mechanism"
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
// If records are few compared with the noise, a choice by the exponential mechanism is nearly
// random. By default a plan for so few records has fewer rounds, and first measures the table of
// each column and the class; see ClassPart. It measures the coarse table if there is one.
//
// Guarantee: one Gaussian release of all columns' counts; with WithinPart, one Gaussian release
// of counts within cells; Rounds exponential mechanisms of the same ε; and 8·Rounds Gaussian
// releases of the same noise. The first release decides which cells the second one divides into
// parts, and a record is in at most one part in each column. An exponential mechanism chooses
// among tables by their distances from public numbers. A distance changes by at most 1 if a
// record is added or removed, and by at most 2 if a record is replaced. The mechanism uses this
// bound as the sensitivity. Each later Gaussian release is of one table, in which a record has
// one cell. The choice of tables and the number of releases of each depend on earlier releases
// only. Rows of persons count with their weights.
//
// Source: McKenna, Mullins, Sheldon and Miklau, "AIM: An Adaptive and Iterative Mechanism for
// Differentially Private Synthetic Data", 2022. This implementation differs from the paper in
// six ways. Values are grouped by released counts. Frequent single values within a cell of
// numbers are counted. A table with the class can also be chosen with coarse groups: its few
// cells have larger counts, which can exceed the noise. A measurement is made of equal releases,
// so the composed events are fixed in advance. Distances are computed from rows drawn from the
// model instead of from its exact tables. Tables with the class can be measured without a
// choice.
type AIM struct {
	Tables
	// Rounds is the number of choices. 0 means ten per column, but at most the larger of 150 and
	// three per column, and fewer if records are few compared with the noise.
	Rounds int
	Order  int // largest number of columns of a table: 2 or 3; 0 means 3
	// ClassPart is the fraction of the budget for measurements that is spent without a choice. It
	// is divided equally among one table for each column, which has the column and the class. A
	// negative number means none. 0 means the default: none, or up to 0.8 if records are few
	// compared with the noise.
	ClassPart float64
}

// MST measures pairs of columns that form a tree over all columns. The exponential mechanism
// chooses the pairs one after another, by their distance from the model of independent columns.
//
// Guarantee: see [AIM]; Rounds is the number of columns minus 1.
//
// Source: McKenna, Miklau and Sheldon, "Winning the NIST Contest", 2021.
type MST struct{ Tables }

const (
	nameAIM = "aim"
	nameMST = "mst"

	mostRounds = 1 << 12
)

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c AIM) Plan() (*Plan, error) {
	m, err := c.method()
	if err != nil {
		return nil, err
	}
	return newTablePlan(m)
}

// method returns the validated settings with defaults filled in.
func (c AIM) method() (m tableMethod, err error) {
	k := c.validate("AIM")
	k.OK(c.Rounds >= 0 && c.Rounds <= mostRounds, "baselines.AIM.Rounds", c.Rounds,
		fmt.Sprintf("a positive number up to %d, or 0 for the default", mostRounds))
	k.OK(c.Order == 0 || c.Order == 2 || c.Order == 3, "baselines.AIM.Order", c.Order,
		"2 or 3, or 0 for the default")
	k.OK(c.ClassPart <= 0.9, "baselines.AIM.ClassPart", c.ClassPart,
		"a fraction up to 0.9, 0 for the default, or a negative number for none")
	if err := k.Err(); err != nil {
		return m, err
	}
	tables, err := c.chosen(aimClassWeight)
	if err != nil {
		return m, err
	}
	attributes := marginal.AttributesIn(c.Schema, tables.Fine)
	sharp := min(tables.sharpness(roundsFor(len(attributes))), 1)
	if sharp < 1 {
		most := roundsFor(len(attributes))
		defaults.Fill(&tables.choices, &c.Rounds,
			min(max(int(float64(most)*sharp*sharp), fewestRounds), most), "Rounds",
			"few, because the noise of more choices would exceed their differences")
		defaults.Fill(&tables.choices, &c.ClassPart, mostClassPart*(1-sharp*sharp), "ClassPart",
			"the part that choices cannot direct well")
	}
	if c.ClassPart < 0 || c.Schema.Classes() == 0 {
		c.ClassPart = 0
	}
	return tableMethod{Tables: tables, system: nameAIM, classPart: c.ClassPart,
		rounds: cmp.Or(c.Rounds, roundsFor(len(attributes))),
		order:  min(cmp.Or(c.Order, 3), max(len(attributes), 2)), attributes: attributes}, nil
}

const (
	aimClassWeight = 2
	mostClassPart  = 0.8
	noClassPart    = -1
	fewestRounds   = 20 // smallest default number of rounds
)

// sharpness estimates how well the given number of choices can tell good tables from bad ones. It
// is 1 if a table that differs from the model by a fifth of the records has a score of chosenBy, in
// units of the mechanism's random term. The largest random term of e^chosenBy other tables is about
// as large.
func (c Tables) sharpness(rounds int) float64 {
	const missed, chosenBy = 0.2, 8
	return missed * c.signal * math.Sqrt(choicesPart/float64(rounds)) / chosenBy
}

// roundsFor returns the default number of rounds: ten per column, but at most the larger of 150 and
// three per column.
func roundsFor(columns int) int { return min(10*columns, max(150, 3*columns), mostRounds) }

// firstLevel returns the number of units of each of the first measurements. It is 1 for the default
// number of rounds, since later measurements use more units. With fewer rounds it is larger, up to
// an equal share of all units; otherwise most units would be left for the last round.
func (m tableMethod) firstLevel() int {
	return min(max(roundsFor(len(m.attributes))/max(m.rounds, 1), 1), unitsRound)
}

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c MST) Plan() (*Plan, error) {
	k := c.validate("MST")
	if err := k.Err(); err != nil {
		return nil, err
	}
	tables, err := c.chosen(1)
	if err != nil {
		return nil, err
	}
	tables.Coarse = 1
	attributes := marginal.AttributesIn(c.Schema, tables.Fine)
	return newTablePlan(tableMethod{Tables: tables, system: nameMST, rounds: len(attributes) - 1,
		order: 2, attributes: attributes})
}

// fitTables releases the columns, groups their values, and measures the chosen tables.
func (w tableWork) fitTables(ctx context.Context, r *synth.Run) (synth.Model, error) {
	known, err := w.survey().Release(ctx, r, purposeColumns, w.columnNoise(w.noise))
	if err != nil {
		return nil, err
	}
	division, weights, err := w.within(ctx, r, known)
	if err != nil {
		return nil, err
	}
	groups, columns := w.columns(known)
	domain := columnsOf(groups)
	f := &tableFit{tableWork: w, domain: domain[:len(groups)], groups: groups,
		total: known.Total, list: w.candidates(domain), columns: columns,
		rng: rand.New(rand.NewPCG(w.Seed, 0x61696d)), level: w.firstLevel(),
		cellsOf: map[int][]int32{}}
	f.covers = newCovers(domain, groups, f.list)
	f.model = f.independent()
	if w.rounds > 0 {
		if err := f.tables(ctx, r, groups); err != nil {
			return nil, err
		}
	}
	f.model = f.independent() // the released model depends on no earlier fit
	if err := f.refit(ctx, lastPasses); err != nil {
		return nil, err
	}
	return newTableModel(w.Schema, w.Fine, groups, f.model).divided(division, weights)
}

// within releases the counts within frequent cells of numbers. It returns the divided cells and the
// weights of their parts.
func (w tableWork) within(ctx context.Context, r *synth.Run, known marginal.Surveyed) (
	marginal.Division, []float64, error) {
	if w.WithinPart == 0 {
		return nil, nil, nil
	}
	noise := w.withinNoise(w.noise)
	std := w.parts(slices.Repeat(marginal.Division{{1}}, w.cells())).Std(noise)
	d := known.Divide(w.attributes, leastDivided*std)
	weights, err := w.parts(d).Release(ctx, r, purposeWithin, noise, known)
	if d.Columns() == 0 {
		d = nil
	}
	return d, weights, err
}

// columns computes, from the released counts of all codes, the groups and the measurements of the
// groups' totals.
func (w tableWork) columns(known marginal.Surveyed) (groups []marginal.Grouping,
	measured []graphical.Measurement) {
	for j, a := range w.attributes {
		g := known.Grouping(j, a, w.Bins)
		a.Coarsen(&g, w.Coarse)
		groups = append(groups, g)
		m := graphical.Measurement{Attributes: []int{j}, Std: known.Noise[j]}
		m.Values, m.Parts = known.Sums(j, g)
		measured = append(measured, m)
	}
	return groups, measured
}

const (
	leastPart   = 0.5 // smallest count of a group, in records, at the start of a fit
	roundPasses = 80  // passes over the model's tables after a round
	farPasses   = 600 // passes if the model is still far from the round's measurement
	farSquares  = 4.0 // mean squared error, in variances of the noise, above which a model is far
	lastPasses  = 3000
	mostDrawn   = 1 << 17 // largest number of rows drawn to compare candidates with the model
	leastDrawn  = 1 << 13
	mostCounted = 1 << 27 // largest product of the numbers of drawn rows and of candidates
)

// tableFit is a fit in progress. Everything in it except counts has been released.
type tableFit struct {
	tableWork
	domain  graphical.Domain
	groups  []marginal.Grouping
	list    []candidate
	covers  covers
	total   float64
	columns []graphical.Measurement
	values  []tableValues
	model   *graphical.Model
	rng     *rand.Rand
	level   int             // units used for a measurement
	cellsOf map[int][]int32 // earlier results of merged

	drawnCounts []int64   // of all candidates, in rows drawn from the model
	guessed     []float64 // all candidates' tables that guesses returned last

	counts            *mechanism.FixedSum
	choices, measures *mechanism.Allowance
}

// independent returns the model of independent columns.
func (f *tableFit) independent() *graphical.Model {
	factors := make([]graphical.Factor, len(f.columns))
	for a, c := range f.columns {
		theta := marginal.Simplex(c.Values, f.total)
		for i, p := range theta {
			theta[i] = math.Log(max(p, leastPart/f.total))
		}
		factors[a] = graphical.Factor{Attributes: c.Attributes, Theta: theta}
	}
	return graphical.NewModel(f.domain, factors)
}

// tables runs the rounds. Grants that are not needed are taken without a draw, since they are paid
// for.
func (f *tableFit) tables(ctx context.Context, r *synth.Run, groups []marginal.Grouping) error {
	if err := r.Restore(f); err != nil {
		return err
	}
	r.Keep(f.file)
	sums, err := r.Read(ctx, synth.Pass{Purpose: purposeTables, State: marginal.PassState(groups)})
	if err != nil {
		return err
	}
	f.counts = sums.Sums()[0]
	f.choices, f.measures = r.Allowance(purposeTables), r.Allowance(purposeValues)
	if err := f.measureClass(); err != nil {
		return err
	}
	if err := f.follow(ctx, f.values); err != nil {
		return err
	}
	guesses := f.guesses()
	for f.choices.Remaining() > 0 && f.measures.Remaining() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.round(ctx, guesses); err != nil {
			return err
		}
		if f.system == nameAIM {
			guesses = f.guesses()
		}
		r.Report(purposeTables, f.rounds-f.choices.Remaining(), f.rounds)
		r.Report(purposeValues, f.tableMethod.units()-f.measures.Remaining(), f.tableMethod.units())
	}
	for _, a := range []*mechanism.Allowance{f.choices, f.measures} {
		for a.Remaining() > 0 {
			if _, err := a.Next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// classTables returns, for each column, the candidate with the fewest cells that has this column
// and the class. It omits tables for which the model has no room. It returns nil if the plan
// measures no tables without a choice, or if the units are too few.
func (f *tableFit) classTables() (list []int, units int) {
	label := len(f.domain) - 1
	if f.classPart == 0 || !f.attributes[label].Class() {
		return nil, 0
	}
	best := make([]int, label)
	for i, c := range f.list {
		if len(c.attributes) != 2 || c.attributes[1] != label {
			continue
		}
		if b := &best[c.attributes[0]]; *b == 0 || c.cells < f.list[*b].cells {
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
	units = int(f.classPart * float64(f.tableMethod.units()) / float64(max(len(list), 1)))
	if units == 0 {
		return nil, 0
	}
	return list, units
}

// measureClass measures the tables of classTables. A resumed run has measured some of them, and may
// have too few units left for the others.
func (f *tableFit) measureClass() error {
	list, units := f.classTables()
	list = list[min(len(f.values), len(list)):]
	units = min(units, f.measures.Remaining()/max(len(list), 1))
	if units == 0 {
		return nil
	}
	for _, i := range list {
		value, err := f.measure(f.list[i], units)
		if err != nil {
			return err
		}
		f.values = append(f.values, tableValues{i, units, value})
	}
	return nil
}

// guesses returns estimates of all candidates' tables, in records. It counts them in rows drawn
// from the model. The next call overwrites them.
func (f *tableFit) guesses() [][]float64 {
	records := f.Nominal
	if records == 0 {
		records = int(min(f.total, mostDrawn))
	}
	drawn := f.drawn(records, len(f.list))
	var buffers [][]uint16
	codes := withCoarse(f.groups, f.model.Drawer().Draw(f.rng, drawn), &buffers)
	last := f.list[len(f.list)-1]
	if f.drawnCounts == nil {
		f.drawnCounts = make([]int64, last.first+last.cells)
		f.guessed = make([]float64, len(f.drawnCounts))
	}
	clear(f.drawnCounts)
	f.covers.countRows(codes, f.drawnCounts)
	f.covers.sum(f.drawnCounts)
	out := make([][]float64, len(f.list))
	marginal.InParallel(len(f.list), func(i int) {
		c := f.list[i]
		out[i] = f.guessed[c.first : c.first+c.cells]
		for k, n := range f.covers.of(i, f.drawnCounts) {
			out[i][k] = float64(n) * f.total / float64(drawn)
		}
	})
	return out
}

// units returns the number of units for the next measurement: in the last round, all that are left.
func (f *tableFit) units() int {
	left := f.measures.Remaining()
	if f.system == nameMST {
		return max(left/max(f.choices.Remaining(), 1), 1)
	}
	if f.choices.Remaining() <= 1 || left < 2*f.level {
		return left
	}
	return f.level
}

// round chooses a table, measures it, and fits the model.
func (f *tableFit) round(ctx context.Context, guesses [][]float64) error {
	units := f.units()
	std := f.unitStd(f.noise) / math.Sqrt(float64(units))
	i, err := f.choose(guesses, std)
	if err != nil || i < 0 {
		return err
	}
	value, err := f.measure(f.list[i], units)
	if err != nil {
		return err
	}
	f.values = append(f.values, tableValues{i, units, value})
	if f.system == nameMST {
		return nil
	}
	before := guesses[i]
	if err := f.follow(ctx, f.values[len(f.values)-1:]); err != nil {
		return err
	}
	moved := 0.0
	for k, p := range f.law(i) {
		moved += math.Abs(p*f.total - before[k])
	}
	if moved <= marginal.ExpectedNoise(f.list[i].cells, std) {
		f.level *= 4
	}
	return nil
}

// merged returns candidate.merged of the i-th candidate. It keeps the result, since every later fit
// needs it again.
func (f *tableFit) merged(i int) []int32 {
	cells, ok := f.cellsOf[i]
	if !ok {
		cells = f.list[i].merged(f.groups)
		f.cellsOf[i] = cells
	}
	return cells
}

// law returns the model's probability of each cell of the i-th candidate. One of the model's tables
// must contain the candidate's attributes.
func (f *tableFit) law(i int) []float64 {
	c := f.list[i]
	cells := f.model.Marginal(c.attributes)
	merged := f.merged(i)
	if merged == nil {
		return cells
	}
	law := make([]float64, c.cells)
	graphical.Merge(law, cells, merged)
	return law
}

// choose chooses among the candidates for which the model has room. If there are none, it spends
// the choice without a draw and returns -1.
func (f *tableFit) choose(guesses [][]float64, std float64) (int, error) {
	open := f.open()
	grant, err := f.choices.Next()
	if err != nil || len(open) == 0 {
		return -1, err
	}
	list := make([]mechanism.Guess, len(open))
	for k, i := range open {
		c := f.list[i]
		list[k] = mechanism.Guess{Counts: f.counts.Slice(c.first, c.first+c.cells), Answers: guesses[i],
			Weight:   c.weight,
			Handicap: c.weight * marginal.ExpectedNoise(c.cells, std) / float64(f.change())}
	}
	k, err := grant.Worst(list, f.change())
	if err != nil {
		return -1, err
	}
	return open[k], nil
}

// open returns the candidates that may be measured next. For AIM there are two kinds: tables that
// the model already contains, and tables with which the model stays within the present limit. This
// limit grows with the number of measurements. For MST they are the pairs of columns that join two
// parts of the tree.
func (f *tableFit) open() (open []int) {
	growth, limit := graphical.NewGrowth(f.domain, f.measured()), float64(f.Cells)
	if f.system == nameAIM {
		done := 1 - float64(f.measures.Remaining())/float64(f.tableMethod.units())
		limit *= max(done, 0.1)
	}
	fits := make([]bool, len(f.list))
	marginal.InParallel(len(f.list), func(i int) {
		c := f.list[i].attributes
		if f.covers.fine[i] != i ||
			f.system == nameMST && (len(c) != 2 || growth.Connected(c[0], c[1])) {
			return
		}
		fits[i] = f.system == nameAIM && f.model.Tree.Holder(f.domain, c) >= 0 ||
			growth.Fits(c, limit)
	})
	for i, fine := range f.covers.fine {
		if fits[fine] {
			open = append(open, i)
		}
	}
	return open
}

// measured returns the groups of columns that have been measured together, and each column alone.
func (f *tableFit) measured() (groups [][]int) {
	for _, c := range f.columns {
		groups = append(groups, c.Attributes)
	}
	for _, v := range f.values {
		groups = append(groups, f.list[v.candidate].attributes)
	}
	return groups
}

// measure returns the mean of the given number of releases of a table's counts.
func (f *tableFit) measure(c candidate, units int) ([]float64, error) {
	mean, out := make([]float64, c.cells), make([]float64, c.cells)
	std := f.unitStd(f.noise)
	for range units {
		grant, err := f.measures.Next()
		if err != nil {
			return nil, err
		}
		err = grant.Release(1/f.unitNoise(f.noise), mechanism.Part{
			Sum: f.counts.Slice(c.first, c.first+c.cells), Std: std, Out: out})
		if err != nil {
			return nil, err
		}
		for k, v := range out {
			mean[k] += v / float64(units)
		}
	}
	return mean, nil
}

// follow fits the model between two rounds. If the model misses a new measurement by far more than
// its noise, follow fits it further, because the next round would otherwise choose the same table
// again. In a resumed run all measurements are new to the model.
func (f *tableFit) follow(ctx context.Context, fresh []tableValues) error {
	err := f.refit(ctx, roundPasses)
	if err == nil && slices.ContainsFunc(fresh, f.far) {
		err = f.refit(ctx, farPasses)
	}
	return err
}

// far reports whether the model misses a measurement by far more than its noise.
func (f *tableFit) far(v tableValues) bool {
	std := f.unitStd(f.noise) / math.Sqrt(float64(v.units))
	squares := 0.0
	for k, p := range f.law(v.candidate) {
		off := (p*f.total - v.values[k]) / std
		squares += off * off
	}
	return squares > farSquares*float64(len(v.values))
}

// refit fits the model to everything measured.
func (f *tableFit) refit(ctx context.Context, passes int) error {
	list := slices.Clone(f.columns)
	for _, v := range f.values {
		c := f.list[v.candidate]
		list = append(list, graphical.Measurement{Attributes: c.attributes, Values: v.values,
			Std: f.unitStd(f.noise) / math.Sqrt(float64(v.units)), Merged: f.merged(v.candidate)})
	}
	f.model = f.model.Extended(f.measured()...)
	return f.model.Fit(ctx, list, f.total, passes)
}

// tableValues is one measurement.
type tableValues struct {
	candidate, units int
	values           []float64
}

const sectionTables = "tables" // for each measurement: candidate, units and values

type tableHeader struct {
	Level int `json:"level"`
}

// file returns the state of the rounds so far for a checkpoint.
func (f *tableFit) file() (*synth.File, error) {
	var numbers []float64
	for _, v := range f.values {
		numbers = append(numbers, float64(v.candidate), float64(v.units))
		numbers = append(numbers, v.values...)
	}
	return synth.NewFile(tableHeader{f.level}, synth.Part64(sectionTables, &numbers, len(numbers)))
}

// RestoreFrom reads the state that file returned. It checks that there is at most one measurement
// per round and per column, and that every measurement belongs to a candidate.
func (f *tableFit) RestoreFrom(from *synth.File) error {
	var h tableHeader
	if err := from.Decode(&h); err != nil {
		return err
	}
	data, err := from.Section(sectionTables)
	if err != nil {
		return err
	}
	numbers, err := synth.ReadFloats64(data, len(data)/8)
	if err != nil {
		return err
	}
	if f.level = h.Level; h.Level < 1 || h.Level > 1<<28 {
		return malformed(fmt.Sprintf("measurements of %d units; want 1 or more", h.Level))
	}
	for len(numbers) > 0 {
		if len(numbers) < 2 || len(f.values) >= f.rounds+len(f.domain) {
			return malformed("more measurements than rounds and columns")
		}
		i, units := numbers[0], numbers[1]
		if !(i >= 0 && i < float64(len(f.list))) || i != math.Trunc(i) ||
			!(units >= 1 && units <= float64(f.tableMethod.units())) || units != math.Trunc(units) ||
			len(numbers) < 2+f.list[int(i)].cells ||
			f.system == nameMST && len(f.list[int(i)].attributes) != 2 {
			return malformed("a measurement that does not belong to a table of the plan")
		}
		end := 2 + f.list[int(i)].cells
		f.values = append(f.values, tableValues{int(i), int(units), numbers[2:end]})
		numbers = numbers[end:]
	}
	return nil
}
