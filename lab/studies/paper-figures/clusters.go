package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/rff"
)

// clusterFigure draws Fig. 3 of Acs et al.
type clusterFigure struct {
	images, labels      string
	n, runs, iterations int
	bandwidth           float64
	dims                []int // features of the kernel method
	shrink              bool
}

// spaces reads the numbers of features.
func (f *clusterFigure) spaces(list string) error {
	f.dims = nil
	for _, word := range strings.Split(list, ",") {
		d, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		f.dims = append(f.dims, d)
	}
	return nil
}

// config returns the private k-means that both methods run, from the same data-free start. The
// papers' Lloyd iterations move centres to noisy means without further processing.
func (f clusterFigure) config() kmeans.Config {
	c := kmeans.Config{K: 10, Iterations: f.iterations, Small: kmeans.SplitLargest}
	if !f.shrink {
		c.Shrink = kmeans.NoShrink
	}
	return c
}

// epsilons returns the budgets of the horizontal axis.
func epsilons() []float64 { return []float64{0.1, 0.2, 0.5, 1, 2} }

// space is one way of clustering: a number of features, or 0 for clustering the records themselves.
type space int

func (s space) String() string {
	if s == 0 {
		return "standard private k-means, C = 28"
	}
	return fmt.Sprintf("private kernel k-means, d = %d", int(s))
}

// draw runs every space at every ε and draws means with standard deviations.
func (f clusterFigure) draw(ctx context.Context, out string) error {
	data, err := f.load()
	if err != nil {
		return err
	}
	fmt.Printf("clustering accuracy [not private], add or remove one, δ = %g, %d iterations, "+
		"data-free start, mean ± standard deviation of %d runs\n", delta, f.iterations, f.runs)
	var curves []curve
	for i, d := range append([]int{0}, f.dims...) {
		s := space(d)
		c := curve{label: s.String(), colour: i}
		for _, epsilon := range epsilons() {
			mean, std, err := f.accuracy(ctx, data, s, epsilon)
			if err != nil {
				return err
			}
			c.add(epsilon, mean)
			c.spread = append(c.spread, std)
			fmt.Printf("%-34s  ε = %-4g  %.3f ± %.3f\n", s, epsilon, mean, std)
		}
		curves = append(curves, c)
	}
	title := fmt.Sprintf(
		"clustering accuracy [not private] by sound ε, add or remove one, δ = 1e-5, %d runs", f.runs)
	return save(filepath.Join(out, "fig3-clustering.png"), title, "ε", "accuracy", curves)
}

func (f clusterFigure) load() (*records.Table, error) {
	if f.images == "" {
		grey, err := digits.Draw(f.n, 1)
		if err != nil {
			return nil, err
		}
		return records.Binarize(grey, 0.5), nil
	}
	if f.labels == "" {
		return nil, errors.New("-images needs -labels")
	}
	grey, err := records.OpenIDX(f.images, f.labels, digits.Schema())
	if err != nil {
		return nil, err
	}
	return records.Binarize(grey, 0.5), nil
}

// accuracy returns the mean and the standard deviation over runs, each with its own
// start, frequencies and noise.
func (f clusterFigure) accuracy(ctx context.Context, data *records.Table, s space,
	epsilon float64) (mean, std float64, err error) {
	var sum, squares float64
	for run := range f.runs {
		a, err := f.once(ctx, data, s, epsilon, uint64(run)+1)
		if err != nil {
			return 0, 0, err
		}
		sum += a
		squares += a * a
	}
	n := float64(f.runs)
	mean = sum / n
	return mean, math.Sqrt(max(squares/n-mean*mean, 0)), nil
}

func (f clusterFigure) once(ctx context.Context, data *records.Table, s space, epsilon float64,
	seed uint64) (float64, error) {
	budget := accountant.Budget{Epsilon: epsilon, Delta: delta}
	cfg, err := f.config().Calibrate(budget)
	if err != nil {
		return 0, err
	}
	features, err := f.features(data.Schema(), s, seed)
	if err != nil {
		return 0, err
	}
	be := device.CPU()
	m, err := kmeans.Fit(ctx, cfg, features, data.WithoutLabels(), ledger.New(budget),
		kmeans.WithSeed(seed), kmeans.WithBackend(be))
	if err != nil {
		return 0, err
	}
	assigned := make([]int32, data.Len())
	var b device.Batch
	data.Range(0, data.Len(), &b)
	m.Assign(be, features, b, assigned)
	c, err := evaluate.ClusteringAccuracy(assigned, data.Labels(), cfg.K)
	return c.Accuracy(), err
}

func (f clusterFigure) features(schema records.Schema, s space,
	seed uint64) (kmeans.Features, error) {
	if s == 0 {
		return kmeans.Raw(schema), nil
	}
	return rff.RBF{Dim: int(s), Bandwidth: f.bandwidth}.New(schema.Dim(), seed)
}
