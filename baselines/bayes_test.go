package baselines

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

func bayesFor(s records.Schema, r accountant.Relation, noise float64) bayesWork {
	return bayesWork{bayesMethod{NaiveBayes: NaiveBayes{Schema: s, Budget: accountant.Budget{
		Epsilon: 1, Delta: 1e-5, Relation: r}}, attributes: marginal.AttributesOf(s)}, noise}
}

// sumsOf returns the sums of a counter over one record, each divided by its standard deviation.
func sumsOf(t *testing.T, c *rowCounter, d records.Data, stds ...float64) (out []float64) {
	t.Helper()
	if err := c.Add(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	for i, sum := range c.Sums() {
		out = append(out, read(t, scaled{sum, stds[i]})...)
	}
	return out
}

// standards returns standardisations that a first release could imply, and worse ones: with every
// scale at its largest, and at zero.
func standards(w bayesWork) []standard {
	n := coordinates(w.columns())
	rng := rand.New(rand.NewPCG(3, 4))
	list := []standard{{make([]float64, n), slices.Repeat([]float64{mostScale}, n)},
		{make([]float64, n), make([]float64, n)}}
	for range 4 {
		s := standard{make([]float64, n), make([]float64, n)}
		for i := range n {
			s.centre[i], s.scale[i] = 2*rng.Float64()-1, math.Exp(6*rng.Float64()-4)
		}
		list = append(list, s)
	}
	return list
}

// TestBayesSensitivities compares every row of a small table with every other. No release may
// change by more than its declared effect. The first attains it if a row is added; the second
// attains it if the largest scale clips every row.
func TestBayesSensitivities(t *testing.T) {
	const noise = 2.5
	s, rows := smallTable(t)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		w := bayesFor(s, r, noise)
		var first [][]float64
		var data []records.Data
		for _, row := range rows {
			table, err := records.FromValues(s, row)
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, table)
			first = append(first, sumsOf(t, w.momentCounter(), table, w.momentStd(noise),
				w.countStd(noise)))
		}
		var counts [][]float64
		for _, v := range first {
			counts = append(counts, v[moments(w.columns()):])
		}
		if got := worstMove(r, counts) * noise / math.Sqrt(countPart); math.Abs(got-1) > 1e-6 {
			t.Errorf("%v: the counts change by %v of their effect, want 1", r, got)
		}
		want := w.stages(noise)[0].NoiseMultiplier
		if got := worstMove(r, first) * want; got > 1+1e-6 ||
			r == accountant.AddOrRemoveOne && got < 1-1e-6 {
			t.Errorf("%v: the first release changes by %v of its effect, want at most 1", r, got)
		}
		for i, by := range standards(w) {
			var second [][]float64
			for _, d := range data {
				second = append(second, sumsOf(t, w.meanCounter(by), d, w.meanStd(noise)))
			}
			got := worstMove(r, second) * w.stages(noise)[1].NoiseMultiplier
			if got > 1+1e-6 || i == 0 && r == accountant.AddOrRemoveOne && got < 1-1e-4 {
				t.Errorf("%v: with standardisation %d the second release changes by %v of its effect, "+
					"want at most 1", r, i, got)
			}
		}
	}
}

// TestBayesStagesArePriced checks that the fractions of the squared effect add up to 1.
func TestBayesStagesArePriced(t *testing.T) {
	s, _ := smallTable(t)
	const noise = 3.0
	w, rho := bayesFor(s, accountant.AddOrRemoveOne, noise), 0.0
	for _, stage := range w.stages(noise) {
		rho += noise * noise / (stage.NoiseMultiplier * stage.NoiseMultiplier)
	}
	if math.Abs(rho-1) > 1e-12 {
		t.Errorf("the stages have %v of the squared effect, want 1", rho)
	}
}

// TestBayesRowsOfPersonsCountOnce checks that all rows of a person together change the releases by
// at most the effect of one record.
func TestBayesRowsOfPersonsCountOnce(t *testing.T) {
	const noise = 2.5
	s, rows := smallTable(t)
	w := bayesFor(s.ByPerson(3), accountant.AddOrRemoveOne, noise)
	rng := rand.New(rand.NewPCG(1, 2))
	by := standards(w)[0]
	for range 50 {
		n := 1 + rng.IntN(5)
		var some [][]any
		for range n {
			some = append(some, rows[rng.IntN(len(rows))])
		}
		table, err := records.FromValues(s, some...)
		if err != nil {
			t.Fatal(err)
		}
		person, err := records.GroupBy(table, make([]int, n), 3)
		if err != nil {
			t.Fatal(err)
		}
		first := sumsOf(t, w.momentCounter(), person, w.momentStd(noise), w.countStd(noise))
		if got := norm(first) * w.stages(noise)[0].NoiseMultiplier; got > 1+1e-6 {
			t.Fatalf("%d rows of a person change the first release by %v of its effect", n, got)
		}
		second := sumsOf(t, w.meanCounter(by), person, w.meanStd(noise))
		if got := norm(second) * w.stages(noise)[1].NoiseMultiplier; got > 1+1e-6 {
			t.Fatalf("%d rows of a person change the second release by %v of its effect", n, got)
		}
	}
}

func norm(v []float64) float64 { return worstMove(accountant.AddOrRemoveOne, [][]float64{v}) }

// TestStandardsOfPasses checks that a standardisation survives a pass's state, and that states that
// no release implies are refused.
func TestStandardsOfPasses(t *testing.T) {
	s, _ := smallTable(t)
	w := bayesFor(s, accountant.AddOrRemoveOne, 1)
	for i, by := range standards(w) {
		back, ok := readStandard(w.columns(), by.state())
		if !ok || !slices.Equal(back.centre, by.centre) || !slices.Equal(back.scale, by.scale) {
			t.Errorf("standardisation %d is %v after a pass, %v", i, back, ok)
		}
	}
	good := standards(w)[2]
	for name, spoil := range map[string]func(standard){
		"centre above 1":   func(s standard) { s.centre[0] = 1.5 },
		"centre NaN":       func(s standard) { s.centre[1] = math.NaN() },
		"negative scale":   func(s standard) { s.scale[0] = -1 },
		"infinite scale":   func(s standard) { s.scale[1] = math.Inf(1) },
		"scale not number": func(s standard) { s.scale[1] = math.NaN() },
	} {
		bad := standard{slices.Clone(good.centre), slices.Clone(good.scale)}
		spoil(bad)
		if _, ok := readStandard(w.columns(), bad.state()); ok {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, ok := readStandard(w.columns(), good.state()[8:]); ok {
		t.Error("a short state is accepted")
	}
}

// TestLargestEntropy checks that the distribution has the given means where one exists, and that it
// is finite and close to them where none does.
func TestLargestEntropy(t *testing.T) {
	a := marginal.Attribute{Codes: 128, Cells: 126}
	a.Block.Width = 1
	var x, weights []float64
	for code := range a.Codes {
		x, weights = append(x, position(a, code)), append(weights, 1)
	}
	for _, want := range [][2]float64{{0, 0.33}, {0.5, 0.3}, {-0.9, 0.83}, {0, 0.9}, {0.2, 0.06},
		{1, 1}, {-1, 1}, {0, 0}, {0.3, 0.09}} {
		p := largestEntropy(x, weights, want[0], want[1])
		total, mean, square := 0.0, 0.0, 0.0
		for i, v := range x {
			if !(p[i] >= 0) {
				t.Fatalf("%v: probability %v", want, p[i])
			}
			total, mean, square = total+p[i], mean+p[i]*v, square+p[i]*v*v
		}
		if math.Abs(total-1) > 1e-9 || math.Abs(mean-want[0]) > 0.02 ||
			math.Abs(square-want[1]) > 0.02 {
			t.Errorf("the means are %v and %v, want %v (total %v)", mean, square, want, total)
		}
	}
}

// TestBayesLearns checks that the model has the frequencies of a table if there is almost no noise:
// of the classes, and by class of the levels, the missing numbers and the means of numbers.
func TestBayesLearns(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", -5, 5), records.Integer("n", 0, 3).WithMissing(),
		records.Categorical("c", "a", "b", "d"), records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	const rows = 20_000
	values := make([][]any, rows)
	for i := range values {
		class, shift := "u", 0
		if rng.Float64() < 0.2 {
			class, shift = "v", 1
		}
		var n any = rng.IntN(2) + shift
		if rng.Float64() < 0.3-0.2*float64(shift) {
			n = nil
		}
		level := "a"
		if rng.Float64() < 0.2+0.5*float64(shift) {
			level = "d"
		}
		x := rng.NormFloat64() + 2*float64(shift)
		values[i] = []any{min(max(x, -5), 5), n, level, class}
	}
	data, err := records.FromValues(s, values...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		p, err := NaiveBayes{Schema: s,
			Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r}}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Fit(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		out, err := g.Sample(t.Context(), rows, synth.Seed(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := records.Check(out); err != nil {
			t.Fatal(err)
		}
		fake, _ := records.AsFrame(out)
		got, want := byClass(fake), byClass(data)
		for k := range want {
			// The mean of 4,000 rows has a standard deviation of .016. Rows whose norm is clipped move
			// means by less than a tenth of a standard deviation.
			if math.Abs(got[k]-want[k]) > 0.15 {
				t.Errorf("%v: statistic %d is %.3f, want %.3f", r, k, got[k], want[k])
			}
		}
	}
}

// byClass returns, for each class, its fraction of the rows, the mean of x, the fraction of missing
// n, the mean of n, and the fraction of level d.
func byClass(f *records.Frame) (out []float64) {
	for class := range int32(2) {
		var rows, x, missing, n, d float64
		for i, label := range f.Labels() {
			if label != class {
				continue
			}
			rows++
			x += f.Number(i, 0)
			if v := f.Number(i, 1); math.IsNaN(v) {
				missing++
			} else {
				n += v
			}
			if f.Level(i, 2) == 2 {
				d++
			}
		}
		out = append(out, rows/float64(f.Len()), x/rows, missing/rows, n/(rows-missing), d/rows)
	}
	return out
}

// TestBayesWithHardlyAnySignal checks that plans whose noise exceeds all sums give valid rows of
// every class.
func TestBayesWithHardlyAnySignal(t *testing.T) {
	s, rows := smallTable(t)
	for _, n := range []int{0, 1, 5} {
		data, err := records.FromValues(s, rows[:n]...)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			p, err := NaiveBayes{Schema: s, Budget: accountant.Budget{Epsilon: 1e-3, Delta: 1e-9}}.Plan()
			if err != nil {
				t.Fatal(err)
			}
			g, err := p.Fit(privacytest.Seeded(t, t.Context(), seed), data)
			if err != nil {
				t.Fatal(err)
			}
			for class := range 2 {
				out, err := g.Sample(t.Context(), 100, synth.Seed(1), synth.OfClass(class))
				if err != nil {
					t.Fatal(err)
				}
				if err := records.Check(out); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestBayesOfConstantColumns checks that columns with one value, and noise in their counts, do not
// make a run fail after it has paid.
func TestBayesOfConstantColumns(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("one", "a"),
		records.Integer("n", 3, 4).WithMissing(),
		records.Categorical("c", "a", "b"), records.Flag("f", "no", "yes"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		var rows [][]any
		for range 3*n + 1 {
			rows = append(rows, []any{"a", 3, "b", "no", "u"})
		}
		data, err := records.FromValues(s, rows...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NaiveBayes{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Fit(privacytest.Seeded(t, t.Context(), uint64(n)), data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Sample(t.Context(), 10, synth.Seed(1)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBayesOfAnyRelease checks, for random and for extreme released sums, that the second pass
// accepts the standardisation and that every code of every class has a probability.
func TestBayesOfAnyRelease(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("one", "a"),
		records.Integer("n", 0, 3).WithMissing(),
		records.Numeric("x", 0, 1), records.Categorical("c", "a", "b", "d"),
		records.Label("class", "u", "v", "w"))
	if err != nil {
		t.Fatal(err)
	}
	w := bayesFor(s, accountant.AddOrRemoveOne, 2)
	columns := w.columns()
	rng := rand.New(rand.NewPCG(7, 8))
	draw := func(n int, scale float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = scale * rng.NormFloat64()
		}
		return out
	}
	for i := range 20_000 {
		scale := math.Exp(30*rng.Float64() - 5)
		if i%10 == 0 {
			scale = 1e15
		}
		k := w.known(draw(moments(columns), scale), draw(w.classes(), scale), 1)
		by := k.standard(columns, w.meanStd(w.noise))
		if _, ok := readStandard(columns, by.state()); !ok {
			t.Fatalf("the second pass refuses %v", by)
		}
		if i%20 > 0 {
			continue
		}
		m, err := w.model(t.Context(), k, by, draw(w.classes()*coordinates(columns), scale), 1)
		if err != nil {
			t.Fatal(err)
		}
		for j := range columns {
			total := 0.0
			for _, p := range m.model.Marginal([]int{j, len(columns)}) {
				if !(p >= 0) {
					t.Fatalf("column %d has a probability of %v", j, p)
				}
				total += p
			}
			if math.Abs(total-1) > 1e-9 {
				t.Fatalf("the probabilities of column %d add up to %v", j, total)
			}
		}
	}
}
