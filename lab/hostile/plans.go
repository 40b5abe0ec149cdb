package main

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// plansAlone returns plans with large and rare configurations, which are read but not carried
// out.
func plansAlone() (list []subject, err error) {
	_, _, _, table, err := schemas()
	if err != nil {
		return nil, err
	}
	b := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	replace := accountant.Budget{Epsilon: 2, Delta: 1e-6, Relation: accountant.ReplaceOne}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: 1000, NoiseMultiplier: 2,
		Optimizer: sgd.Adam(1e-3)}
	add := func(name string, p synth.Plan, err2 error) {
		if err2 != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, err2))
			return
		}
		list = append(list, subject{name: name, plan: p})
	}
	private := train
	private.ClipNorm, private.Clip = 0, sgd.DPNorm{MaxNorm: 10, Bins: 20, NoiseMultiplier: 4}
	p1, e := dpgm.Config{Schema: records.BinaryImage(28, 28), Budget: b,
		Features: rff.RBF{Dim: 20, Bandwidth: 8},
		Cluster:  kmeans.Config{K: 10, Iterations: 8, Share: 0.2, Norm: &kmeans.DPNorm{Max: 6, Bins: 6}},
		Model:    models.PaperVAE(), Train: private}.Plan()
	add("dpgm, private norms", p1, e)
	quantile := train
	quantile.ClipNorm, quantile.NominalBatch = 0, 100
	quantile.Clip = sgd.Quantile{Quantile: 0.5, Rate: 0.2, Initial: 1, NoiseMultiplier: 5}
	p2, e := dpgm.Config{Schema: table, Budget: replace, Cluster: kmeans.Config{K: 1},
		Model: models.RBM{Hidden: 20, Chains: 10}, Train: quantile}.Plan()
	add("dpgm, quantile, replace one", p2, e)
	p3, e := gan.Config{Schema: records.Image(28, 28), Budget: b, Latent: 8, Train: train,
		Critic: models.Critic28(16), Generator: models.Generator28(32, 16)}.Plan()
	add("gan of images", p3, e)
	grouped := train
	grouped.ClipNorm, grouped.Clip = 0, sgd.Groups{List: []sgd.Group{
		{Blocks: []int{0, 2, 4}, ClipNorm: 1}, {Blocks: []int{1, 3, 5}, ClipNorm: 0.5}}}
	p4, e := gan.Config{Schema: records.Interval(6, 0, 1), Budget: b, Latent: 8, Train: grouped,
		Critic:    models.MLP{Hidden: []int{9, 5}},
		Generator: models.MLP{Hidden: []int{7}},
	}.Plan()
	add("gan, groups", p4, e)
	for name, k := range map[string]rff.EmbeddingKernel{"pairs": rff.Pairs{},
		"sum": rff.Sum{Numbers: rff.RBF{Dim: 6,
			Bandwidth: 1}}} {
		p, e := merf.Config{Schema: table, Budget: b, Kernel: k}.Plan()
		add("merf, "+name, p, e)
	}
	for name, k := range map[string]rff.EmbeddingKernel{
		"patches": rff.Patches{Dim: 20, Windows: []float64{0.5}, Blur: 1, Low: 1, High: 2},
		"scales":  rff.Scales{Dim: 6, Low: 0.5, High: 2},
	} {
		p, e := merf.Config{Schema: records.Image(6, 6), Budget: replace, Kernel: k, Nominal: 100}.Plan()
		add("merf, "+name, p, e)
	}
	p5, e := mix.Config{Schema: records.Image(6, 6), Budget: replace, Mixtures: 100, ClipNorm: 2,
		Sampling: mix.WithoutReplacement{Records: 100}}.Plan()
	add("mix, subsets", p5, e)
	return list, err
}
