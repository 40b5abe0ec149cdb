package main

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

var (
	scale = flag.Int("scale", 0,
		"train on this number of generated call records and report times (takes minutes and gigabytes)")
	scaleSteps = flag.Int("scale-steps", 2000, "training steps of the -scale run")
	scaleK     = flag.Int("scale-k", 2, "number of clusters of the -scale run")
)

// TestScale measures times and memory on generated records like the papers' call records. It takes
// fewer steps than the papers, and computes the time of an epoch from the time of a step.
func TestScale(t *testing.T) {
	if *scale == 0 {
		t.Skip("runs only with the flag -scale")
	}
	source := demo.CallRecords()
	source.Records = *scale
	start := time.Now()
	data, err := source.Make()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d records generated in %v", data.Len(), time.Since(start))
	q := 97.4 / float64(*scale)
	c := dpgm.Config{Schema: data.Schema(), Budget: accountant.Budget{Epsilon: 1, Delta: 4.4e-6},
		Cluster: kmeans.Config{K: 1}, Marginals: &dpgm.Marginals{Share: 0.3},
		Model: models.VAE{Hidden: []int{200}, Latent: 2, Activation: models.ReLU},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: q, Steps: *scaleSteps,
			Optimizer: sgd.Adam(1e-3), NominalBatch: 97.4}, Seed: 1}
	if *scaleK > 1 {
		c.Features, c.Cluster = rff.RBF{Dim: 200, Bandwidth: 4},
			kmeans.Config{K: *scaleK, Iterations: 8, Share: 0.2}
	}
	plan, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var stages = map[string]time.Duration{}
	var last time.Duration
	_, err = plan.Fit(t.Context(), data, synth.OnProgress(func(p synth.Progress) {
		stages[p.Stage] += p.Elapsed - last
		last = p.Elapsed
	}))
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	step := stages[dpgm.PurposeTrain] / time.Duration(*scaleSteps)
	t.Logf("k-means %v, marginals %v, one step %v, an epoch of %.0f steps %v, heap %d of %d MiB",
		stages[dpgm.PurposeCluster], stages[dpgm.PurposeMarginals],
		step, 1/q, time.Duration(float64(step)/q), m.HeapAlloc>>20, m.Sys>>20)
}
