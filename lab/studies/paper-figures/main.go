// Command paper-figures draws figures of two papers with this library. From Acs et al. (TKDE 2019)
// it draws Fig. 2 (the ε of a DPGM run by the number of epochs) and Fig. 3 (the accuracy of private
// k-means on digits by ε). From Lee et al. (ISIT 2019) it draws Fig. 3 (the ε of mixtures by their
// noise), and with -table it prints Table I.
//
//	# drawn digits, few runs, into ./out: 45 s of processor time
//	go -C lab run ./studies/paper-figures
//	# the figure of mixtures; with -table also the table of mixtures
//	go -C lab run ./studies/paper-figures -mix
//	go -C lab run ./studies/paper-figures -runs 100 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz
//
// The label of every curve states its accounting: the papers' own accounting, which is not a bound,
// or sound accounting under one relation. The program releases nothing and prints no guarantee.
// Each point of Fig. 3 is the mean of many runs. Every run has a separate budget and is compared
// with real labels.
package main

import (
	"context"
	"os"

	"github.com/seed7ba64551/privgen/examples/program"
)

func main() { program.Main("paper-figures", run) }

func run(ctx context.Context, args []string) error {
	c := clusterFigure{dims: []int{50, 100, 200, 500}}
	f := program.NewFlags("paper-figures")
	only := f.Int("only", 0, "draw only this figure (2 or 3)")
	out := f.String("out", "out", "folder for the figures")
	f.StringVar(&c.images, "images", "", "idx file of images (default: digits drawn by the program)")
	f.StringVar(&c.labels, "labels", "", "idx file of labels")
	f.IntVar(&c.n, "n", 10000, "number of digits that the program draws")
	f.IntVar(&c.runs, "runs", 5, "number of runs for each point of Fig. 3 (the papers: 100)")
	f.Float64Var(&c.bandwidth, "bandwidth", 8, "bandwidth of the RBF kernel")
	f.Func("d", "comma-separated numbers of features (default 50,100,200,500)",
		func(list string) error {
			return c.spaces(list)
		})
	f.BoolVar(&c.shrink, "shrink", false,
		"use the library's own post-processing of centres in both methods, unlike the papers")
	f.IntVar(&c.iterations, "iterations", 20, "iterations of k-means")
	var t mixTable
	mixtures := f.Bool("mix", false, "draw only the figure of mixtures")
	table := f.Bool("table", false, "with -mix, also train networks on mixtures of every degree")
	f.IntVar(&t.mixtures, "mixtures", 10000,
		"number of mixtures for each entry of the table (60000 for MNIST)")
	f.StringVar(&t.testImages, "test-images", "", "idx file of held-out images, for the table")
	f.StringVar(&t.testLabels, "test-labels", "", "idx file of their labels")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	t.images, t.labels, t.n = c.images, c.labels, c.n
	if *mixtures || *only == 0 {
		if err := mixFigure3(*out); err != nil {
			return err
		}
	}
	if *mixtures {
		if *table {
			return t.print(ctx)
		}
		return nil
	}
	if *only != 3 {
		if err := figure2(*out); err != nil {
			return err
		}
	}
	if *only == 2 {
		return nil
	}
	return c.draw(ctx, *out)
}
