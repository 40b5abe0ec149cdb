package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/examples/program"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

//go:embed *.json
var schemas embed.FS

// config is the command line.
type config struct {
	schemaFile, trainFile, testFile string
	header                          bool
	comment                         string
	skip                            string
	holdout                         float64
	split                           bool
	n                               int
	budget                          accountant.Budget
	kernel                          string
	dim, order, knots               int
	hidden                          string
	training                        merf.GeneratorConfig
	seed                            uint64
	most                            int
	quick                           bool
	embedding                       string
	out                             string
}

func parse(args []string) (config, error) {
	var c config
	f := program.NewFlags("merf-table")
	f.StringVar(&c.schemaFile, "schema", "",
		"schema file, or the name of one that comes with the program; default adult.json for -train, "+
			"else that of the made-up table")
	f.StringVar(&c.trainFile, "train", "",
		"private records, CSV, plain or gzip; default a table made by the program")
	f.StringVar(&c.testFile, "test", "", "real records held out for the report")
	f.BoolVar(&c.header, "header", false, "the first line of the files names the columns")
	f.StringVar(&c.comment, "comment", "|", "lines that begin with it are skipped")
	f.StringVar(&c.skip, "skip", "",
		"columns of the files that are not in the schema, by position, with commas between them")
	f.Float64Var(&c.holdout, "holdout", 0, "without -test: the part of the records that is held out")
	f.BoolVar(&c.split, "write-split", false,
		"also write the real records as train.csv and test.csv, for judges outside this program; they "+
			"are private")
	f.IntVar(&c.n, "n", 30000, "number of synthetic records, public")
	program.BudgetFlags(f, &c.budget, 1, 1e-5)
	f.StringVar(&c.kernel, "kernel", "pairs", "features: pairs, sum (of the paper) or scales")
	f.IntVar(&c.dim, "features", 10000, "number of features of sum and scales")
	f.IntVar(&c.order, "order", 2,
		"for pairs: 2, or 1 for columns alone, where there are few records or very many columns")
	f.IntVar(&c.knots, "knots", 0, "knots of a number, for pairs; 0 for the kernel's default")
	f.StringVar(&c.hidden, "hidden", "256,256", "widths of the generator's hidden layers")
	f.IntVar(&c.training.Latent, "latent", 0, "Gaussian coordinates of a code; 0 for the default")
	f.IntVar(&c.training.Steps, "steps", 3000, "steps of training")
	f.IntVar(&c.training.Batch, "batch", 512, "synthetic records a step")
	f.Float64Var(&c.training.LR, "lr", 0.005, "learning rate of Adam")
	f.TextVar(&c.training.Weights, "weights", merf.BySignal,
		"weights of classes: signal, uniform or proportion")
	f.BoolVar(&c.training.Shrink, "shrink", false, "shrink released means by their noise")
	f.TextVar(&c.training.Labels, "labels", merf.NoisyProportions,
		"how often each class is drawn: proportions or uniform")
	f.Uint64Var(&c.seed, "seed", 1, "of features, generator and synthetic records; the noise has none")
	f.IntVar(&c.most, "most", 5000, "records that each classifier of the report learns from at most")
	f.BoolVar(&c.quick, "quick", false, "leave out the report")
	f.StringVar(&c.embedding, "embedding", "",
		"train against an embedding that was released before, at no cost")
	f.StringVar(&c.out, "out", "out", "folder for what is written")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	if f.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if c.schemaFile == "" && c.trainFile != "" {
		c.schemaFile = "adult.json"
	}
	c.training.Seed = c.seed
	return c, c.parseHidden()
}

func (c *config) parseHidden() error {
	widths, err := integers(c.hidden)
	if err != nil {
		return fmt.Errorf("-hidden: %w", err)
	}
	c.training.Architecture = models.MLP{Hidden: widths, BatchNorm: true}
	return nil
}

// integers reads whole numbers with commas between them.
func integers(list string) (out []int, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, errors.New("want whole numbers with commas between them")
		}
		out = append(out, n)
	}
	return out, nil
}

// schema is public.
func (c config) schema() (records.Schema, error) {
	if c.schemaFile == "" {
		return madeUpSchema()
	}
	if _, err := os.Stat(c.schemaFile); err == nil {
		return records.OpenSchema(c.schemaFile)
	}
	f, err := schemas.Open(c.schemaFile)
	if err != nil {
		return records.Schema{},
			fmt.Errorf("no schema %q here or among those of the program", c.schemaFile)
	}
	defer f.Close()
	return records.ReadSchema(f)
}

func (c config) chain(s records.Schema) privgen.MERFChain {
	return privgen.MERF(s,
		c.budget).Embed(merf.Config{Kernel: c.features(s), Seed: c.seed}).Train(c.training)
}

// features are chosen by the schema alone.
func (c config) features(s records.Schema) rff.EmbeddingKernel {
	switch c.kernel {
	case "sum":
		return rff.Sum{Numbers: rff.Rule(c.dim, numbers(s))}
	case "scales":
		return rff.Rule(c.dim, s.Dim())
	}
	return rff.Pairs{Order: c.order, Knots: c.knots}
}

func numbers(s records.Schema) int {
	n := 0
	for _, b := range s.Blocks() {
		if !b.OneHot {
			n++
		}
	}
	return n
}
