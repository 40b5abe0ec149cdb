package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

func targetSchema(t testing.TB) records.Schema {
	t.Helper()
	s := must(records.NewSchema(records.Target("y", 0, 100), records.Numeric("a", 0, 1),
		records.Categorical("c", "p", "q", "r"), records.Flag("f", "no", "yes"),
		records.Integer("h", 0, 23), records.Integer("twin", 0, 100)))(t)
	return s
}

// targetRows returns rows whose target is a sum of terms of the columns a, c, f and h, of which f
// and h interact, and noise of standard deviation 5. The column twin is close to the target.
func targetRows(t testing.TB, n int, seed uint64) *records.Frame {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x747264))
	rows := make([][]any, n)
	for i := range rows {
		a, c, f, h := rng.Float64(), rng.IntN(3), rng.IntN(2), rng.IntN(24)
		y := min(max(meanOf(a, c, f, h)+5*rng.NormFloat64(), 0), 100)
		twin := int(min(max(y+2*rng.NormFloat64(), 0), 100))
		rows[i] = []any{y, a, []string{"p", "q", "r"}[c], []string{"no", "yes"}[f], h, twin}
	}
	return must(records.FromValues(targetSchema(t), rows...))(t)
}

func meanOf(a float64, c, f, h int) float64 {
	y := 25 + 20*a + 8*float64(c)
	if (h >= 12) == (f == 1) {
		y += 15
	}
	return y
}

func targetPlan(t testing.TB, b accountant.Budget) (synth.PassProgram, method) {
	t.Helper()
	c := AIM{Common: Common{Schema: targetSchema(t), Budget: b, Bins: 8}, Rounds: 20}
	m := must(c.method())(t)
	p := must(c.Plan())(t)
	return p, m
}

// r2 returns the part of the target's variance that the true mean of each row explains.
func r2(f *records.Frame) float64 {
	var sum, square, rest float64
	for i := range f.Len() {
		y := f.Number(i, 0)
		h, _ := f.Whole(i, 4)
		c := map[string]int{"p": 0, "q": 1, "r": 2}[fmt.Sprint(f.Value(i, 2))]
		yes := 0
		if f.Value(i, 3) == "yes" {
			yes = 1
		}
		off := y - meanOf(f.Number(i, 1), c, yes, int(h))
		sum, square, rest = sum+y, square+y*y, rest+off*off
	}
	n := float64(f.Len())
	return 1 - rest/(square-sum*sum/n)
}

// TestTargetsFollowTheWholeRow checks that a target depends on four columns at once, two of which
// interact, and that a column close to the target is drawn after it and stays close. In real rows
// the true mean explains .845 of the target's variance; ten seeds of the noise have .685 to .803,
// and distances of 2.7 to 2.9.
func TestTargetsFollowTheWholeRow(t *testing.T) {
	plan, _ := targetPlan(t, accountant.Budget{Epsilon: 3, Delta: 1e-5})
	g := must(plan.Fit(privacytest.Seeded(t, t.Context(), 5), targetRows(t, 10_000, 1)))(t)
	d := must(g.Sample(t.Context(), 10_000, synth.Seed(1)))(t)
	f, _ := records.AsFrame(d)
	apart := 0.0
	for i := range f.Len() {
		twin, _ := f.Whole(i, 5)
		apart += math.Abs(float64(twin)-f.Number(i, 0)) / float64(f.Len())
	}
	t.Logf("R² %.3f, mean distance of twins %.2f", r2(f), apart)
	if r2(f) < 0.6 || apart > 4 {
		t.Errorf("R² %.3f, want at least .6; mean distance of twins %.2f, want at most 4", r2(f), apart)
	}
}

// passStates returns the states of three passes of a plan, with weights that are large enough
// to clip residuals.
func passStates(t *testing.T, m method) map[string][]byte {
	t.Helper()
	groups := someGroups(m.attributes)
	d := domainOf(trendGroups(m.attributes, groups))
	all := [][]int{{1}, {2}, {3}, {4}, {5}}
	start := &trend{Parts: groups[0].Part, Scale: 1}
	fitted := *start
	fitted.Tables, fitted.Edges = append(all[:4:4], []int{3, 4}), []float64{-1, 0, 1}
	fitted.Late = []int{5}
	for k := range tablesCells(d, fitted.Tables) {
		fitted.Weights = append(fitted.Weights, float64(k%3-1))
	}
	states := map[string][]byte{}
	for purpose, s := range map[string]trendState{
		purposeScores: {Trend: start, Tables: all, Clip: scoresClip},
		purposeResiduals: {Trend: &fitted, Clip: 0.5,
			Tables: append(all[:4:4], []int{1, 2}, []int{3, 4})},
		purposeSpread: {Trend: &fitted, Clip: 1},
	} {
		s.Groups = marginal.GroupState(groups)
		state := must(json.Marshal(s))(t)
		states[purpose] = state
	}
	return states
}

// TestTrendSensitivities compares rows with every other row: the sums of each pass change by at
// most the sensitivity that the release assumes, and each table's sums by at most what a choice
// assumes.
// Both bounds are attained, up to a step of the grid.
func TestTrendSensitivities(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		_, m := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: r})
		rng := rand.New(rand.NewPCG(1, 1))
		var rows [][]any
		for i := range 120 {
			rows = append(rows, []any{[]float64{0, 100, 50}[i%3], rng.Float64(),
				[]string{"p", "q", "r"}[i/3%3], []string{"no", "yes"}[i/9%2], 12 * (i / 18 % 2), i})
		}
		for purpose, state := range passStates(t, m) {
			var s trendState
			if err := json.Unmarshal(state, &s); err != nil {
				t.Fatal(err)
			}
			var sums [][]float64
			for _, row := range rows {
				c, _ := m.trendCounter(state).(*marginal.Histogram)
				sums = append(sums, ofRow(t, m.Schema, row, c))
			}
			want := m.sumStd(1, len(s.Tables))
			if got := worstMove(r, sums); got > want*(1+1e-9) || got < 0.99*want {
				t.Errorf("%v, %s: the sums change by %v, want %v", r, purpose, got, want)
			}
			first := 0
			for _, table := range s.Tables {
				n := tableCells(domainOf(trendGroups(m.attributes, someGroups(m.attributes))), table)
				var own [][]float64
				for _, v := range sums {
					own = append(own, v[first:first+n])
				}
				if got := worstTotal(r, own); got > float64(m.change()) {
					t.Errorf("%v, %s: the sums of %v change by %v, want %d", r, purpose, table, got, m.change())
				}
				first += n
			}
		}
	}
}

// TestTrendStagesArePriced checks that the fractions of the squared effect add up to 1.
func TestTrendStagesArePriced(t *testing.T) {
	_, m := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	const noise = 3.0
	rho := 0.0
	for _, s := range m.stages(noise) {
		switch e := s.Event.(type) {
		case accountant.Gaussian:
			rho += float64(s.Count) / (2 * e.NoiseMultiplier * e.NoiseMultiplier)
		case accountant.ExponentialMechanism:
			rho += float64(s.Count) * e.Epsilon * e.Epsilon / 8
		}
	}
	if want := 1 / (2 * noise * noise); m.trendPart == 0 || math.Abs(rho/want-1) > 1e-12 {
		t.Errorf("the stages together have ρ = %v, want %v", rho, want)
	}
}

// TestNothingButReleasesOfATrendDependsOnARecord replays fits: with the noise of the other data,
// the generator and its rows are the same, and no state of a pass depends on a record. With a large
// ε, a decision by the true sums of a dozen rows differs from the one by the released sums. Without
// -long a third of the pairs is replayed, each with one ε.
func TestNothingButReleasesOfATrendDependsOnARecord(t *testing.T) {
	t.Parallel()
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, epsilon := range []float64{3, 3000} {
			replayTrend(t, accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: r})
		}
	}
}

func replayTrend(t *testing.T, b accountant.Budget) {
	t.Helper()
	p := must(AIM{Common: Common{Schema: targetSchema(t), Budget: b, Bins: 8}, Rounds: 5}.Plan())(t)
	visible := func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
		g, err := p.FitOn(ctx, l, d)
		if err != nil {
			return nil, err
		}
		rows, err := g.Sample(ctx, 50, synth.Seed(9))
		if err != nil {
			return nil, err
		}
		f, _ := records.AsFrame(rows)
		return []any{f.Numbers(0), f.Numbers(5), g.Guarantee().Epsilon}, nil
	}
	every, first := 18, int(b.Relation)
	if *Long {
		every = 3
	} else if b.Epsilon > 3 {
		first += 9
	}
	for i, pair := range privacytest.Neighbours(t, p.Schema(), b.Relation, 12, 3) {
		if i%every == first {
			t.Run(fmt.Sprintf("%v/%v/%s", b.Relation, b.Epsilon, pair.Name), func(t *testing.T) {
				privacytest.Replay[records.Data]{Run: visible, Budget: b, Data: pair.Data,
					Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
			})
		}
	}
}

// trended returns a model with a trend, from a fit without accuracy.
func trended(t *testing.T) *model {
	t.Helper()
	_, m := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	groups := someGroups(m.attributes)
	var factors []graphical.Factor
	for a, g := range groups {
		factors = append(factors, graphical.Factor{Attributes: []int{a},
			Theta: make([]float64, g.Size)})
	}
	var s trendState
	if err := json.Unmarshal(passStates(t, m)[purposeSpread], &s); err != nil {
		t.Fatal(err)
	}
	for range len(s.Trend.Edges) + 1 {
		p := make([]float64, trendResiduals)
		p[11], p[12] = 0.5, 0.5
		s.Trend.Spread = append(s.Trend.Spread, p)
	}
	out := newModel(m.Schema, m.Fine, groups, graphical.NewModel(domainOf(groups), factors))
	out.trend = s.Trend
	return out
}

// TestFilesOfTrends checks that a file has the trend, and that one that no plan has is refused.
func TestFilesOfTrends(t *testing.T) {
	m := trended(t)
	again := func() (*model, error) {
		f := must(m.Encode())(t)
		read, err := readModel(f, synth.Loading{})
		if err != nil {
			return nil, err
		}
		return read.(*model), nil
	}
	read, err := again()
	if err != nil || fmt.Sprint(*read.trend) != fmt.Sprint(*m.trend) {
		t.Fatalf("got %v, error %v; want %v", read, err, *m.trend)
	}
	good, d := *m.trend, domainOf(trendGroups(m.attributes, m.groups))
	for name, change := range map[string]func(*trend){
		"target":  func(t *trend) { t.Target = 1 },
		"parts":   func(t *trend) { t.Parts = t.Parts[1:] },
		"part":    func(t *trend) { t.Parts[3] = -1 },
		"table":   func(t *trend) { t.Tables = [][]int{{1}, {2}, {3}, {4}, {4, 3}} },
		"triple":  func(t *trend) { t.Tables[4] = []int{2, 3, 4} },
		"unknown": func(t *trend) { t.Tables[0] = []int{6} },
		"own":     func(t *trend) { t.Tables[0] = []int{0} },
		"late":    func(t *trend) { t.Late = []int{4} },
		"twice":   func(t *trend) { t.Late = []int{5, 5} },
		"many": func(t *trend) {
			t.Tables = append(t.Tables, []int{1}, []int{1})
			t.Weights = append(t.Weights, make([]float64, 2*d[1])...)
		},
		"all late": func(t *trend) { t.Late, t.Tables, t.Weights = []int{1, 2, 3, 4, 5}, nil, nil },
		"weights":  func(t *trend) { t.Weights = t.Weights[1:] },
		"weight":   func(t *trend) { t.Weights[0] = 1e10 },
		"edges":    func(t *trend) { t.Edges = []float64{1, 0, -1} },
		"scale":    func(t *trend) { t.Scale = 0 },
		"ranges":   func(t *trend) { t.Spread = t.Spread[1:] },
		"spread":   func(t *trend) { t.Spread[1] = t.Spread[1][1:] },
		"empty":    func(t *trend) { t.Spread[0] = make([]float64, trendResiduals) },
		"negative": func(t *trend) { t.Spread[0][0] = -1 },
	} {
		data, _ := json.Marshal(good)
		m.trend = new(trend)
		if err := json.Unmarshal(data, m.trend); err != nil {
			t.Fatal(err)
		}
		change(m.trend)
		if _, err := again(); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}

// TestConditionsWithATrend checks conditions on a column before the target, on the target and on a
// column after it: rows meet them. Rows under the first two have the distribution of the rows that
// meet them, by the mean score of the other columns: within six standard errors, which gives a
// false alarm in fewer than one of 10⁸ runs.
func TestConditionsWithATrend(t *testing.T) {
	t.Parallel()
	plan, _ := targetPlan(t, accountant.Budget{Epsilon: 3, Delta: 1e-5})
	g := must(plan.Fit(privacytest.Seeded(t, t.Context(), 6), targetRows(t, 10_000, 2)))(t)
	const n = 4000
	for name, list := range map[string][]records.Constraint{
		"before": {records.Only("f", "yes"), records.Within("a", 0.5, 1)},
		"target": {records.Within("y", 60, 80)},
		"both":   {records.Within("y", 20, 50), records.Only("c", "r")},
		"after":  {records.Within("twin", 60, 80), records.Within("y", 60, 70)},
	} {
		e := must(records.NewEnforcer(plan.Schema(), list...))(t)
		mean := func(opts ...synth.DrawOption) (at, width float64) {
			rows := n
			if len(opts) == 1 {
				rows *= 8
			}
			d := must(g.Sample(t.Context(), rows, opts...))(t)
			f, _ := records.AsFrame(d)
			kept := must(e.Keep(f, rows))(t)
			k, _ := records.AsFrame(kept)
			if len(opts) > 1 && k.Len() != rows {
				t.Errorf("%s: %d of %d rows meet the conditions", name, k.Len(), rows)
			}
			sum, square, m := 0.0, 0.0, float64(k.Len())
			for i := range k.Len() {
				h, _ := k.Whole(i, 4)
				x := k.Number(i, 1) + float64(h)
				sum, square = sum+x, square+x*x
			}
			return sum / m, math.Sqrt(square/m-sum*sum/m/m) / math.Sqrt(m)
		}
		want, a := mean(synth.Seed(1))
		got, b := mean(synth.Seed(2), synth.Given(list...))
		if name != "after" && math.Abs(got-want) > 6*math.Hypot(a, b) {
			t.Errorf("%s: mean %v under conditions, want %v ± %v", name, got, want, 6*math.Hypot(a, b))
		}
	}
}

// TestRowsWithoutTheirTargetAreCounted: a target that the rest of a row never has is set in it, and
// the draw says in how many rows. Each of them is counted when it is returned.
func TestRowsWithoutTheirTargetAreCounted(t *testing.T) {
	plan, _ := targetPlan(t, accountant.Budget{Epsilon: 3, Delta: 1e-5})
	g := must(plan.Fit(privacytest.Seeded(t, t.Context(), 6), targetRows(t, 500, 2)))(t)
	for name, list := range map[string][]records.Constraint{
		"far":  {records.Within("y", 75, 100), records.Within("a", 0, 0.1), records.Only("f", "no")},
		"near": {records.Within("y", 40, 100)},
	} {
		var done synth.Accepted
		must(g.Sample(t.Context(), 3, synth.Given(list...), synth.Seed(1),
			synth.OnAccepted(func(a synth.Accepted) { done = a })))(t)
		if name == "far" && done.Unaccepted < 3 || name == "near" && done.Unaccepted > 0 {
			t.Errorf("%s: %d of 3 rows are counted", name, done.Unaccepted)
		}
	}
}

// ending is a context that ends when it is asked for the last time.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestContextsEndTries: a draw under a condition that a row hardly ever meets ends between two
// tries of one row.
func TestContextsEndTries(t *testing.T) {
	plan, _ := targetPlan(t, accountant.Budget{Epsilon: 3, Delta: 1e-5})
	g := must(plan.Fit(privacytest.Seeded(t, t.Context(), 6), targetRows(t, 500, 2)))(t)
	asked := &ending{t.Context(), 10}
	_, err := g.Sample(asked, 2, synth.Given(records.Within("y", 60, 60.001)), synth.Seed(1))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after %d questions", err, 10-asked.left)
	}
}

// TestTrendsCountPersonsOnce checks that the rows of a person together change the sums of a table
// by at most 1, like one record.
func TestTrendsCountPersonsOnce(t *testing.T) {
	_, m := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	d, most := domainOf(trendGroups(m.attributes, someGroups(m.attributes))), 0.0
	for seed := range uint64(20) {
		n := 1 + int(seed%5)
		person := must(records.GroupBy(targetRows(t, n, seed), make([]int, n), 3))(t)
		for purpose, state := range passStates(t, m) {
			var s trendState
			if err := json.Unmarshal(state, &s); err != nil {
				t.Fatal(err)
			}
			c, _ := m.trendCounter(state).(*marginal.Histogram)
			if err := c.Add(context.Background(), person); err != nil {
				t.Fatal(err)
			}
			sizes := []int{c.Sums()[0].Dim()}
			if len(s.Tables) > 0 {
				sizes = nil
			}
			for _, table := range s.Tables {
				sizes = append(sizes, tableCells(d, table))
			}
			first := 0
			for _, size := range sizes {
				total := 0.0
				for _, x := range read(t, scaled{c.Sums()[0].Slice(first, first+size), 1e3}) {
					total += 1e3 * math.Abs(x)
				}
				if most = max(most, total); total > 1+1e-2 {
					t.Fatalf("%s: a person of %d rows changes a table by %v, want at most 1", purpose, n, total)
				}
				first += size
			}
		}
	}
	if most < 0.9 {
		t.Errorf("no person changes a table by more than %v", most)
	}
}

// TestPlansOfTrends checks that a plan from a file has a trend only where a plan may have one.
func TestPlansOfTrends(t *testing.T) {
	s, _ := smallTable(t)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	with := Common{Schema: targetSchema(t), Budget: b}
	for _, c := range []AIM{{Common: Common{Schema: s, Budget: b}, trend: 0.1},
		{Common: with, trend: 0.9}, {Common: with, trend: math.NaN()}} {
		if _, err := c.Plan(); err == nil {
			t.Errorf("a trend of %v in %v is accepted", c.trend, c.Schema)
		}
	}
}

// TestTrendsKnowEachOfFewValues checks that a column of 24 values has a weight for each of them,
// though the graphical model merges them into five groups.
func TestTrendsKnowEachOfFewValues(t *testing.T) {
	m := trended(t)
	own := trendGroups(m.attributes, m.groups)
	d, first := domainOf(own), 0
	if d[4] != 24 || m.groups[4].Size != 5 {
		t.Fatalf("24 hours have %d cells and %d groups, want 24 and 5", d[4], m.groups[4].Size)
	}
	clear(m.trend.Weights)
	for k, table := range m.trend.Tables {
		if len(table) == 1 && table[0] == 4 {
			m.trend.Weights[first+13], m.trend.Weights[first+14] = 2, -2
		}
		first += tableCells(d, m.trend.Tables[k])
	}
	m.trend.Scale = 0.1
	s := must(m.Sampler(synth.Draw{Seed: 1, Cluster: -1, Class: -1}))(t)
	f, _ := records.AsFrame(must(s.Next(3000))(t))
	sums, counts := [24]float64{}, [24]float64{}
	for i := range f.Len() {
		h, _ := f.Whole(i, 4)
		sums[h], counts[h] = sums[h]+f.Number(i, 0), counts[h]+1
	}
	high, low, other := sums[13]/counts[13], sums[14]/counts[14], sums[15]/counts[15]
	if !(high > 90 && low < 10 && other > 40 && other < 60) {
		t.Errorf("targets of three hours are %v, %v and %v, want over 90, below 10 and about 50",
			high, low, other)
	}
}

// TestSidesOfPairs checks that tables of two columns merge values only if there are many cells.
func TestSidesOfPairs(t *testing.T) {
	for _, c := range [][4]int{{24, 2, 24, 2}, {2, 24, 2, 24}, {24, 7, 24, 7}, {16, 16, 12, 12},
		{32, 32, 10, 10}, {128, 3, 66, 3}, {1, 500, 1, 200}} {
		if a, b := sides(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%d and %d values have %d and %d sides, want %d and %d", c[0], c[1], a, b, c[2], c[3])
		}
	}
}

// TestBoundsOfTrendsFollowTheNoise checks that numbers are clipped less where the noise is small
// beside the sums of records, and that the bounds have a least and a largest value.
func TestBoundsOfTrendsFollowTheNoise(t *testing.T) {
	_, m := targetPlan(t, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	bound := func(noise, total float64) float64 {
		f := &fitting{work: work{m, noise}, total: total}
		return (&trending{fitting: f}).bound(residualsPart, 4, residualsClip)
	}
	std := m.sumStd(m.trendNoise(1, residualsPart), 4)
	for _, c := range [][3]float64{{1, 32 * 4 * std * std, 2}, {2, 32 * 36 * std * std, 3},
		{1, 1e9, mostClip}, {1, 0, residualsClip}, {1, -5, residualsClip}, {1e6, 1e4, residualsClip}} {
		if got := bound(c[0], c[1]); math.Abs(got-c[2]) > 1e-9 {
			t.Errorf("noise %v, %v records: the bound is %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
