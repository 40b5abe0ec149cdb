package tables

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

const (
	purposeScores    = "target's scores"
	purposePairs     = "choices of pairs"
	purposeResiduals = "target's residuals"
	purposePairSums  = "pairs' residuals"
	purposeSpread    = "spread of residuals"

	mostTrendPart = 0.3  // of the budget that columns, choices and counts within cells leave
	leastTrend    = 1000 // smallest signal
	noTrend       = -1
	scoresPart    = 0.2  // fractions of the trend's budget
	pairsPart     = 0.05 // for the choice of one
	residualsPart = 0.4
	spreadPart    = 0.2
	pairSumsPart  = 0.15
	trendPool     = 1 << 15
	scoresClip    = 1.5 // least bounds, in standard deviations; see bound
	residualsClip = 1.2
	mostClip      = 4
	usualGroups   = 32
	leastScale    = 0.1
	lateColumn    = 0.65 // part of the scores' variance
	lateOthers    = 0.5
	pairHandicap  = 0.25 // the fit shrinks what is only noise
	clearOf       = 2    // standard deviations of the noise
)

var trendPasses = []string{purposeScores, purposeResiduals, purposePairSums, purposeSpread}

// trendStages returns the stages of the trend.
func (m method) trendStages(noise float64) []synth.Stage {
	if m.trendPart == 0 {
		return nil
	}
	return []synth.Stage{
		gaussianStage(purposeScores, m.trendNoise(noise, scoresPart), 1),
		gaussianStage(purposeResiduals, m.trendNoise(noise, residualsPart), 1),
		choiceStage(purposePairs, 2/m.trendNoise(noise, pairsPart), 1), // see choiceEpsilon
		gaussianStage(purposePairSums, m.trendNoise(noise, pairSumsPart), 1),
		gaussianStage(purposeSpread, m.trendNoise(noise, spreadPart), 1)}
}

// trendNoise returns the noise multiplier of a release with a fraction of the trend's budget.
func (m method) trendNoise(noise, part float64) float64 {
	return noise / math.Sqrt(m.trendPart*part)
}

// mostTrend returns the largest fraction of the budget for a trend. It is 0 if there is no number
// to be predicted, or a class, or if columns are too many.
func (m method) mostTrend() float64 {
	cells := 0
	for _, a := range m.attributes {
		if cells += a.Codes; a.Ordered() > 0 && a.Codes > mostOwnCodes {
			cells += min(a.Ordered(), 2*m.Bins) - a.Ordered()
		}
	}
	if m.target() < 0 || m.Schema.Classes() > 0 || m.before > 0 || cells > mostTrendCells ||
		len(m.attributes) < 3 || len(m.attributes) > mostTrendColumns {
		return 0
	}
	return mostTrendPart * (1 - m.ColumnPart - m.WithinPart - choicesPart)
}

// target returns the attribute of the first number to be predicted, or -1.
func (m method) target() int {
	return slices.IndexFunc(m.attributes, func(a marginal.Attribute) bool { return a.Target })
}

// trendState is the state of a pass for a trend.
type trendState struct {
	Groups []byte  `json:"groups"`
	Trend  *trend  `json:"trend"`
	Tables [][]int `json:"tables,omitempty"` // whose sums are released; none for the spread
	Clip   float64 `json:"clip"`
}

const mostTrendCounts = 1 << 20

// trendCounter returns the counter of a pass: of the sums of clipped residuals in the cells of
// tables, as multiples of the bound, or of the records in each interval of residuals and range of
// scores. It returns nil for a state of no plan.
func (m method) trendCounter(state []byte) mechanism.Counter {
	var s trendState
	if param.Decode(state, &s) != nil {
		return nil
	}
	groups, ok := marginal.ReadGroups(m.attributes, s.Groups)
	if !ok {
		return nil
	}
	groups = trendGroups(m.attributes, groups)
	d := domainOf(groups)
	if !s.Trend.valid(m.attributes, d, false) || !validTables(d, s.Tables, s.Trend.Target) ||
		tablesCells(d, s.Tables) > mostTrendCounts || !(s.Clip > 0 && s.Clip <= 2*mostScore) {
		return nil
	}
	t, target := s.Trend, m.attributes[s.Trend.Target]
	scores := scores(target, t.Parts)
	cells := func(codes [][]uint16, shares, counts []int64) {
		for i, share := range shares {
			own := int(codes[t.Target][i])
			if own >= target.Ordered() {
				continue
			}
			group := func(a int) int { return int(groups[a].Group[codes[a][i]]) }
			score := t.score(d, group)
			residual := scores[own] - score
			if len(s.Tables) == 0 {
				counts[t.rangeOf(score)*trendResiduals+t.interval(residual)] += share
				continue
			}
			value := int64(float64(share) * min(max(residual/s.Clip, -1), 1))
			first := 0
			for _, table := range s.Tables {
				counts[first+tableCell(d, table, group)] += value
				first += tableCells(d, table)
			}
		}
	}
	return marginal.NewHistogram(m.attributes, cells,
		mechanism.NewFixedSum(t.size(d, s.Tables), marginal.TableGrid(1)))
}

// trending is a trend in progress.
type trending struct {
	*fitting
	*trend
	ctx      context.Context
	run      *synth.Run
	cells    graphical.Domain
	own      []marginal.Grouping // what cells are
	variance float64             // of the scores
	first    observed            // sums of scores in the early tables
	early    [][]int             // the tables of single columns before the target
	pool     [][]uint16          // cells of rows drawn from the model
	weight   float64             // records for each row of the pool
}

// beginTrend releases the sums of scores, before other tables are chosen.
func (f *fitting) beginTrend(ctx context.Context, r *synth.Run) (*trending, error) {
	target := f.target()
	parts := fractions(f.model, target, f.groups[target])
	t := &trending{fitting: f, ctx: ctx, run: r,
		trend: &trend{Target: target, Scale: mostScore, Parts: parts},
		own:   trendGroups(f.attributes, f.groups)}
	t.cells = domainOf(t.own)
	mean, square := 0.0, 0.0
	for code, z := range scores(f.attributes[target], parts) {
		mean, square = mean+z*parts[code], square+z*z*parts[code]
	}
	t.variance = max(square-mean*mean, leastScale)
	if s, ok := f.strategy.(worstFitted); ok {
		s.trend = t.trend
		f.strategy = s
	}
	return t, t.releaseScores()
}

// end fits the weights by rows of the fitted model, and releases residuals and their spread.
func (t *trending) end() error {
	rng := rand.New(rand.NewPCG(t.Seed, 0x7472656e64))
	t.pool, t.weight = t.model.Drawer().Draw(rng, trendPool), t.total/trendPool
	t.refine(rng)
	t.Tables = t.early
	t.fitTo(t.first)
	if err := t.releaseResiduals(); err != nil {
		return err
	}
	return t.releaseSpread()
}

// refine replaces the groups of the rows of the pool by cells.
func (t *trending) refine(rng *rand.Rand) {
	for a, g := range t.groups {
		if !hasOwnCells(t.attributes[a]) {
			continue
		}
		codes, choices := g.Members()
		for i, group := range t.pool[a] {
			t.pool[a][i] = uint16(codes[group][choices[group].Pick(rng, -1)])
		}
	}
}

// read returns the sums of a pass.
func (t *trending) read(purpose string, tables [][]int, clip float64) (*mechanism.FixedSum, error) {
	state, err := json.Marshal(trendState{marginal.GroupState(t.groups), t.trend, tables, clip})
	if err != nil {
		return nil, err
	}
	sums, err := t.run.Read(t.ctx, synth.Pass{Purpose: purpose, State: state})
	if err != nil {
		return nil, err
	}
	return sums.Sums()[0], nil
}

// sumStd returns the standard deviation of sums of residuals in n tables, as multiples of their
// bound. A record is in one cell of each table, with a number from -1 to 1, so replacing it may
// change this cell by 2. Without tables, it is that of counts.
func (m method) sumStd(noise float64, n int) float64 {
	if n == 0 {
		return noise * mechanism.HistogramSensitivity(m.Budget.Relation)
	}
	return noise * mechanism.SumSensitivity(m.Budget.Relation, math.Sqrt(float64(n))) * (1 + 0x1p-40)
}

// trendStds returns bounds of the noise of all releases of the trend.
func (m method) trendStds(noise float64) (least, most float64) {
	return m.trendNoise(noise, 1), m.sumStd(m.trendNoise(noise, pairSumsPart), len(m.attributes))
}

// release releases sums in tables with a fraction of the trend's budget. The sums are multiples of
// a bound.
func (t *trending) release(purpose string, part float64, tables, size int, bound float64,
	sums func() (*mechanism.FixedSum, error)) (o observed, err error) {
	noise := t.trendNoise(t.noise, part)
	std := t.sumStd(noise, tables)
	out, err := t.run.Once(purpose, []int{size}, func() (float64, []mechanism.Part, error) {
		sum, err := sums()
		return 1 / noise, []mechanism.Part{{Sum: sum, Std: std}}, err
	})
	if err != nil {
		return o, err
	}
	t.run.Report(purpose, 1, 1)
	o.std = bound * std * t.run.Wider(purpose)
	for _, x := range out[0] {
		o.sums = append(o.sums, x*bound)
	}
	return o, nil
}

// releaseIn releases the sums of a pass.
func (t *trending) releaseIn(purpose string, part float64, tables [][]int, bound float64) (observed,
	error) {
	return t.release(purpose, part, len(tables), t.size(t.cells, tables), bound,
		func() (*mechanism.FixedSum, error) { return t.read(purpose, tables, bound) })
}

// bound returns the bound, in standard deviations, of numbers whose sums in n tables are released
// with a fraction of the trend's budget. Larger numbers are clipped, which shrinks sums, and noise
// grows with the bound. So it is where the noise is that of the sum in a usual group, but not below
// least.
func (t *trending) bound(part float64, n int, least float64) float64 {
	std := t.sumStd(t.trendNoise(t.noise, part), n)
	return min(max(math.Sqrt(max(t.total, 0)/usualGroups)/std, least), mostClip)
}

// releaseScores releases the sums of scores in the cells of each column, and decides which columns
// are drawn after the target.
func (t *trending) releaseScores() error {
	var all [][]int
	for a := range t.cells {
		if a != t.Target {
			all = append(all, []int{a})
		}
	}
	clip := min(t.bound(scoresPart, len(all), scoresClip), mostScore)
	out, err := t.releaseIn(purposeScores, scoresPart, all, clip)
	if err != nil {
		return err
	}
	others, sums := 0.0, out.sums
	t.first.std = out.std
	for _, table := range all {
		a, n, explained := table[0], t.cells[table[0]], 0.0
		counts := make([]float64, n)
		for code, p := range fractions(t.model, a, t.groups[a]) {
			counts[t.own[a].Group[code]] += p * t.total
		}
		for k, count := range counts {
			explained += (sums[k]*sums[k] - out.std*out.std) / max(count, out.std/clip) /
				(t.variance * t.total)
		}
		if explained > lateColumn && !hasOwnCells(t.attributes[a]) {
			t.Late = append(t.Late, a)
		} else {
			others += max(explained, 0)
			t.early, t.first.sums = append(t.early, table), append(t.first.sums, sums[:n]...)
		}
		sums = sums[n:]
	}
	if others < lateOthers || len(t.Late) > mostLate || t.domain.Cells(t.Late) > mostLateCells {
		t.Late, t.early, t.first = nil, all, out
	}
	return nil
}

// fitTo fits the weights of the tables to releases.
func (t *trending) fitTo(list ...observed) {
	g := gram(t.cells, t.Tables, t.pool, t.weight)
	last := &list[len(list)-1]
	if t.Weights != nil { // the last release is of residuals
		var old mat.VecDense
		w := mat.NewVecDense(g.SymmetricDim(), nil)
		copy(w.RawVector().Data, t.Weights)
		old.MulVec(g, w)
		for k := range last.sums {
			last.sums[k] += old.AtVec(last.from + k)
		}
	}
	t.Weights = solve(g, list)
	sum, square, n := 0.0, 0.0, float64(trendPool)
	for _, x := range t.poolScores() {
		sum, square = sum+x/n, square+x*x/n
	}
	t.Scale = math.Sqrt(max(t.variance-square+sum*sum, leastScale*leastScale))
}

// poolScores returns the scores of the rows of the pool.
func (t *trending) poolScores() []float64 {
	out := make([]float64, len(t.pool[0]))
	for i := range out {
		out[i] = t.score(t.cells, func(a int) int { return int(t.pool[a][i]) })
	}
	return out
}

// releaseResiduals releases the sums of residuals in the cells of each column and fits the weights
// again. It does the same for a chosen table of two columns.
func (t *trending) releaseResiduals() error {
	clip := t.Scale * t.bound(residualsPart, len(t.early), residualsClip)
	second, err := t.releaseIn(purposeResiduals, residualsPart, t.early, min(clip, 2*mostScore))
	if err != nil {
		return err
	}
	t.fitTo(t.first, second)
	return t.releasePair(second)
}

func (t *trending) releasePair(second observed) error {
	var tables [][]int
	firsts := []int{0}
	for i, a := range t.early {
		for _, b := range t.early[i+1:] {
			table, last := []int{a[0], b[0]}, firsts[len(tables)]
			if t.paired(a[0]) && t.paired(b[0]) && last < mostTrendCounts/2 {
				tables, firsts = append(tables, table), append(firsts, last+tableCells(t.cells, table))
			}
		}
	}
	clip := min(t.Scale*t.bound(pairSumsPart, 1, residualsClip), 2*mostScore)
	sums := sync.OnceValues(func() (*mechanism.FixedSum, error) {
		return t.read(purposePairSums, tables, clip)
	})
	if err := t.choosePair(firsts, sums); err != nil {
		return err
	}
	if t.pair > len(tables) {
		return malformed("a chosen pair that the plan does not have")
	}
	k, size := t.pair-1, 1
	if k >= 0 {
		size = firsts[k+1] - firsts[k]
	}
	third, err := t.release(purposePairSums, pairSumsPart, 1, size, clip,
		func() (*mechanism.FixedSum, error) {
			if k < 0 { // there are no tables, or an interruption lost the choice
				return mechanism.NewFixedSum(1, marginal.TableGrid(1)), nil
			}
			all, err := sums()
			if err != nil {
				return nil, err
			}
			return all.Slice(firsts[k], firsts[k+1]), nil
		})
	if err != nil || k < 0 {
		return err
	}
	third.from = len(t.Weights)
	t.Tables = append(slices.Clone(t.early), tables[k])
	t.fitTo(t.first, second, third)
	return nil
}

// paired reports whether a column may be in a table of two columns: whether it has few levels, or
// is a number, whose cells may be merged with their neighbours.
func (t *trending) paired(a int) bool {
	return t.cells[a] > 1 && (t.cells[a] <= mostPairSide || t.attributes[a].Ordered() > 0)
}

// choosePair chooses a table with large sums of residuals. A choice without tables is taken without
// a draw.
func (t *trending) choosePair(firsts []int, sums func() (*mechanism.FixedSum, error)) error {
	a := t.run.Allowance(purposePairs)
	if a.Remaining() == 0 {
		return t.ctx.Err()
	}
	if len(firsts) == 1 {
		if _, err := a.Next(); err != nil {
			return err
		}
		t.run.Report(purposePairs, 1, 1)
		return t.ctx.Err()
	}
	all, err := sums()
	if err != nil {
		return err
	}
	grant, err := a.Next()
	if err != nil {
		return err
	}
	std := t.sumStd(t.trendNoise(t.noise, pairSumsPart), 1)
	list := make([]mechanism.Guess, len(firsts)-1)
	for k := range list {
		cells := firsts[k+1] - firsts[k]
		list[k] = mechanism.Guess{Counts: all.Slice(firsts[k], firsts[k+1]),
			Answers: make([]float64, cells), Weight: 1,
			Handicap: pairHandicap * marginal.ExpectedNoise(cells, std) / float64(t.change())}
	}
	if t.pair, err = grant.Worst(list, t.change()); err != nil {
		return err
	}
	t.pair++
	t.run.Report(purposePairs, 1, 1)
	return t.ctx.Err()
}

// releaseSpread releases the spread of residuals in each range of scores.
func (t *trending) releaseSpread() error {
	sorted := t.poolScores()
	slices.Sort(sorted)
	for k := 1; k < trendRanges; k++ {
		t.Edges = append(t.Edges, sorted[k*len(sorted)/trendRanges])
	}
	out, err := t.releaseIn(purposeSpread, spreadPart, nil, 1)
	if err != nil {
		return err
	}
	for counts := range slices.Chunk(out.sums, trendResiduals) {
		trim(counts, clearOf*out.std)
		total := 0.0
		for _, x := range counts {
			total += x
		}
		t.Spread = append(t.Spread, marginal.Simplex(counts, max(total, 1)))
	}
	return t.ctx.Err()
}

// trim sets the counts at both ends to 0 up to the first that is at least enough. Noise there would
// be far residuals. It leaves counts that are all smaller.
func trim(counts []float64, enough float64) {
	if !(slices.Max(counts) >= enough) {
		return
	}
	for k := 0; counts[k] < enough; k++ {
		counts[k] = 0
	}
	for k := len(counts) - 1; counts[k] < enough; k-- {
		counts[k] = 0
	}
}
