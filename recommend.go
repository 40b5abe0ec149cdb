package privgen

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/quantiles"
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
// The order follows measurements on generated and published data (docs/results.md):
//
//	tables of two classes  AIM, then MERF, then GAN
//	tables of more         MERF, then AIM, then GAN
//	tables of many rows    with columns of numbers: MERF on ranks in place of MERF, and if half of
//	                       the columns are numbers, a pool of it and AIM before all others
//	tables without one     AIM, then MERF, then GAN, then DPGM
//	sets                   DPGM with marginals, then the Independent, Tree and MWEM baselines
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
	for _, c := range candidates(schema, budget, nominal) {
		p, err := c.plan()
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.system, err))
			continue
		}
		list = append(list, Recommendation{Plan: p, Reason: c.reason})
	}
	if len(list) == 0 {
		return nil, errors.Join(failed...)
	}
	return list, ceiling(schema, budget, nominal)
}

// candidate is a system with the reason to choose it.
type candidate struct {
	system, reason string
	plan           func() (Plan, error)
}

// planned converts a system's plan to a Plan, with nil for a nil pointer.
func planned[P Plan](plan func() (P, error)) func() (Plan, error) {
	return func() (Plan, error) {
		p, err := plan()
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// candidates returns the suitable systems, best first.
func candidates(s records.Schema, b accountant.Budget, n int) []candidate {
	merf := func(why string) candidate {
		return candidate{"merf", why, planned(MERF(s, b).Nominal(n).Plan)}
	}
	gan := func(why string) candidate {
		return candidate{"gan", why, planned(GAN(s, b).Nominal(n).Plan)}
	}
	dpgm := func(why string) candidate {
		return candidate{"dpgm", why, planned(DPGM(s, b).Nominal(n).Plan)}
	}
	aim := func(why string) candidate {
		return candidate{"aim", why, planned(AIM(s, b).Nominal(n).Plan)}
	}
	mix := func(why string) candidate {
		return candidate{"mix", why, planned(Mix(s, b).Nominal(n).Plan)}
	}
	labelled := s.Classes() > 1
	switch {
	case s.Sparse() && !labelled:
		return append([]candidate{dpgm("frequencies and sizes are released, and a network adds how " +
			"items depend on each other.")}, baselineCandidates(s, b, n)...)
	case s.Sparse():
		return []candidate{
			merf("one release holds every class's items; the other systems for sets do not model classes."),
			dpgm("frequencies and sizes of sets are most accurate, but classes are not modelled.")}
	case s.Kind() == records.MixedTable && labelled:
		chosen := aim("it measures the pairs and triples of columns that its model misses most.")
		every := merf("a single release covers the columns and all pairs of columns, by class; a network is " +
			"then fitted to it.")
		critic := gan("columns are released by class, and a critic learns what pairs of columns do not " +
			"show; it is less exact at small ε.")
		x, err := boundOf(s, b, n)
		if err == nil && x.noise < manyNoise && hasNumbers(s) {
			every = candidate{"quantiles", "MERF's single release covers all pairs of columns, by class; " +
				"numbers are ranks, so every column keeps its distribution.",
				planned(MERF(s, b).Nominal(n).Quantiles(quantiles.Config{}).Plan)}
		}
		list := []candidate{chosen, every, critic}
		if s.Classes() > 2 {
			list = []candidate{every, chosen, critic}
		}
		if err == nil && math.Sqrt2*x.noise < manyNoise && mostlyNumbers(s) { // for half of the budget
			both := candidate{"pool", "half of the rows come from AIM, which keeps chosen pairs and triples " +
				"of columns, and half from MERF on ranks, which keeps some of all pairs.",
				planned(Pool(b, AIM(s, b).Nominal(n),
					MERF(s, b).Nominal(n).Quantiles(quantiles.Config{})).Plan)}
			list = append([]candidate{both}, list...)
		}
		return list
	case s.Kind() == records.MixedTable:
		return []candidate{
			aim("it measures the pairs and triples of columns that its model misses most."),
			merf("a single release covers the columns and all pairs of columns; a network is then fitted " +
				"to it."),
			gan("columns are released, and a critic learns what pairs of columns do not show."),
			dpgm("clusters with one network each follow groups of records, but no finer structure.")}
	case s.IsImage() && labelled:
		return []candidate{
			merf("a single release of features of images, by class, gives images of every class."),
			mix("mixtures train the best classifiers at large ε, but they do not look like images."),
			gan("images are sharper than MERF's if ε is 10 or more; below, training is far noisier.")}
	case s.IsImage():
		return []candidate{
			dpgm("clusters with one network each give images of several kinds."),
			merf("a single release covers features of images, without clusters."),
			gan("images are sharper if ε is about 10 or more.")}
	case labelled:
		return []candidate{
			merf("a single release of random features, by class, suits vectors of every kind."),
			gan("a critic captures what random features miss, with far more noise."),
			mix("mixtures of records train a classifier, but they are not records.")}
	}
	return []candidate{merf("a single release of random features suits vectors of every kind."),
		dpgm("clusters with one network each follow groups of records."),
		gan("a critic captures what random features miss, with far more noise.")}
}

// hasNumbers reports whether a table has a column whose numbers can be ranks.
func hasNumbers(s records.Schema) bool {
	_, err := quantiles.Ranks(s)
	return err == nil
}

// mostlyNumbers reports whether at least half of a table's columns have numbers. On tables of
// mostly levels AIM alone is closer to the records than a pool.
func mostlyNumbers(s records.Schema) bool {
	numbers := 0
	for _, c := range s.Columns() {
		if c.IsNumber() {
			numbers++
		}
	}
	return hasNumbers(s) && 2*numbers >= len(s.Columns())
}

func baselineCandidates(s records.Schema, b accountant.Budget, n int) []candidate {
	return []candidate{
		{"independent", "counts of items only: nearly as good if there are few records for each item.",
			planned(Independent(s, b).Nominal(n).Plan)},
		{"tree",
			"pairs of items along a tree: better than counts if there are many records for each item.",
			planned(Tree(s, b).Nominal(n).Plan)},
		{"mwem", "answers the given counting queries: good if all possible sets can be listed.",
			planned(MWEM(s, b).Nominal(n).Plan)}}
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
