package dpgm

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// The constants of the default rules. docs/defaults.md has the measurements that they come from.
const (
	usualClusters    = 10
	clusterSignal    = 1000 // signal that a cluster needs
	imageSignal      = 700  // clusterSignal of images, whose clusters need less
	clusterShare     = 0.15
	clusterRounds    = 20
	setShare         = 0.3 // clusterShare of sets of few items
	setRounds        = 12
	strokeShare      = 0.3 // clusterShare of images
	strokeRounds     = 10
	strokeSignal     = 200  // signal that a centre of images needs
	strokeCenters    = 5    // centres for every two clusters
	clusterFeatures  = 0.4  // largest noise of a centre ÷ norm of the centre
	bandwidthOfUnit  = 0.29 // bandwidth ÷ √dim
	wideUniverse     = 64   // with this many items or more, sets get one network
	thinSets         = 200  // with fewer records per item, only counts can be learnt
	trainBatch       = 1000
	trainRate        = 3e-3 // learning rate of Adam in a run of 1000 steps
	stepOperations   = 2e7  // fixed operations of a step
	strokeOperations = 1700 // operations of rff.Strokes for each pixel
)

// chosen returns the configuration with its zero fields set by the default rules if Nominal is set,
// and unchanged otherwise.
func (c Config) chosen() (Config, error) {
	if c.Nominal == 0 {
		return c.withoutMarginals(), nil
	}
	t, err := defaults.Checked("dpgm", c.Schema, c.Budget, c.Nominal)
	if err != nil {
		return c, err
	}
	c = c.own()
	c.choices = append(defaults.Choices(nil), c.choices...)
	c.chooseClusters(t)
	if c.Schema.Sparse() {
		c.chooseMarginals(t)
		c.chooseForSets(t)
	} else {
		c.chooseForVectors(t)
	}
	c.choices.Add("", "", c.cost(t).String())
	c.Nominal = 0
	return c.withoutMarginals(), nil
}

// withoutMarginals returns the configuration with Marginals set to nil if they are switched off.
func (c Config) withoutMarginals() Config {
	if c.Marginals != nil && c.Marginals.Off {
		c.Marginals = nil
	}
	return c
}

// strokes reports whether records are grey images that are large enough for rff.Strokes.
func strokes(s records.Schema) bool {
	return s.Channels() == 1 && min(s.Height(), s.Width()) >= 8
}

func (c *Config) chooseClusters(t defaults.Task) {
	needed := clusterSignal
	if strokes(c.Schema) {
		needed = imageSignal
	}
	k, why := int(min(t.Signal/float64(needed), usualClusters)),
		fmt.Sprintf("a cluster needs a signal of %d of the %.0f available; at most %d clusters", needed,
			t.Signal, usualClusters)
	if c.Schema.Sparse() {
		k, why = 1, "one network is best for sets of many items"
		if c.Schema.Dim() < wideUniverse {
			k = int(min(t.Signal/clusterSignal/2, 32))
			why = "with few items, a cluster for every 2000 of the signal, at most 32"
		}
	}
	rounds, share := clusterRounds, clusterShare
	switch {
	case c.Schema.Sparse():
		rounds, share = setRounds, setShare
	case strokes(c.Schema) && c.Features == nil:
		rounds, share = strokeRounds, strokeShare
	}
	defaults.Fill(&c.choices, &c.Cluster.K, max(k, 1), "Cluster.K", why)
	if c.Cluster.K == 1 {
		return
	}
	dim := float64(c.Schema.Dim())
	if c.Features == nil && strokes(c.Schema) {
		c.chooseStrokes(t)
	}
	if c.Features == nil {
		signal := defaults.Task{Signal: t.Signal * share / math.Sqrt(float64(rounds))}
		width, most := bandwidthOfUnit*math.Sqrt(dim), 800
		if c.Schema.Sparse() {
			width, most = 1.5, 100
		}
		c.Features = rff.RBF{Dim: signal.Features(c.Cluster.K, clusterFeatures, 50, most),
			Bandwidth: width}
		c.choices.Add("Features", c.Features, "as many features as the noise of a centre permits")
	}
	defaults.Fill(&c.choices, &c.Cluster.Iterations, rounds, "Cluster.Iterations",
		"enough for the centres to converge")
	if c.Cluster.NoiseMultiplier == 0 {
		defaults.Fill(&c.choices, &c.Cluster.Share, share, "Cluster.Share", "the rest is for training")
	}
	defaults.Fill(&c.choices, &c.Cluster.Small, kmeans.SplitLargest, "Cluster.Small",
		"a cluster that noise made empty is replaced")
}

// chooseStrokes chooses rff.Strokes as features of images, and more centres than clusters.
func (c *Config) chooseStrokes(t defaults.Task) {
	c.Features = rff.StrokesFor(c.Schema.Height(), c.Schema.Width())
	c.choices.Add("Features", c.Features,
		"strokes separate the contents of images better than pixels do")
	if c.Cluster.Init.Method == kmeans.Given { // the given centres determine the number
		return
	}
	spare := int(t.Signal * strokeShare / strokeSignal)
	defaults.Fill(&c.choices, &c.Cluster.Centers,
		max(min(spare, c.Cluster.K*strokeCenters/2), c.Cluster.K), "Cluster.Centers",
		fmt.Sprintf("merged into clusters at no cost; a centre needs a signal of %d",
			strokeSignal))
}

// perItem returns the number of records divided by the number of items of the schema.
func perItem(t defaults.Task) float64 { return float64(t.Nominal) / float64(t.Schema.Dim()) }

func (c *Config) chooseMarginals(t defaults.Task) {
	if c.Marginals != nil {
		return
	}
	share, why := 0.8, "most of ε for frequencies, the rest for co-occurrence"
	if perItem(t) < thinSets {
		share, why = 0.95, fmt.Sprintf("with %.3g records per item, little but frequencies can be learnt",
			perItem(t))
	}
	cut := min(max(math.Round(math.Sqrt(perItem(t))), 5), c.Schema.MaxNorm()*c.Schema.MaxNorm())
	c.Marginals = &Marginals{Share: share, ClipNorm: math.Sqrt(cut)}
	if c.Cluster.K > 1 {
		c.Marginals.Share = 0.6
	}
	c.choices.Add("Marginals", c.Marginals,
		why+fmt.Sprintf("; sets of more than %.0f items are scaled down", cut))
}

func (c *Config) chooseForSets(t defaults.Task) {
	left := t
	if c.Marginals != nil && c.Marginals.Share < 1 {
		left = t.After(c.Marginals.Share)
	}
	if c.Model == nil {
		hidden := left.Width(2*c.Schema.Dim()*c.Cluster.K, 1000, 8, 64)
		c.Model = models.VAE{Hidden: []int{hidden}, Latent: 2, Activation: models.ReLU}
		c.choices.Add("Model", c.Model,
			"as wide as noise permits for 1000 steps of training, from 8 to 64 units")
	}
	c.chooseSteps(left, 50, 1000)
	defaults.Fill(&c.choices, &c.Train.SamplingProbability, t.Rate(trainBatch),
		"Train.SamplingProbability", fmt.Sprintf("batches of %d", trainBatch))
	if c.Train.Clip == nil {
		defaults.Fill(&c.choices, &c.Train.ClipNorm, 5, "Train.ClipNorm",
			"about the gradient norm of a VAE that starts at the marginals")
	}
	rate := trainRate * math.Sqrt(min(1000/float64(c.Train.Steps), 1))
	defaults.Fill(&c.choices, &c.Train.Optimizer, sgd.Adam(rate), "Train.Optimizer",
		"it adapts to the scale of gradients")
	defaults.Fill(&c.choices, &c.Average, 0.99, "Average",
		"averaging reduces noise and costs no privacy")
}

func (c *Config) chooseForVectors(t defaults.Task) {
	if c.Model == nil {
		hidden := t.Width(2*c.Schema.Dim(), 150, 16, 256)
		vae := models.VAE{Hidden: []int{hidden}, Latent: 2}
		if c.Schema.Channels() == 1 { // most pixels of a grey image are dark
			vae.OutputBias = -2
		}
		c.Model = vae
		c.choices.Add("Model", c.Model,
			"as wide as noise permits for 150 steps of training, from 16 to 256 units")
	}
	c.chooseSteps(t, 50, 150)
	defaults.Fill(&c.choices, &c.Train.SamplingProbability,
		min(0.2, max(0.02, 2e6/float64(t.Nominal)/150)), "Train.SamplingProbability",
		"large batches: with few steps the noise of each step matters most")
	if c.Train.Clip == nil {
		defaults.Fill(&c.choices, &c.Train.ClipNorm, 1, "Train.ClipNorm",
			"a small fraction of a gradient's norm")
	}
	defaults.Fill(&c.choices, &c.Train.Optimizer, sgd.Momentum(0.3, 0.9), "Train.Optimizer",
		"a learning rate for gradients of norm 1")
	defaults.Fill(&c.choices, &c.Average, 0.9, "Average",
		"averaging reduces noise and costs no privacy")
	if c.Cluster.K == 1 {
		defaults.Fill(&c.choices, &c.Train.NominalBatch,
			c.Train.SamplingProbability*float64(t.Nominal), "Train.NominalBatch",
			"sampling probability × nominal size")
	}
}

func (c *Config) chooseSteps(t defaults.Task, least, most int) {
	p := max(float64(c.parameters()), 1) / float64(c.Cluster.K)
	defaults.Fill(&c.choices, &c.Train.Steps, t.Steps(p, least, most), "Train.Steps",
		fmt.Sprintf("as many as noise permits for %.0f parameters per cluster, from %d to %d", p, least,
			most))
}

// cost predicts the time and memory of the run. Each iteration of k-means reads all records; each
// training step reads a batch. A set is assumed to have min(dim, 20) items. The cluster of a record
// takes 4 bytes, and as many are garbage that is not collected yet.
func (c Config) cost(t defaults.Task) defaults.Cost {
	dim, n := float64(c.Schema.Dim()), float64(t.Nominal)
	dense := dim // numbers in a record
	if c.Schema.Sparse() {
		dense = math.Min(dim, 20)
	}
	p, k := max(float64(c.parameters()), 1), float64(c.Cluster.K)
	perRecord := 1.8 * p / k // products of large matrices are faster than CostOf assumes
	if c.Schema.Sparse() {
		perRecord *= 2 // smaller matrices, although the encoder reads only items
	}
	perRecord += 150 * dim // exponentials
	operations := float64(c.Train.Steps) *
		(c.Train.SamplingProbability*n*perRecord + 40*p + stepOperations*(1+k/10))
	bytes := 4 * (10*p + math.Min(8192, 2*c.Train.SamplingProbability*n)*3*dim)
	if c.clustered() {
		d := float64(clusterRounds * usualClusters)
		one := 2 * dense * d
		switch f := c.Features.(type) {
		case rff.RBF:
			d = float64(f.Dim)
			one = 2 * dense * d
		case rff.Strokes:
			d = float64(f.Cells * f.Cells * f.Orientations)
			one = strokeOperations * dim
		}
		centers := math.Max(float64(c.Cluster.Centers), k)
		operations += 2*n*one + float64(c.Cluster.Iterations)*n*d*(centers+8)
		if bytes += 8<<20 + 8*n; 4*n*d <= 128<<20 { // more is computed again
			bytes += 4 * n * d
		}
	}
	if c.Marginals != nil {
		operations += n*200 + k*(tiltRounds+keepBlocks/2)*tiltPoints*tiltDraws*dim*60
	}
	return defaults.CostOf(operations, bytes)
}
