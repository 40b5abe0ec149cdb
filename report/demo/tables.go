// Package demo generates data sets for examples, benchmarks and tests. It uses no real records. The
// same settings give the same data on every machine.
package demo

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// TableSource describes generated tables with columns of different kinds and a class, for
// benchmarks and examples. It uses no real records. Equal values give the same table on every
// machine.
//
// Every record has a few hidden Gaussian factors. A number is a mixture of these factors plus
// independent noise; every third number is skewed, like an amount that is mostly zero. A level is
// drawn with probabilities that are log-linear in the factors, and levels have very different
// frequencies. The class is drawn with odds that depend on the factors, on their products, and on
// pairs of columns.
type TableSource struct {
	Records  int
	Numbers  int // numeric and integer columns
	Choices  int // categorical columns
	Levels   int // largest number of levels of a categorical column, at least 2; the smallest is 2
	Flags    int
	Classes  int     // 0 for no label
	Minority float64 // fraction of records in the last class; 0 if all classes are equal
	Seed     uint64  // seed of the distribution
	Draw     uint64  // seed of the records: different draws with one Seed have the same distribution
}

const tableFactors = 4

// Validate reports every invalid setting.
//
// Errors: one for each setting, joined.
func (g TableSource) Validate() error {
	var errs []error
	bad := func(wrong bool, field string, value any, want string) {
		if wrong {
			errs = append(errs, fmt.Errorf("demo.TableSource.%s: %v: want %s", field, value, want))
		}
	}
	bad(g.Records < 0 || g.Records > math.MaxInt32, "Records", g.Records,
		"a number of rows that a table can hold")
	bad(g.Numbers < 0 || g.Choices < 0 || g.Flags < 0 || g.Numbers+g.Choices+g.Flags < 1, "Numbers",
		g.Numbers, "at least one column")
	bad(g.Choices > 0 && g.Levels < 2, "Levels", g.Levels, "at least 2")
	bad(g.Classes < 0 || g.Classes == 1, "Classes", g.Classes, "none, or at least 2")
	bad(!(g.Minority >= 0 && g.Minority < 1), "Minority", g.Minority, "a fraction in [0, 1)")
	return errors.Join(errs...)
}

// Schema returns the schema of the records.
//
// Errors: as for [TableSource.Validate].
func (g TableSource) Schema() (records.Schema, error) {
	if err := g.Validate(); err != nil {
		return records.Schema{}, err
	}
	var list []records.Column
	for j := range g.Numbers {
		name := fmt.Sprintf("number%d", j)
		switch j % 3 {
		case 0:
			list = append(list, records.Numeric(name, -4, 4))
		case 1:
			list = append(list, records.Integer(name, 0, 90))
		default:
			list = append(list, records.Numeric(name, 0, 100000).Logarithmic())
		}
	}
	for j := range g.Choices {
		list = append(list, records.Categorical(fmt.Sprintf("choice%d", j), names(g.levels(j))...))
	}
	for j := range g.Flags {
		list = append(list, records.Flag(fmt.Sprintf("flag%d", j), "no", "yes"))
	}
	if g.Classes > 0 {
		list = append(list, records.Label("class", names(g.Classes)...))
	}
	return records.NewSchema(list...)
}

// levels returns the number of levels of column j; the numbers are spread evenly.
func (g TableSource) levels(j int) int { return 2 + (j*7+3)%max(g.Levels-1, 1) }

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("v%d", i))
	}
	return list
}

// Make returns the table.
//
// Errors: as for [TableSource.Validate].
func (g TableSource) Make() (*records.Frame, error) {
	s, err := g.Schema()
	if err != nil {
		return nil, err
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	m := newRowMaker(g)
	rng := rand.New(rand.NewPCG(g.Draw, 0x726f7773))
	for range g.Records {
		if err := b.Append(m.row(rng)...); err != nil {
			return nil, err
		}
	}
	return b.Frame(), nil
}

// rowMaker holds the distribution of the columns.
type rowMaker struct {
	source  TableSource
	numbers [][]float64   // by column: weights of the factors
	choices [][][]float64 // by column and level: weights, and the level's offset
	flags   [][]float64
	class   [][]float64 // by class: weights of factors and of their products
	shift   float64     // of the last class
}

func newRowMaker(g TableSource) *rowMaker {
	rng := rand.New(rand.NewPCG(g.Seed, 0x7461626c65))
	vector := func(n int, size float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = size * rng.NormFloat64()
		}
		return v
	}
	m := &rowMaker{source: g}
	for range g.Numbers {
		m.numbers = append(m.numbers, vector(tableFactors, 0.6))
	}
	for j := range g.Choices {
		var levels [][]float64
		for l := range g.levels(j) {
			levels = append(levels, append(vector(tableFactors, 0.9), -0.7*float64(l)))
		}
		m.choices = append(m.choices, levels)
	}
	for range g.Flags {
		m.flags = append(m.flags, append(vector(tableFactors, 1.2), 0.7*rng.NormFloat64()))
	}
	for range g.Classes {
		m.class = append(m.class, vector(2*tableFactors, 1.5))
	}
	if g.Classes > 0 && g.Minority > 0 {
		m.shift = m.fitShift()
	}
	return m
}

// fitShift returns the shift that gives the last class its intended share. It is found by bisection
// on a fixed sample of factors.
func (m *rowMaker) fitShift() float64 {
	rng := rand.New(rand.NewPCG(m.source.Seed, 0x73686966))
	sample := make([][]float64, 4000)
	for i := range sample {
		sample[i] = factors(rng)
	}
	lo, hi := -30.0, 30.0
	for range 50 {
		m.shift = (lo + hi) / 2
		mean := 0.0
		for _, z := range sample {
			p := softmax(m.classLogits(z))
			mean += p[len(p)-1] / float64(len(sample))
		}
		if mean < m.source.Minority {
			lo = m.shift
		} else {
			hi = m.shift
		}
	}
	return m.shift
}

func factors(rng *rand.Rand) []float64 {
	z := make([]float64, tableFactors)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	return z
}

func (m *rowMaker) classLogits(z []float64) []float64 {
	out := make([]float64, len(m.class))
	for c, w := range m.class {
		for i := range z {
			out[c] += w[i]*z[i] + 0.7*w[tableFactors+i]*z[i]*z[(i+1)%len(z)]
		}
	}
	if len(out) > 0 {
		out[len(out)-1] += m.shift
	}
	return out
}

func (m *rowMaker) row(rng *rand.Rand) []any {
	z := factors(rng)
	var row []any
	for j, w := range m.numbers {
		x := dot(w, z) + 0.5*rng.NormFloat64()
		switch j % 3 {
		case 1:
			x = math.Round(40 + 12*x)
		case 2:
			if x < 0.8 {
				x = 0
			} else {
				x = math.Exp(5 + 2*x)
			}
		}
		row = append(row, x)
	}
	for _, levels := range m.choices {
		logits := make([]float64, len(levels))
		for l, w := range levels {
			logits[l] = dot(w[:tableFactors], z) + w[tableFactors]
		}
		row = append(row, fmt.Sprintf("v%d", drawOf(rng, softmax(logits))))
	}
	for _, w := range m.flags {
		p := 1 / (1 + math.Exp(-dot(w[:tableFactors], z)-w[tableFactors]))
		row = append(row, rng.Float64() < p)
	}
	if len(m.class) > 0 {
		row = append(row, fmt.Sprintf("v%d", drawOf(rng, softmax(m.classLogits(z)))))
	}
	return row
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func softmax(logits []float64) []float64 {
	top, total := math.Inf(-1), 0.0
	for _, v := range logits {
		top = max(top, v)
	}
	p := make([]float64, len(logits))
	for i, v := range logits {
		p[i] = math.Exp(v - top)
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

func drawOf(rng *rand.Rand, p []float64) int {
	u := rng.Float64()
	for i, v := range p {
		if u -= v; u < 0 {
			return i
		}
	}
	return len(p) - 1
}
