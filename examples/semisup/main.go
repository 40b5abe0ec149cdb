// Command semisup trains a classifier on a few labelled images with the help of a private generator
// of unlabelled images.
//
//	go -C examples run ./semisup                  on digits drawn by the program: a minute
//	go -C examples run ./semisup -nominal 60000 \
//		-images train-images-idx3-ubyte.gz -labels train-labels-idx1-ubyte.gz
//
// The generator learns clusters of many private images without labels. The few labelled images are
// public and give each cluster a class. Samples of the clusters with these classes are then
// training data for any classifier, at no further cost.
//
// The samples help if clusters correspond to classes, as for digits. Samples of a generator without
// clusters do not help (Algorithm 4 of Zhang, Ji and Wang 2018; lab/studies/semisup).
package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

func main() { program.Main("semisup", run) }

func run(ctx context.Context, args []string) error {
	var files images.Files
	var budget accountant.Budget
	f := program.NewFlags("semisup")
	files.Flags(f, "of which only the first -labelled and those of the test are used")
	program.BudgetFlags(f, &budget, 4, 1e-5)
	nominal := f.Int("nominal", 20000, "public nominal number of private images")
	labelled := f.Int("labelled", 50, "number of public images with labels")
	if err := f.Parse(args); err != nil {
		return err
	}

	all, test, err := files.Load(images.Drawing{Train: *nominal + *labelled, TrainSeed: 1,
		Test: 4000, TestSeed: 2})
	if err != nil {
		return err
	}
	all, test = records.Binarize(all, 0.5), records.Binarize(test, 0.5)
	public, private := all.Slice(0, *labelled), all.Slice(*labelled, all.Len()).WithoutLabels()
	gen, err := privgen.DPGM(private.Schema(), budget).Nominal(*nominal).
		Fit(ctx, private, privgen.OnProgress(program.NewMeter().Show))
	if err != nil {
		return err
	}
	fmt.Println(gen.Guarantee())
	synthetic, err := samples(ctx, gen, public)
	if err != nil {
		return err
	}
	fmt.Println("accuracy on held-out images [not private]")
	for _, from := range []struct {
		name string
		data *records.Table
	}{{"labelled images alone", public}, {"samples of named clusters", synthetic}} {
		model, err := classify.NeuralNetwork{Seed: 1}.Fit(from.data)
		if err != nil {
			return err
		}
		result, err := classify.Test(model, test)
		if err != nil {
			return err
		}
		fmt.Printf("  %-26s %.3f from %d records\n", from.name, result.Accuracy(), from.data.Len())
	}
	return nil
}

// samples draws from every cluster that has labelled images, and gives the samples the most
// frequent class of these images.
func samples(ctx context.Context, gen *privgen.Generator,
	public *records.Table) (*records.Table, error) {
	var b device.Batch
	public.Range(0, public.Len(), &b)
	cluster := make([]int32, public.Len())
	gen.Assign(b, cluster)
	votes := make([]map[int32]int, gen.Clusters())
	for i, c := range cluster {
		if votes[c] == nil {
			votes[c] = map[int32]int{}
		}
		votes[c][b.Labels[i]]++
	}
	const total = 10000 // synthetic records
	var flat []float32
	var labels []int32
	for c, weight := range gen.Weights() {
		if votes[c] == nil {
			continue
		}
		rows, err := gen.Sample(ctx, int(weight*total), privgen.FromCluster(c), privgen.Seed(1))
		if err != nil {
			return nil, err
		}
		for _, pixels := range images.First(rows, rows.Len()) {
			flat, labels = append(flat, pixels...), append(labels, commonest(votes[c]))
		}
	}
	return records.FromFlat(public.Schema(), flat, labels...)
}

// commonest returns the class with the most votes; of several such classes, the smallest.
func commonest(votes map[int32]int) (class int32) {
	for k, n := range votes {
		if n > votes[class] || n == votes[class] && k < class {
			class = k
		}
	}
	return class
}
