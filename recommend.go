package privgen

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Recommendation is a plan with default settings, and the reason for its rank.
type Recommendation struct {
	Plan   Plan
	Reason string // one sentence
}

// String returns the reason and the plan's text.
func (r Recommendation) String() string {
	if r.Plan == nil {
		return r.Reason
	}
	return fmt.Sprintf("%s: %s\n%v", r.Plan.System(), r.Reason, r.Plan)
}

// ErrNoise is returned if the noise that the budget requires leaves nothing to learn.
var ErrNoise = errors.New("noise leaves nothing to learn")

// Recommend returns the plans of the systems that suit the records, best first. It uses the
// schema, the budget and the approximate number of records only: it reads no records and spends
// nothing.
//
// Several tables have one system, [compose.Linked] of AIM, which needs no recommendation.
//
// The order follows measurements on generated and published data (docs/results.md):
//
//	tables with a class    AIM, then MERF
//	tables of many rows    with columns of numbers: MERF on ranks in place of MERF, and if half of
//	                       the columns are numbers, a pool of it and AIM before all others
//	tables without one     AIM, then MERF, then DPGM
//	sets                   DPGM with marginals, then Independent and MWEM
//	images with a class    MERF, then Mix (for classifiers, not for viewing), then GAN
//	images without one     DPGM, then MERF and GAN
//	vectors with a class   MERF, then GAN, then Mix
//	vectors without one    MERF, then DPGM, then GAN
//
// Errors: *param.Error; accountant.ErrUnsupported. ErrNoise is returned together with the plans. It
// states why none of them would learn anything, and approximately how many records would be enough.
func Recommend(schema records.Schema, budget accountant.Budget,
	nominal int) ([]Recommendation, error) {
	var k param.Checker
	k.Add(schema.Validate())
	k.Add(budget.Validate())
	k.OK(nominal > 0 && nominal <= math.MaxInt32, "privgen.Recommend.nominal", nominal,
		"a public number of records, at most 2^31")
	k.OK(budget.Delta != 0, "privgen.Recommend.budget.Delta", budget.Delta,
		"a positive number: the defaults of every system add Gaussian noise")
	if err := k.Err(); err != nil {
		return nil, err
	}
	var list []Recommendation
	var failed []error
	for _, a := range advised(facts{schema, budget, nominal}) {
		p, err := compose.Levels{Of: a.design(schema, budget, nominal)}.PlanFor(schema, budget)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		list = append(list, Recommendation{Plan: p, Reason: a.reason})
	}
	if len(list) == 0 {
		return nil, errors.Join(failed...)
	}
	return list, ceiling(schema, budget, nominal)
}

// facts are what a recommendation depends on.
type facts struct {
	schema  records.Schema
	budget  accountant.Budget
	nominal int
}

// An advice is a system with the reason to choose it.
type advice struct {
	design func(records.Schema, accountant.Budget, int) Design
	reason string
	when   func(facts) bool // nil for always
}

// recommended lists the systems for each kind of records, best first. The first kind that the
// records have counts.
var recommended = []struct {
	records func(records.Schema) bool
	list    []advice
}{
	{func(s records.Schema) bool { return s.Sparse() && !labelled(s) }, []advice{
		{dpgmOf, "frequencies and sizes are released, and a network adds how items depend on each other.",
			nil},
		{independentOf, "counts of items only: nearly as good if there are few records for each item.",
			nil},
		{mwemOf, "answers the given counting queries: good if all possible sets can be listed.", nil},
	}},
	{records.Schema.Sparse, []advice{
		{merfOf, "one release holds every class's items; the other systems for sets do not model " +
			"classes.", nil},
		{dpgmOf, "frequencies and sizes of sets are most accurate, but classes are not modelled.", nil},
	}},
	{func(s records.Schema) bool { return isTable(s) && labelled(s) },
		[]advice{poolOfTables, aimOfTables, merfOfTables, ranksOfTables}},
	{isTable, []advice{
		aimOfTables,
		{merfOf, "a single release covers the columns and, unless its notes say otherwise, all pairs of " +
			"columns; a network is then fitted to it.", nil},
		{dpgmOf, "clusters with one network each follow groups of records, but no finer structure.", nil},
	}},
	{func(s records.Schema) bool { return s.IsImage() && labelled(s) }, []advice{
		{merfOf, "a single release of features of images, by class, gives images of every class.", nil},
		{mixOf, "mixtures train the best classifiers at large ε, but they do not look like images.", nil},
		{ganOf, "images are sharper than MERF's if ε is 10 or more; below, training is far noisier.",
			nil},
	}},
	{records.Schema.IsImage, []advice{
		{dpgmOf, "clusters with one network each give images of several kinds.", nil},
		{merfOf, "a single release covers features of images, without clusters.", nil},
		{ganOf, "images are sharper if ε is about 10 or more.", nil},
	}},
	{labelled, []advice{
		{merfOf, "a single release of random features, by class, suits vectors of every kind.", nil},
		{ganOf, "a critic captures what random features miss, with far more noise.", nil},
		{mixOf, "mixtures of records train a classifier, but they are not records.", nil},
	}},
	{func(records.Schema) bool { return true }, []advice{
		{merfOf, "a single release of random features suits vectors of every kind.", nil},
		{dpgmOf, "clusters with one network each follow groups of records.", nil},
		{ganOf, "a critic captures what random features miss, with far more noise.", nil},
	}},
}

// Advice for tables with a class.
var (
	aimOfTables = advice{aimOf, "it measures the pairs and triples of columns that its model misses " +
		"most; a number to be predicted is drawn given the whole row.", nil}
	merfOfTables = advice{merfOf, "a single release covers the columns and, unless its notes say " +
		"otherwise, all pairs of columns, by class; a network is then fitted to it.", func(f facts) bool { return !f.suitRanks() }}
	ranksOfTables = advice{ranksOf, "MERF's single release covers all pairs of columns, by class; " +
		"numbers are ranks, so every column keeps its quantiles, but not frequent single values.",
		facts.suitRanks}
	poolOfTables = advice{bothOf, "half of the rows come from AIM, which keeps chosen pairs and " +
		"triples of columns, and half from MERF on ranks, which keeps some of all pairs.",
		facts.suitPools}
)

func merfOf(s records.Schema, b accountant.Budget, n int) Design { return MERF(s, b).Nominal(n) }
func ganOf(s records.Schema, b accountant.Budget, n int) Design  { return GAN(s, b).Nominal(n) }
func dpgmOf(s records.Schema, b accountant.Budget, n int) Design { return DPGM(s, b).Nominal(n) }
func mixOf(s records.Schema, b accountant.Budget, n int) Design  { return Mix(s, b).Nominal(n) }
func aimOf(s records.Schema, b accountant.Budget, n int) Design  { return AIM(s, b).Nominal(n) }
func mwemOf(s records.Schema, b accountant.Budget, n int) Design { return MWEM(s, b).Nominal(n) }

func independentOf(s records.Schema, b accountant.Budget, n int) Design {
	return Independent(s, b).Nominal(n)
}

func ranksOf(s records.Schema, b accountant.Budget, n int) Design {
	return compose.Ranks{Of: merfOf(s, b, n)}
}

func bothOf(s records.Schema, b accountant.Budget, n int) Design {
	return compose.Pool{Of: []Design{aimOf(s, b, n), ranksOf(s, b, n)}}
}

// advised returns the suitable systems, best first.
func advised(f facts) (list []advice) {
	for _, row := range recommended {
		if !row.records(f.schema) {
			continue
		}
		for _, a := range row.list {
			if a.when == nil || a.when(f) {
				list = append(list, a)
			}
		}
		break
	}
	return list
}

func labelled(s records.Schema) bool { return s.Classes() > 1 }
func isTable(s records.Schema) bool  { return s.Kind() == records.MixedTable }

// suitRanks reports whether there are columns of numbers, and rows enough for ranks of them.
func (f facts) suitRanks() bool {
	x, err := boundOf(f.schema, f.budget, f.nominal)
	_, none := compose.RankSchema(f.schema)
	return err == nil && x.noise < manyNoise && none == nil
}

// suitPools reports whether there are rows enough for ranks at half of the budget, and at least
// half of the columns have numbers. On tables of mostly levels AIM alone is closer to the records
// than a pool.
func (f facts) suitPools() bool {
	numbers := 0
	for _, c := range f.schema.Columns() {
		if c.IsNumber() {
			numbers++
		}
	}
	x, err := boundOf(f.schema, f.budget, f.nominal)
	return f.suitRanks() && err == nil && math.Sqrt2*x.noise < manyNoise &&
		2*numbers >= len(f.schema.Columns())
}

// mostNoise is the largest usable noise on the mean of a column in a class, as a fraction of the
// column's range. mostItemNoise is the largest usable noise on the frequency of an item, as a
// multiple of the mean frequency. usualItems bounds the number of items that ceiling assumes in a
// set.
const (
	mostNoise     = 0.25
	manyNoise     = 0.006 // below it, rows are many enough for ranks of numbers
	mostItemNoise = 10
	usualItems    = 12
)

// bound is the smallest noise that any system can have.
type bound struct {
	noise   float64 // on the mean of a coordinate in one of equal classes
	most    float64 // largest usable noise
	columns int
	what    string // the records' coordinates
}

// boundOf returns the bound for records with the given schema. No system can estimate a mean of the
// records better than a single Gaussian release of their sum. With m columns in [0,1], this release
// has noise σ₁·√m·k/n on every column's mean in each of k equal classes.
func boundOf(s records.Schema, b accountant.Budget, n int) (bound, error) {
	z, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: z}
	})
	if err != nil {
		return bound{}, err
	}
	if b.Relation == accountant.ReplaceOne {
		z *= math.Sqrt2
	}
	out, unit := bound{most: mostNoise, columns: s.Dim(), what: "coordinates"}, 1.0
	switch {
	case s.Kind() == records.MixedTable:
		out.columns, out.what = len(s.Columns()), "columns"
	case s.Sparse():
		out.columns, out.what = min(s.MaxItems(), usualItems), "items"
		unit, out.most = float64(out.columns)/float64(s.Dim()), mostItemNoise
	}
	out.noise = z * math.Sqrt(float64(out.columns)) * float64(max(s.Classes(), 1)) / float64(n) / unit
	return out, nil
}

// ceiling returns ErrNoise if no system can learn.
func ceiling(s records.Schema, b accountant.Budget, n int) error {
	x, err := boundOf(s, b, n)
	if err != nil || x.noise <= x.most {
		return err
	}
	shape := fmt.Sprintf("%d %s", s.Dim(), x.what)
	if x.what == "columns" {
		shape = fmt.Sprintf("%d %s", x.columns, x.what)
	}
	if s.Classes() > 1 {
		shape += fmt.Sprintf(" in %d classes", s.Classes())
	}
	return fmt.Errorf("privgen: %d records at ε = %g, δ = %g: %w about %s: "+
		"the noise on each mean is %.2g, and at most %.2g is usable; about %s records would be enough",
		n, b.Epsilon, b.Delta, ErrNoise, shape, x.noise, x.most,
		roughly(float64(n)*x.noise/x.most))
}

// roughly writes a number with two significant digits, in full if it is below a billion.
func roughly(v float64) string {
	text := fmt.Sprintf("%.1e", v)
	if rounded, err := strconv.ParseFloat(text, 64); err == nil && rounded < 1e9 {
		return fmt.Sprintf("%.0f", rounded)
	}
	return text
}
