package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// judged is the number of synthetic records of each cluster that are classified.
const judged = 500

// report compares the generator with real records. The report is not private, and every line says
// so.
func report(ctx context.Context, c config, gen *privgen.Generator, train,
	test *records.Table) error {
	fmt.Println()
	clusters, err := clustering(gen, train)
	if err != nil {
		return err
	}
	fmt.Println(clusters)
	fmt.Printf("purity of the clusters %.3f [not private]\n", clusters.Purity())
	if err := agreement(ctx, c, gen, clusters, train, test); err != nil {
		return err
	}
	if gen.Clusters() == 1 {
		return nil // with one cluster all records would have the same label
	}
	return utility(ctx, c, gen, clusters, train, test)
}

// clustering compares the clusters of real records with their labels.
func clustering(gen *privgen.Generator, train *records.Table) (evaluate.Clustering, error) {
	assigned := make([]int32, train.Len())
	var b device.Batch
	const chunk = 4096
	for lo := 0; lo < train.Len(); lo += chunk {
		hi := min(lo+chunk, train.Len())
		train.Range(lo, hi, &b)
		gen.Assign(b, assigned[lo:hi])
	}
	return evaluate.ClusteringAccuracy(assigned, train.Labels(), gen.Clusters())
}

// agreement classifies the samples of each cluster by a classifier that was trained on real images.
func agreement(ctx context.Context, c config, gen *privgen.Generator, clusters evaluate.Clustering,
	train, test *records.Table) error {
	judge, err := classify.NeuralNetwork{Hidden: []int{128}, Seed: c.seed}.Fit(train)
	if err != nil {
		return err
	}
	skill, err := classify.Test(judge, test)
	if err != nil {
		return err
	}
	fmt.Printf("\nthe classifier, on held-out real images: %v\n", skill)
	fmt.Println("cluster  weight  of its real records      of its samples")
	for i, w := range gen.Weights() {
		samples, err := gen.Sample(ctx, judged, privgen.FromCluster(i), privgen.Seed(c.seed))
		if err != nil {
			return err
		}
		named, err := evaluate.LabelAgreement(judge, samples)
		if err != nil {
			return err
		}
		class, share := majority(clusters.Counts[i])
		fmt.Printf("%7d  %5.1f%%  %5.1f%% are a %-10s  %v\n", i, 100*w, 100*share,
			fmt.Sprint(class), named)
	}
	return nil
}

// majority returns the most frequent class of a cluster and its share.
func majority(counts []int) (class int, share float64) {
	total := 0
	for k, n := range counts {
		total += n
		if n > counts[class] {
			class = k
		}
	}
	return class, float64(counts[class]) / float64(max(total, 1))
}

// utility trains a classifier on synthetic images, each labelled by the most frequent class of its
// cluster's real records, and tests it on real images.
func utility(ctx context.Context, c config, gen *privgen.Generator, clusters evaluate.Clustering,
	train, test *records.Table) error {
	synthetic, err := labelled(ctx, c, gen, clusters, train.Schema())
	if err != nil {
		return err
	}
	u, err := evaluate.CompareTraining(classify.NeuralNetwork{Seed: c.seed}, synthetic, train, test)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v\n", u)
	return nil
}

func labelled(ctx context.Context, c config, gen *privgen.Generator, clusters evaluate.Clustering,
	s records.Schema) (*records.Table, error) {
	const total = 20000
	var flat []float32
	var labels []int32
	var b device.Batch
	for i, w := range gen.Weights() {
		class, _ := majority(clusters.Counts[i])
		rows, err := gen.Sample(ctx, int(w*total), privgen.FromCluster(i), privgen.Seed(c.seed))
		if err != nil {
			return nil, err
		}
		rows.Range(0, rows.Len(), &b)
		for r := range b.Rows {
			flat = append(flat, b.Dense.Row(r)...)
			labels = append(labels, int32(class))
		}
	}
	return records.FromFlat(s, flat, labels...)
}
