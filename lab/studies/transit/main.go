// Command transit compares private synthesisers of item sets by counting queries, as Figs. 5 and 6
// of the DPGM papers do for call records and transit passengers: DPGM with one cluster and with
// several, MWEM and noisy item counts.
//
//	go -C lab run ./studies/transit  on generated sets, about a minute
//	go -C lab run ./studies/transit -preset transit  at the size of the papers' transit data
//	go -C lab run ./studies/transit \
//	    -preset cdr at the size of the papers' call records: up to an hour
//	go -C lab run ./studies/transit -file retail.dat.gz -universe 16470 \
//	    -max-items 76 -nominal 88000
//
// It prints each run's guarantee and a table of errors by ε. It also prints the ε that the papers'
// own accounting would state for the same noise. With -v it prints guarantees in full and each
// plan's bill. It also draws the errors. Errors are computed from the real records and are not
// private.
package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
)

func main() { program.Main("transit", run) }

// config is the command line. All of it is public.
type config struct {
	file               string
	catalogue, grouped bool
	universe, maxItems int
	mean               float64
	skew, affinity     float64
	source             demo.SetSource
	nominal            int // a public guess of the number of records, which scales batches

	epsilons  []float64
	delta     float64
	relation  accountant.Relation
	clusters  []int
	methods   []string
	seeds     int
	synthetic int
	queries   int
	defaults  bool // every synthesiser chooses its settings from the nominal number of records

	batch                       float64 // expected batch size of training
	epochs                      int
	steps                       int // number of steps, instead of epochs
	hidden, latent              int
	lr, clip                    float64
	average                     float64
	iterations                  int // iterations of k-means
	features                    int
	bandwidth, share, marginals float64
	cut                         int
	out                         string
	verbose                     bool
}

func parse(args []string) (config, error) {
	c := config{source: demo.TransitRecords()}
	f := program.NewFlags("transit")
	preset := f.String("preset", "demo",
		"demo, transit or cdr: the shape of the generated sets and the length of the runs")
	f.StringVar(&c.file, "file", "",
		"transactions file (plain or gzip), one record on each line, instead of generated sets")
	f.BoolVar(&c.grouped, "grouped", false,
		"-file has rows \"person,item\", with many rows for each person; the guarantee is then for persons")
	f.BoolVar(&c.catalogue, "catalogue", false,
		"number the items that occur in -file from 0; asserts that the list of these items is public")
	f.IntVar(&c.universe, "universe", 0,
		"number of possible items in -file, or in generated sets (0 for the preset's)")
	f.IntVar(&c.maxItems, "max-items", 0,
		"public largest number of items of a record in -file, or in generated sets")
	f.Float64Var(&c.mean, "mean", 0, "mean number of items of a generated record, 0 for the preset's")
	f.Float64Var(&c.skew, "skew", -1,
		"exponent of the popularity of generated items, negative for the preset's")
	f.Float64Var(&c.affinity, "affinity", -1,
		"fraction of a generated record's items from its communities, negative for the preset's")
	f.IntVar(&c.nominal, "nominal", 0, "public nominal number of records, for -file")
	n := f.Int("records", 0, "number of generated records, 0 for the preset's")
	epsilons := f.String("epsilon", "0.5,1,2", "budgets")
	f.Float64Var(&c.delta, "delta", 0, "δ, 0 for the preset's")
	f.TextVar(&c.relation, "relation", accountant.AddOrRemoveOne, "neighbouring relation")
	clusters := f.String("k", "1,4", "numbers of clusters of DPGM")
	methods := f.String("methods", "dpgm,mwem,items", "synthesisers to compare")
	f.IntVar(&c.seeds, "seeds", 1, "number of runs of each synthesiser")
	f.IntVar(&c.synthetic, "synthetic", 0, "number of synthetic records, 0 for the preset's")
	f.IntVar(&c.queries, "queries", 1000, "number of counting queries")
	f.BoolVar(&c.defaults, "defaults", false,
		"let every synthesiser choose its settings from the nominal number of records; the flags of "+
			"DPGM and -cut have no effect")
	f.Float64Var(&c.batch, "batch", 0, "expected batch size, 0 for the preset's")
	f.IntVar(&c.epochs, "epochs", 0, "epochs of 1/q steps, 0 for the preset's")
	f.IntVar(&c.steps, "steps", 0, "number of steps, instead of epochs")
	f.IntVar(&c.hidden, "hidden", 0, "hidden units of encoder and decoder, 0 for the preset's")
	f.IntVar(&c.latent, "latent", 2, "latent coordinates")
	f.Float64Var(&c.lr, "lr", 3e-3,
		"learning rate of Adam for up to 1,000 steps; for more steps it is divided by the square "+
			"root of steps/1,000")
	f.Float64Var(&c.clip, "clip", 5, "clip norm of a record's gradient")
	f.Float64Var(&c.average, "average", 0.99, "moving average of the released parameters")
	f.IntVar(&c.iterations, "iterations", 8, "iterations of k-means")
	f.IntVar(&c.features, "features", 200,
		"number of random Fourier features; 0 clusters the records themselves")
	f.Float64Var(&c.bandwidth, "bandwidth", 3, "bandwidth of the kernel")
	f.Float64Var(&c.share, "share", 0.15, "fraction of ε that k-means alone would cost")
	f.Float64Var(&c.marginals, "marginals", 0.8,
		"fraction of ε that the marginals alone would cost; 0 trains as the papers do")
	f.IntVar(&c.cut, "cut", 0,
		"squared norm of a record for marginals, and number of its items for item counts: 0 for "+
			"three times the mean of generated sets, or all items of -file")
	f.StringVar(&c.out, "out", "out", "folder for the pictures")
	f.BoolVar(&c.verbose, "v", false, "print every bill, guarantee and comparison")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	c.methods = strings.Split(*methods, ",")
	var err1, err2 error
	c.epsilons, err1 = numbers(*epsilons, func(s string) (float64, error) {
		return strconv.ParseFloat(s, 64)
	})
	c.clusters, err2 = numbers(*clusters, strconv.Atoi)
	return c, errors.Join(err1, err2, c.apply(*preset, *n))
}

func numbers[T any](list string, parse func(string) (T, error)) (out []T, err error) {
	for word := range strings.SplitSeq(list, ",") {
		v, err := parse(word)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// preset is a shape of data with the length of training on it.
type preset struct {
	source                demo.SetSource
	records               int
	batch                 float64
	epochs, hidden, fakes int
	delta                 float64
}

// apply sets the values that no flag sets.
func (c *config) apply(name string, n int) error {
	presets := map[string]preset{
		"demo":    {demo.TransitRecords(), 100_000, 1000, 10, 64, 100_000, 1e-6},
		"transit": {demo.TransitRecords(), 1_200_000, 120, 10, 200, 1_200_000, 1e-6},
		"cdr":     {demo.CallRecords(), 4_427_486, 97.404692, 20, 200, 1_000_000, 4.4e-6},
	}
	p, ok := presets[name]
	if !ok {
		return fmt.Errorf("-preset %q: want demo, transit or cdr", name)
	}
	c.source = p.source
	c.source.Records = or(n, p.records)
	c.source.Universe, c.source.MaxItems, c.source.MeanItems = or(c.universe, p.source.Universe),
		or(c.maxItems, p.source.MaxItems), or(c.mean, p.source.MeanItems)
	if c.skew >= 0 {
		c.source.Skew = c.skew
	}
	if c.affinity >= 0 {
		c.source.Affinity = c.affinity
	}
	if c.file != "" && (c.universe == 0 && !c.catalogue || c.maxItems == 0 || c.nominal == 0) {
		return errors.New(
			"-file needs -universe, -max-items and -nominal, which are public and not read from the records")
	}
	if c.file == "" && c.cut == 0 {
		c.cut = min(int(math.Ceil(3*c.source.MeanItems)), c.source.MaxItems)
	}
	c.nominal = or(c.nominal, c.source.Records)
	c.batch, c.epochs, c.hidden, c.synthetic = or(c.batch, p.batch), or(c.epochs, p.epochs),
		or(c.hidden, p.hidden), or(c.synthetic, p.fakes)
	c.delta = or(c.delta, p.delta)
	return nil
}

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// load returns the records.
func (c config) load() (*records.SetTable, error) {
	if c.file == "" {
		return c.source.Make()
	}
	if c.grouped {
		return records.Visits{Column: 1}.Open(c.file, records.Sets(c.universe, c.maxItems))
	}
	if c.catalogue {
		return readCatalogued(c.file, c.maxItems)
	}
	return records.OpenTransactions(c.file, records.Sets(c.universe, c.maxItems))
}

// readCatalogued reads sets and renumbers the items that occur, in ascending order.
func readCatalogued(path string, maxItems int) (*records.SetTable, error) {
	raw, err := records.OpenTransactions(path, records.Sets(1<<20, 1<<20),
		records.Limits{Values: 1 << 30})
	if err != nil {
		return nil, err
	}
	number := map[uint32]uint32{}
	var found []uint32
	err = records.EachSet(raw, func(_ int, items []uint32) error {
		for _, item := range items {
			if _, known := number[item]; !known {
				number[item] = 0
				found = append(found, item)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	for i, item := range found {
		number[item] = uint32(i)
	}
	rows := make([][]uint32, raw.Len())
	for i := range rows {
		rows[i] = raw.Items(i)
		for k, item := range rows[i] {
			rows[i][k] = number[item]
		}
	}
	return records.FromItems(records.Sets(len(found), min(maxItems, len(found))), rows)
}
