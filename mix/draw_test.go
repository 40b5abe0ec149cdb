package mix_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// customers returns a table with dependent columns: customers who travel by rail are older and pay
// more often, and few of them are from the east. Some incomes are missing.
func customers(t testing.TB, n int, labelled bool, seed uint64) *records.Frame {
	t.Helper()
	columns := []records.Column{
		records.Numeric("age", 20, 80),
		records.Categorical("travel", "foot", "rail", "road", "air"),
		records.Flag("pays", "no", "yes"),
		records.Categorical("from", "north", "east", "south"),
		records.Numeric("income", 0, 100).WithMissing(),
	}
	if labelled {
		columns = append(columns, records.Label("kind", "new", "old"))
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 11))
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		kind := b2i(rng.Float64() < 0.3)
		travel := choose(rng, [][]float64{{0.5, 0.2, 0.25, 0.05}, {0.1, 0.6, 0.25, 0.05}}[kind])
		rail := b2i(travel == 1)
		age := 35 + 20*float64(rail) + 6*rng.NormFloat64()
		pays := rng.Float64() < 0.25+0.5*float64(rail)
		from := choose(rng, [][]float64{{0.3, 0.5, 0.2}, {0.6, 0.1, 0.3}}[rail])
		var income any = 30 + 20*float64(kind) + 8*rng.NormFloat64()
		if rng.Float64() < 0.2 {
			income = nil
		}
		row := []any{age, []string{"foot", "rail", "road", "air"}[travel], pays,
			[]string{"north", "east", "south"}[from], income}
		if labelled {
			row = append(row, []string{"new", "old"}[kind])
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func choose(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for j, v := range p {
		if u -= v; u < 0 {
			return j
		}
	}
	return len(p) - 1
}

// described returns the mean and covariance of encoded records with their one-hot labels.
func described(x *records.Table) (mean []float64, covariance [][]float64) {
	dim, classes := x.Schema().Dim(), x.Schema().Classes()
	row := make([]float32, dim+classes)
	mean, covariance = make([]float64, dim+classes), make([][]float64, dim+classes)
	for j := range covariance {
		covariance[j] = make([]float64, dim+classes)
	}
	for i := range x.Len() {
		clear(row)
		x.Row(row[:dim], i)
		if classes > 0 {
			row[dim+x.Label(i)] = 1
		}
		for j, v := range row {
			mean[j] += float64(v) / float64(x.Len())
			for k, w := range row {
				covariance[j][k] += float64(v) * float64(w) / float64(x.Len())
			}
		}
	}
	for j := range covariance {
		for k := range covariance {
			covariance[j][k] -= mean[j] * mean[k]
		}
	}
	return mean, covariance
}

// drawn fits a configuration and draws n records.
func drawn(t testing.TB, c mix.Config, data records.Data, n int,
	opts ...synth.DrawOption) records.Data {
	t.Helper()
	all, err := fit(t, mustPlan(t, c), data).Sample(t.Context(), n, opts...)
	if err == nil {
		err = records.Check(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// columnsOf returns the column of every coordinate of encoded records, and then -1 for every
// coordinate of the label.
func columnsOf(s records.Schema) (out []int) {
	for _, b := range s.Blocks() {
		for range b.Width {
			out = append(out, b.Column)
		}
	}
	if s.Kind() != records.MixedTable {
		for j := range s.Dim() {
			out = append(out, j)
		}
	}
	for range s.Classes() {
		out = append(out, -1)
	}
	return out
}

// off returns how much drawn records differ from real ones: the largest difference of means, and
// the relative difference of the covariances between different columns.
func off(columns []int, real, got *records.Table) (mean, covariance float64) {
	m0, c0 := described(real)
	m1, c1 := described(got)
	size, differ := 0.0, 0.0
	for j := range m0 {
		mean = math.Max(mean, math.Abs(m0[j]-m1[j]))
		for k := range m0 {
			if columns[j] != columns[k] {
				size += c0[j][k] * c0[j][k]
				differ += (c0[j][k] - c1[j][k]) * (c0[j][k] - c1[j][k])
			}
		}
	}
	return mean, math.Sqrt(differ / size)
}

// TestDrawnRowsAreLikeTheReal checks that drawn rows have the means and the covariances of the real
// rows. In 40 runs the largest error of a mean was 0.013, and the largest relative error of the
// covariances was 0.27. Among runs of one configuration the standard deviations were about 0.003
// and 0.02. For a normal distribution the probability of a false alarm is below 1e-20. Columns
// drawn independently within their class have a relative error of at least 0.62.
func TestDrawnRowsAreLikeTheReal(t *testing.T) {
	replace := accountant.Budget{Epsilon: 10, Delta: 1e-5, Relation: accountant.ReplaceOne}
	for name, c := range map[string]struct {
		labelled bool
		change   func(*mix.Config)
	}{
		"no labels": {false, func(*mix.Config) {}},
		"no labels, centred": {false, func(c *mix.Config) {
			c.Centers = mix.Centers{Share: 0.3, ClipNorm: c.ClipNorm}
		}},
		"labels, subsets": {true, func(c *mix.Config) {
			c.Budget, c.Sampling = replace, mix.WithoutReplacement{Records: 8000, Degree: 16}
		}},
		"by class": {true, func(c *mix.Config) { c.ByClass = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := customers(t, 8000, c.labelled, 1)
			s := data.Schema()
			config := mix.Config{Schema: s, Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5},
				Sampling: mix.Poisson{Nominal: 8000, Degree: 16}, Mixtures: 6000,
				ClipNorm: s.MaxNorm()}
			c.change(&config)
			got := drawn(t, config, data, 20000, synth.Seed(5))
			mean, covariance := off(columnsOf(s), data.Encoded(), got.(*records.Frame).Encoded())
			t.Logf("means off by %.4f, covariances by %.3f of their size", mean, covariance)
			if mean > 0.05 || covariance > 0.5 {
				t.Errorf("means off by %.4f, covariances by %.3f of their size", mean, covariance)
			}
		})
	}
}

// baskets returns sets of 30 items. Ten items are frequent in the same half of the sets; the other
// items are independent.
func baskets(t testing.TB, n int) *records.SetTable {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 12))
	rows := make([][]uint32, n)
	for i := range rows {
		together := []float64{0.05, 0.6}[b2i(rng.Float64() < 0.5)]
		for item := range uint32(30) {
			p := 0.1
			if item < 10 {
				p = together
			}
			if rng.Float64() < p {
				rows[i] = append(rows[i], item)
			}
		}
	}
	out, err := records.FromItems(records.Sets(30, 16), rows)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// dense returns sets as vectors.
func dense(t testing.TB, sets *records.SetTable) *records.Table {
	t.Helper()
	flat := make([]float32, sets.Len()*sets.Schema().Dim())
	for i := range sets.Len() {
		for _, item := range sets.Items(i) {
			flat[i*sets.Schema().Dim()+int(item)] = 1
		}
	}
	out, err := records.FromFlat(records.Binary(sets.Schema().Dim()), flat)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDrawnSetsAreLikeTheReal checks that drawn sets have the item frequencies and the covariances
// of the real sets, within the bounds of TestDrawnRowsAreLikeTheReal. Items drawn independently
// have a relative error of 1.
func TestDrawnSetsAreLikeTheReal(t *testing.T) {
	data := baskets(t, 8000)
	c := mix.Config{Schema: data.Schema(), Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 8000, Degree: 16}, Mixtures: 6000, ClipNorm: 4}
	got := drawn(t, c, data, 20000, synth.Seed(5)).(*records.SetTable)
	mean, covariance := off(columnsOf(data.Schema()), dense(t, data), dense(t, got))
	t.Logf("means off by %.4f, covariances by %.3f of their size", mean, covariance)
	if mean > 0.05 || covariance > 0.5 {
		t.Errorf("means off by %.4f, covariances by %.3f of their size", mean, covariance)
	}
	means := drawn(t, c, data, 2000, synth.Seed(5), synth.Means()).(*records.Table)
	if mean, _ := off(columnsOf(data.Schema()), dense(t, data), means); mean > 0.05 {
		t.Errorf("the largest error of an item's probability is %.4f, want at most 0.05", mean)
	}
}
