package main

import (
	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// The program models black and white images of 28×28 pixels.
const side = digits.Side

// chain returns the run as a chain of the library.
func (c config) chain() privgen.DPGMChain {
	train := sgd.Config{ClipNorm: c.clip, SamplingProbability: c.q, Steps: c.steps,
		Optimizer: sgd.Momentum(c.lr, 0.9)}
	chain := privgen.DPGM(records.BinaryImage(side, side),
		c.budget).Model(c.architecture()).Average(c.average).Seed(c.seed)
	if c.k == 1 {
		train.NominalBatch = c.q * float64(c.nominalSize())
		return chain.Cluster(kmeans.Config{K: 1}).Train(train)
	}
	return chain.
		Features(rff.RBF{Dim: c.dim, Bandwidth: c.bandwidth}).
		Cluster(kmeans.Config{K: c.k, Iterations: c.iterations, Share: c.share,
			Small: kmeans.SplitLargest}).
		Train(train)
}

// nominalSize returns a public guess of the number of records, which is never computed from the
// records.
func (c config) nominalSize() int {
	if c.nominal > 0 {
		return c.nominal
	}
	return c.n
}

func (c config) architecture() models.DensityArchitecture {
	if c.model == "rbm" {
		return models.RBM{Hidden: c.hidden, Chains: 100, VisibleBias: c.outputBias}
	}
	return models.VAE{Hidden: []int{c.hidden}, Latent: c.latent, KLWeight: c.klWeight,
		OutputBias: c.outputBias}
}

// load returns training images and held-out images, both binarised.
func (c config) load() (train, test *records.Table, err error) {
	train, test, err =
		c.files.Load(images.Drawing{Train: c.n, TrainSeed: c.seed, Test: c.n / 10, TestSeed: c.seed + 1})
	if err != nil {
		return nil, nil, err
	}
	return records.Binarize(train, 0.5), records.Binarize(test, 0.5), nil
}
