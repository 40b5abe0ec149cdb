package tables

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// Fit releases the columns, groups their values, and measures the chosen tables.
func (w work) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	w.Cells = min(w.Cells, mostCells/network.Sharers(ctx),
		mostPassed/max(min(w.before, 1)*w.Schema.RowsPerPerson(), 1)) // of rows that follow others
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
	f := &fitting{work: w, domain: domain[:len(groups)], groups: groups,
		total: known.Total, list: w.candidates(domain), columns: columns,
		rng: rand.New(rand.NewPCG(w.Seed, 0x61696d)), level: w.firstLevel(),
		cellsOf: map[int][]int32{}, refused: map[int]bool{}}
	f.covers = newCovers(domain, groups, f.list)
	f.model = f.independent()
	var t *trending
	if w.trendPart > 0 {
		if t, err = f.beginTrend(ctx, r); err != nil {
			return nil, err
		}
	}
	if w.rounds > 0 {
		if err := f.tables(ctx, r, groups); err != nil {
			return nil, err
		}
	}
	f.model = f.independent() // the released model depends on no earlier fit
	if err := f.refit(ctx, lastPasses); err != nil {
		return nil, err
	}
	m := newModel(w.Schema, w.Fine, groups, graphical.NewModel(f.domain, f.model.Factors)) // as read
	if t != nil {
		if err := t.end(); err != nil {
			return nil, err
		}
		m.trend = t.trend
	}
	return m.divided(division, weights)
}

// within releases the counts within frequent cells of numbers. It returns the divided cells and the
// weights of their parts.
func (w work) within(ctx context.Context, r *synth.Run, known marginal.Surveyed) (
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
func (w work) columns(known marginal.Surveyed) (groups []marginal.Grouping,
	measured []graphical.Measurement) {
	for j, a := range w.attributes {
		g := known.Grouping(j, a, w.Bins)
		a.Coarsen(&g, w.coarse)
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
	lastPasses  = 9000
	usualPasses = 3000    // of the last fit, for predictions
	mostDrawn   = 1 << 17 // largest number of rows drawn to compare candidates with the model
	leastDrawn  = 1 << 13
	mostCounted = 1 << 27 // largest product of the numbers of drawn rows and of candidates
)

// fitting is a fit in progress. Everything in it except counts has been released.
type fitting struct {
	work
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
	pair    int             // chosen for the trend: 1 and its index, or 0 for none
	cellsOf map[int][]int32 // earlier results of merged
	refused map[int]bool    // fine tables that were chosen and have no room

	near        []bool    // the attributes that the last fit changed; nil for all
	drawnCounts []int64   // of all candidates, in rows drawn from the model
	guessed     []float64 // all candidates' tables that guesses returned last

	counts            *mechanism.FixedSum
	choices, measures *mechanism.Allowance
}

// independent returns the model of independent columns.
func (f *fitting) independent() *graphical.Model {
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
func (f *fitting) tables(ctx context.Context, r *synth.Run, groups []marginal.Grouping) error {
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
	if err := f.strategy.begin(f); err != nil {
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
		if guesses, err = f.round(ctx, guesses); err != nil {
			return err
		}
		r.Report(purposeTables, f.rounds-f.choices.Remaining(), f.rounds)
		r.Report(purposeValues, f.units()-f.measures.Remaining(), f.units())
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

// guesses returns estimates of all candidates' tables, in records. It counts them in rows drawn
// from the model, except those without an attribute that the last fit changed, whose estimates
// stay. The next call overwrites them.
func (f *fitting) guesses() [][]float64 {
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
		f.near = nil
	}
	f.covers.countRows(codes, f.drawnCounts, f.near)
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

// round chooses a table, measures it, and returns the model's guesses for the next choice.
func (f *fitting) round(ctx context.Context, guesses [][]float64) ([][]float64, error) {
	units := f.strategy.units(f)
	std := f.unitStd(f.noise) / math.Sqrt(float64(units))
	i, err := f.choose(guesses, std)
	if err != nil {
		return nil, err
	}
	if i >= 0 {
		if err := f.measure(i, units); err != nil {
			return nil, err
		}
	}
	return f.strategy.compared(ctx, f, i, std, guesses)
}

// merged returns candidate.merged of the i-th candidate. It keeps the result, since every later fit
// needs it again.
func (f *fitting) merged(i int) []int32 {
	cells, ok := f.cellsOf[i]
	if !ok {
		cells = f.list[i].merged(f.groups)
		f.cellsOf[i] = cells
	}
	return cells
}

// law returns the model's probability of each cell of the i-th candidate. One of the model's tables
// must contain the candidate's attributes.
func (f *fitting) law(i int) []float64 {
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

// choose chooses among the candidates for which the model seems to have room. If there are none, or
// there is no room after all, the choice is spent, and choose returns -1. Every model has single
// columns, also one of more cells.
func (f *fitting) choose(guesses [][]float64, std float64) (int, error) {
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
	i := open[k]
	with := append(f.measured(), f.list[i].attributes)
	if len(f.list[i].attributes) > 1 && !graphical.Fits(f.domain, with, float64(f.Cells)) {
		f.refused[f.covers.fine[i]] = true
		return -1, nil
	}
	return i, nil
}

// open returns the candidates that may be measured next.
func (f *fitting) open() (open []int) {
	fit := f.strategy.fits(f)
	fits := make([]bool, len(f.list))
	marginal.InParallel(len(f.list), func(i int) {
		fits[i] = f.covers.fine[i] == i && !f.refused[i] && f.strategy.measures(f.list[i]) &&
			fit(f.list[i].attributes)
	})
	for i, fine := range f.covers.fine {
		if fits[fine] {
			open = append(open, i)
		}
	}
	return open
}

// measured returns the groups of columns that have been measured together, and each column alone.
func (f *fitting) measured() (groups [][]int) {
	for _, c := range f.columns {
		groups = append(groups, c.Attributes)
	}
	for _, v := range f.values {
		groups = append(groups, f.list[v.candidate].attributes)
	}
	return groups
}

// measure adds the mean of the given number of releases of a candidate's counts to the
// measurements.
func (f *fitting) measure(i, units int) error {
	c := f.list[i]
	mean, out := make([]float64, c.cells), make([]float64, c.cells)
	std := f.unitStd(f.noise)
	for range units {
		grant, err := f.measures.Next()
		if err != nil {
			return err
		}
		err = grant.Release(1/f.unitNoise(f.noise), mechanism.Part{
			Sum: f.counts.Slice(c.first, c.first+c.cells), Std: std, Out: out})
		if err != nil {
			return err
		}
		for k, v := range out {
			mean[k] += v / float64(units)
		}
	}
	f.values = append(f.values, tableValues{i, units, mean})
	return nil
}

// follow fits the model between two rounds. If the model misses a new measurement by far more than
// its noise, follow fits it further, because the next round would otherwise choose the same table
// again. In a resumed run all measurements are new to the model. A local method changes the
// model only near the measurement.
func (f *fitting) follow(ctx context.Context, fresh []tableValues) error {
	fit := f.refit
	if f.local && len(fresh) == 1 {
		fit = f.refitNear
	}
	err := fit(ctx, roundPasses)
	if err == nil && slices.ContainsFunc(fresh, f.far) {
		err = fit(ctx, farPasses)
	}
	return err
}

// far reports whether the model misses a measurement by far more than its noise.
func (f *fitting) far(v tableValues) bool {
	std := f.unitStd(f.noise) / math.Sqrt(float64(v.units))
	squares := 0.0
	for k, p := range f.law(v.candidate) {
		off := (p*f.total - v.values[k]) / std
		squares += off * off
	}
	return squares > farSquares*float64(len(v.values))
}

// refit fits the model to everything measured.
func (f *fitting) refit(ctx context.Context, passes int) error {
	f.near = nil
	f.model = f.model.Extended(f.measured()...)
	return f.model.Fit(ctx, f.measurements(), f.total, passes)
}

// refitNear fits the model near the last measurement.
func (f *fitting) refitNear(ctx context.Context, passes int) (err error) {
	list := f.measurements()
	f.model = f.model.Extended(f.measured()...)
	f.near, err = f.model.FitNear(ctx, list, f.total, passes, list[len(list)-1].Attributes)
	return err
}

// measurements returns everything measured, the last measurement last.
func (f *fitting) measurements() []graphical.Measurement {
	list := slices.Clone(f.columns)
	for _, v := range f.values {
		c := f.list[v.candidate]
		list = append(list, graphical.Measurement{Attributes: c.attributes, Values: v.values,
			Std: f.unitStd(f.noise) / math.Sqrt(float64(v.units)), Merged: f.merged(v.candidate)})
	}
	return list
}

// tableValues is one measurement.
type tableValues struct {
	candidate, units int
	values           []float64
}

const sectionTables = "tables" // for each measurement: candidate, units and values

type fittingHeader struct {
	Level int `json:"level"`
	Pair  int `json:"pair,omitempty"`
}

// file returns the state of the rounds so far for a checkpoint.
func (f *fitting) file() (*synth.File, error) {
	var numbers []float64
	for _, v := range f.values {
		numbers = append(numbers, float64(v.candidate), float64(v.units))
		numbers = append(numbers, v.values...)
	}
	return synth.NewFile(fittingHeader{f.level, f.pair},
		synth.FloatsPart(sectionTables, &numbers, len(numbers)))
}

// RestoreFrom reads the state that file returned. It checks that there is at most one measurement
// per round and per column, and that every measurement belongs to a candidate.
func (f *fitting) RestoreFrom(from *synth.File) error {
	var h fittingHeader
	if err := from.Decode(&h); err != nil {
		return err
	}
	data, err := from.Section(sectionTables)
	if err != nil {
		return err
	}
	numbers, err := synth.ReadFloats[float64](data, len(data)/8)
	if err != nil {
		return err
	}
	if f.level = h.Level; h.Level < 1 || h.Level > 1<<28 {
		return malformed(fmt.Sprintf("measurements of %d units; want 1 or more", h.Level))
	}
	if f.pair = h.Pair; h.Pair < 0 {
		return malformed("a pair that no plan chooses")
	}
	for len(numbers) > 0 {
		if len(numbers) < 2 || len(f.values) >= f.rounds+len(f.domain) {
			return malformed("more measurements than rounds and columns")
		}
		i, units := numbers[0], numbers[1]
		if !(i >= 0 && i < float64(len(f.list))) || i != math.Trunc(i) ||
			!(units >= 1 && units <= float64(f.units())) || units != math.Trunc(units) ||
			len(numbers) < 2+f.list[int(i)].cells ||
			!f.strategy.measures(f.list[int(i)]) {
			return malformed("a measurement that does not belong to a table of the plan")
		}
		end := 2 + f.list[int(i)].cells
		f.values = append(f.values, tableValues{int(i), int(units), numbers[2:end]})
		numbers = numbers[end:]
	}
	return nil
}
