package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Queries are random counting queries: how many records have all, or any, of
// some items. The zero value is the experiment of the DPGM papers.
//
// Source: the counting queries of Acs et al. 2017 and 2019. There are Count queries in Classes
// classes. A query of class i has a length uniform on [1, i·MaxLength/Classes] and items uniform
// over the universe.
type Queries struct {
	Count     int     // queries of all classes together; 0 for 1000
	Classes   int     // length classes; 0 for 5
	MaxLength int     // largest length of a query; 0 for the size of the largest real record
	Sanity    float64 // sanity bound as a fraction of the number of real records; 0 for 0.001
	// Popular draws items with probabilities proportional to the number of real records that have
	// them, since real queries are mostly about popular items. The papers draw items uniformly.
	Popular bool
	Seed    uint64
}

// withDefaults replaces zero settings by their defaults.
func (q Queries) withDefaults() Queries {
	q.Count, q.Classes = cmp.Or(q.Count, 1000), cmp.Or(q.Classes, 5)
	q.Sanity = cmp.Or(q.Sanity, 0.001)
	return q
}

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (q Queries) validate() error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, param.New("evaluate.Queries."+field, value, want))
	}
	q = q.withDefaults()
	if q.Classes < 1 || q.Classes > 1<<16 {
		bad("Classes", q.Classes, "a positive number")
	} else if q.Count < q.Classes || q.Count > 1<<24 {
		bad("Count", q.Count, "at least one query for each class")
	}
	if q.MaxLength < 0 {
		bad("MaxLength", q.MaxLength, "a length, or 0 for that of the longest record")
	}
	if !(q.Sanity > 0 && q.Sanity <= 1) {
		bad("Sanity", q.Sanity, "a fraction in (0, 1]")
	}
	return errors.Join(errs...)
}

// Draw draws the queries of each class over a universe. Items are drawn uniformly, and the items of
// a query are distinct.
//
// Errors: *[param.Error] for invalid settings, and *[param.Error] for an empty universe.
func (q Queries) Draw(universe, maxLength int) ([][][]uint32, error) {
	return q.draw(universe, maxLength, func(rng *rand.Rand, n int) []uint32 {
		return compare.Subset(rng, universe, n)
	})
}

func (q Queries) draw(universe, maxLength int,
	items func(*rand.Rand, int) []uint32) ([][][]uint32, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	if universe < 1 {
		return nil, param.New("evaluate.Queries universe", universe, "at least one item")
	}
	q = q.withDefaults()
	rng := rand.New(rand.NewPCG(q.Seed, 0x71756572))
	classes := make([][][]uint32, q.Classes)
	for c := range classes {
		longest := min(max((c+1)*maxLength/q.Classes, 1), universe)
		for range q.Count / q.Classes {
			classes[c] = append(classes[c], items(rng, 1+rng.IntN(longest)))
		}
	}
	return classes, nil
}

// drawFor draws queries for the records of an index.
func (q Queries) drawFor(x *Index) ([][][]uint32, error) {
	if !q.Popular {
		return q.Draw(x.Universe(), q.MaxLength)
	}
	p := newPopularity(x)
	return q.draw(x.Universe(), q.MaxLength, p.draw)
}

// popularity draws distinct items by weight: the n smallest of exponential numbers with the weights
// as rates (Efraimidis and Spirakis 2006).
type popularity struct {
	weights []float64
	arrival []float64
	order   []uint32
}

func newPopularity(x *Index) *popularity {
	p := &popularity{arrival: make([]float64, x.Universe()), order: make([]uint32, x.Universe())}
	for _, post := range x.postings {
		p.weights = append(p.weights, float64(post.count))
	}
	return p
}

func (p *popularity) draw(rng *rand.Rand, n int) []uint32 {
	for i, w := range p.weights {
		p.order[i] = uint32(i)
		p.arrival[i] = rng.ExpFloat64() / w // +Inf for items in no record: last, in order
	}
	slices.SortStableFunc(p.order, func(a, b uint32) int {
		return cmp.Compare(p.arrival[a], p.arrival[b])
	})
	items := slices.Clone(p.order[:n])
	slices.Sort(items)
	return items
}

// QueryErrors holds the relative errors of counting queries.
type QueryErrors struct {
	Real      int          `json:"real"`      // real records
	Synthetic int          `json:"synthetic"` // synthetic records
	Queries   int          `json:"queries"`   // of each class
	Sanity    float64      `json:"sanity"`    // in records
	Popular   bool         `json:"popular,omitempty"`
	Classes   []ClassError `json:"classes"`
}

// ClassError is the relative error |Q(synthetic) − Q(real)| / max(Q(real), sanity
// bound) over the queries of one length class.
type ClassError struct {
	MaxLength int     `json:"max_length"`
	Any       Summary `json:"any"` // records that have at least one of the items
	All       Summary `json:"all"` // records that have every one of them
}

// Summary describes many errors.
type Summary struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// Compare answers the same queries on real and on synthetic records. Counts of the synthetic
// records are scaled to the number of the real ones, so the two may differ in size.
//
// Errors: *[param.Error] for invalid settings, records that are not
// binary, different universes, or no records at all.
// Guarantee: none; see the package.
func (q Queries) Compare(real, synthetic records.Data) (QueryErrors, error) {
	if err := q.validate(); err != nil {
		return QueryErrors{}, err
	}
	truth, err := NewIndex(real)
	if err != nil {
		return QueryErrors{}, err
	}
	guess, err := NewIndex(synthetic)
	if err != nil {
		return QueryErrors{}, err
	}
	return q.CompareIndexes(truth, guess)
}

// CompareIndexes is like [Queries.Compare] for records that are already indexed.
//
// Errors: see [Queries.Compare].
func (q Queries) CompareIndexes(real, synthetic *Index) (QueryErrors, error) {
	if err := checkPair("evaluate.Queries", real, synthetic); err != nil {
		return QueryErrors{}, err
	}
	q = q.withDefaults()
	if q.MaxLength == 0 {
		q.MaxLength = max(real.longest, 1)
	}
	classes, err := q.drawFor(real)
	if err != nil {
		return QueryErrors{}, err
	}
	out := QueryErrors{Real: real.records, Synthetic: synthetic.records, Queries: len(classes[0]),
		Sanity: q.Sanity * float64(real.records), Popular: q.Popular}
	either, every := out.ask(real, synthetic, slices.Concat(classes...))
	for c, queries := range classes {
		n := len(queries)
		either, every := either[c*n:(c+1)*n], every[c*n:(c+1)*n]
		out.Classes = append(out.Classes,
			ClassError{(c + 1) * q.MaxLength / q.Classes, summarise(either), summarise(every)})
	}
	return out, nil
}

// ask answers the queries on both sets of records, on all cores.
func (e QueryErrors) ask(real, synthetic *Index, queries [][]uint32) (either, every []float64) {
	either, every = make([]float64, len(queries)), make([]float64, len(queries))
	truth, guess := real.AnyEach(queries), synthetic.AnyEach(queries)
	compare.Workers(len(queries), func() func(int) {
		return func(i int) {
			either[i] = e.relative(truth[i], guess[i])
			every[i] = e.relative(real.All(queries[i]...), synthetic.All(queries[i]...))
		}
	})
	return either, every
}

// MeanAny returns the mean over the classes of the mean errors of queries about "any of the items".
// This single number is used to compare synthesisers.
func (e QueryErrors) MeanAny() float64 {
	return e.mean(func(c ClassError) float64 { return c.Any.Mean })
}

// MeanAll is like MeanAny for queries about "all of the items".
func (e QueryErrors) MeanAll() float64 {
	return e.mean(func(c ClassError) float64 { return c.All.Mean })
}

func (e QueryErrors) mean(of func(ClassError) float64) float64 {
	sum := 0.0
	for _, c := range e.Classes {
		sum += of(c)
	}
	return sum / float64(max(len(e.Classes), 1))
}

// relative returns the relative error of one query.
func (e QueryErrors) relative(real, synthetic int) float64 {
	scaled := float64(synthetic) * float64(e.Real) / float64(e.Synthetic)
	return math.Abs(scaled-float64(real)) / max(float64(real), e.Sanity)
}

func summarise(errs []float64) Summary {
	slices.Sort(errs)
	sum := 0.0
	for _, e := range errs {
		sum += e
	}
	n := len(errs)
	return Summary{Mean: sum / float64(n), Median: (errs[(n-1)/2] + errs[n/2]) / 2, Max: errs[n-1]}
}

// String prints a line for each class, marked as not private.
func (e QueryErrors) String() string {
	var b strings.Builder
	items := "uniform"
	if e.Popular {
		items = "popular"
	}
	fmt.Fprintf(&b,
		"%srelative error of counting queries, %d a line, %s items, sanity bound %g records (%s)\n",
		judge.Mark, e.Queries, items, e.Sanity, judge.Caveat)
	fmt.Fprintf(&b, "%10s  %8s %8s  %8s %8s", "length ≤", "any mean", "median", "all mean", "median")
	for _, c := range e.Classes {
		fmt.Fprintf(&b, "\n%10d  %8.4f %8.4f  %8.4f %8.4f", c.MaxLength, c.Any.Mean, c.Any.Median,
			c.All.Mean, c.All.Median)
	}
	return b.String()
}

// MarshalJSON writes the result with its caveat.
func (e QueryErrors) MarshalJSON() ([]byte, error) {
	type plain QueryErrors
	return compare.JSON("counting queries", plain(e))
}
