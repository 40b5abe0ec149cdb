package dpgm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

func smallConfig() Config {
	return Config{Schema: records.Binary(6), Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Cluster: kmeans.Config{K: 2, Iterations: 2, Share: 0.2}, Marginals: &Marginals{Share: 0.2},
		Model: models.VAE{Hidden: []int{3}, Latent: 1},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3, Optimizer: sgd.Adam(0.01)}}
}

// TestEverySettingIsChecked: each setting may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	nan := math.NaN()
	cluster := func(share, z float64) func(*Config) {
		return func(c *Config) { c.Cluster.Share, c.Cluster.NoiseMultiplier = share, z }
	}
	marginals := func(share, z, clip float64) func(*Config) {
		return func(c *Config) { c.Marginals = &Marginals{share, z, clip, false} }
	}
	average := func(x float64) func(*Config) { return func(c *Config) { c.Average = x } }
	single := func(change func(*Config)) func(*Config) {
		return func(c *Config) { c.Cluster = kmeans.Config{K: 1}; change(c) }
	}
	sweeps := func(a, b int) func(*Config) {
		return func(c *Config) {
			c.Marginals, c.Model = nil, models.RBM{Hidden: 2, Chains: 2, Sweeps: a, SampleSweeps: b}
		}
	}
	train := func(change func(c *sgd.Config)) func(*Config) {
		return func(c *Config) { change(&c.Train) }
	}
	for ok, list := range map[bool][]func(*Config){
		true: {func(*Config) {}, cluster(.5, 0), cluster(0, 1), average(0), average(.99),
			marginals(.5, 0, 0), marginals(.79, 0, 0), marginals(0, 1, 1), marginals(0, 1<<24, 1<<20),
			func(c *Config) { c.Marginals = nil }, single(func(*Config) {}), sweeps(1, 1),
			sweeps(1<<16, 1<<16), single(train(func(c *sgd.Config) {
				c.Optimizer, c.NominalBatch = sgd.SGD(1), 5
			})), train(func(c *sgd.Config) { c.NoiseMultiplier = 3 }),
			func(c *Config) { c.Features = rff.RBF{Dim: 6, Bandwidth: 1} }},
		false: {cluster(0, 0), cluster(1, 0), cluster(-.1, 0), cluster(nan, 0), cluster(.5, 1),
			cluster(0, -1), cluster(0, 1<<25), average(-.1), average(1), average(nan), marginals(0, 0, 0),
			marginals(1, 0, 0), marginals(-.1, 0, 0), marginals(nan, 0, 0), marginals(.8, 0, 0),
			marginals(.1, 1, 0), marginals(0, -1, 0), marginals(0, 1<<25, 0), marginals(0, 1, .9),
			marginals(0, 1, 1<<20+1), marginals(0, 1, nan),
			single(func(c *Config) { c.Features = rff.RBF{Dim: 6, Bandwidth: 1} }),
			single(func(c *Config) { c.Cluster.Share = .1 }),
			single(func(c *Config) { c.Cluster.NoiseMultiplier = 1 }),
			single(func(c *Config) { c.Cluster.Iterations = 1 }),
			single(train(func(c *sgd.Config) { c.Optimizer = sgd.SGD(1) })), sweeps(1<<16+1, 1),
			sweeps(1, 1<<16+1), func(c *Config) { c.Cluster.K = 0 },
			func(c *Config) { c.Cluster.Iterations = 0 }, func(c *Config) { c.Model = nil },
			func(c *Config) { c.Model = models.VAE{Hidden: []int{-1}, Latent: 1} },
			func(c *Config) { c.Model = models.RBM{Hidden: 2, Chains: 2} },
			func(c *Config) { c.Schema = records.Interval(6, 0, 1) },
			func(c *Config) { c.Schema = records.Schema{} }, func(c *Config) { c.Budget.Delta = 2 },
			func(c *Config) { c.Features = rff.RBF{Dim: -1, Bandwidth: 1} },
			train(func(c *sgd.Config) { c.Bands = 2 }),
			train(func(c *sgd.Config) { c.RandomAllocation, c.Steps = true, 4 }),
			train(func(c *sgd.Config) { c.Shuffled, c.Steps = true, 4 }),
			func(c *Config) { c.Marginals, c.Cluster.Share = nil, 1 },
			train(func(c *sgd.Config) { c.NoiseMultiplier = -1 }),
			train(func(c *sgd.Config) { c.Steps = 0 })},
	} {
		for i, change := range list {
			c := smallConfig()
			if change(&c); (c.validate() == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, c.validate())
			}
		}
	}
}

// TestClipsOfMarginals: the clip norm of marginals is at most the schema's largest norm.
func TestClipsOfMarginals(t *testing.T) {
	for _, s := range []records.Schema{records.Binary(9), records.Sets(100, 9)} {
		for clip, want := range map[float64]float64{0: 3, 1: 1, 2.5: 2.5, 3: 3, 50: 3} {
			if got := (Marginals{ClipNorm: clip}).clip(s); got != want {
				t.Errorf("%v: a clip norm of %v is %v, want %v", s, clip, got, want)
			}
		}
		bins := newSizeBins(s)
		for size := range 12 {
			bin := bins.of(size)
			if bin < 0 || bin >= len(bins) || bins[bin] > size ||
				bin+1 < len(bins) && bins[bin+1] <= size {
				t.Errorf("%v: size %d is in bin %d of %v", s, size, bin, bins)
			}
		}
	}
}

// TestNominalsOfClusters: the divisor of a cluster's sum is its released size times the rate, and
// that of one record at least.
func TestNominalsOfClusters(t *testing.T) {
	r := &run{config: smallConfig(),
		router: &router{clusters: &kmeans.Model{Counts: []float64{40, 1, 0.5, -7}}}}
	for i, want := range []float64{20, 0.5, 0.5, 0.5} {
		if got := r.nominal(i); got != want {
			t.Errorf("cluster %d: divisor %v, want %v", i, got, want)
		}
	}
}

// TestRoutesAreOfAllRecords: rows have the cluster of their own nearest centre, and an interrupted
// assignment is none.
func TestRoutesAreOfAllRecords(t *testing.T) {
	flat := make([]float32, 6*(2*routeChunk+3))
	for i := range flat {
		flat[i] = float32(i / 6 % 2)
	}
	data, err := records.FromFlat(records.Binary(6), flat)
	if err != nil {
		t.Fatal(err)
	}
	run := newTestRun(t, data)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run.route(ctx); err == nil || run.assigned != nil {
		t.Errorf("an interrupted assignment has %d rows, %v", len(run.assigned), err)
	}
	if err := run.route(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := make([]int32, data.Len())
	for i := range want {
		want[i] = int32(i % 2)
	}
	if !slices.Equal(run.assigned, want) {
		t.Error("rows are in clusters of others")
	}
	first := &run.assigned[0]
	if err := run.route(t.Context()); err != nil || first != &run.assigned[0] {
		t.Errorf("rows are assigned again, %v", err)
	}
	one := newTestRun(t, data)
	one.config.Cluster = kmeans.Config{K: 1}
	if err := one.route(t.Context()); err != nil || one.assigned != nil {
		t.Errorf("rows of a single cluster are assigned: %v, %v", one.assigned != nil, err)
	}
}

// formed is a network whose sums in fixed point have a given form.
type formed struct {
	models.Density
	form models.FixedForm
}

func (f formed) Gradients(b device.Batch) models.Gradients {
	return formedGradients{f.Density.Gradients(b), f.form}
}

type formedGradients struct {
	models.Gradients
	form models.FixedForm
}

func (g formedGradients) FixedForm() models.FixedForm             { return g.form }
func (g formedGradients) AddFixedSum(_ device.Fixed, _ []float32) {}

// TestFormsOfMixtures: the form of a mixture bounds those of all its networks, and there is none if
// one of them has none.
func TestFormsOfMixtures(t *testing.T) {
	form := func(terms, reach int) models.FixedForm {
		return models.FixedForm{Terms: terms,
			Reach: reach}
	}
	for _, c := range []struct {
		forms []models.FixedForm
		want  models.FixedForm
	}{{[]models.FixedForm{form(1, 2), form(3, 1), form(2, 5)}, form(3, 5)},
		{[]models.FixedForm{form(7, 1), form(1, 1), form(1, 1)}, form(7, 1)},
		{[]models.FixedForm{form(1, 1), form(1, 1), {}}, models.FixedForm{}}} {
		m, b, _ := testMixture(t, models.VAE{Hidden: []int{3}, Latent: 1}, 4)
		for i, f := range c.forms {
			m.parts[i] = formed{m.parts[i], f}
		}
		if got := m.Gradients(b).(models.FixedGradients).FixedForm(); got != c.want {
			t.Errorf("networks of the forms %v together have %v, want %v", c.forms, got, c.want)
		}
	}
}

// TestMarginalsOfAllRecords: each record counts once, each of its ones with the factor of its norm,
// and counts of some of the records are none of all.
func TestMarginalsOfAllRecords(t *testing.T) {
	c := smallConfig()
	c.Marginals = &Marginals{NoiseMultiplier: 1, ClipNorm: 1.5}
	data, err := records.FromFlat(c.Schema, []float32{1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0,
		0, 0})
	if err != nil {
		t.Fatal(err)
	}
	m := newMarginalSums(c)
	m.allocate()
	if err := m.add(t.Context(), data, []int32{1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	exact := func(s *mechanism.FixedSum) (out []float64) {
		for _, v := range s.Exact() {
			out = append(out, float64(v)*s.Grid())
		}
		return out
	}
	part := 1.5 / math.Sqrt(3)
	for i, want := range []float64{part, part, part, 0, 0, 0, 1, 0, 0, 0, 0, 1} {
		if got := exact(m.sums)[i]; math.Abs(got-want) > 1e-5 || got > want {
			t.Errorf("coordinate %d has the sum %v, want %v", i, got, want)
		}
	}
	sizes := make([]float64, 2*len(m.bins))
	sizes[m.bins.of(3)], sizes[len(m.bins)+m.bins.of(2)], sizes[len(m.bins)] = 1, 1, 1
	if !slices.Equal(exact(m.counts), []float64{1, 2}) || !slices.Equal(exact(m.sizes), sizes) {
		t.Errorf("counts %v and sizes %v, want %v", exact(m.counts), exact(m.sizes), sizes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m.add(ctx, data, nil) == nil {
		t.Error("an interrupted count has no error")
	}
	for shift, ok := range map[float64]bool{tiltReach: true, -tiltReach: true, tiltReach * 1.01: false,
		-tiltReach * 1.01: false} {
		_, err := fileHeader{Networks: 2, Tilts: []tilt{{0}, {0, shift}}}.tilts()
		if (err == nil) != ok {
			t.Errorf("a shift of %v: %v", shift, err)
		}
	}
	if _, err := (fileHeader{Networks: 2, Tilts: []tilt{{0}}}).tilts(); err == nil {
		t.Error("shifts of one of two networks are accepted")
	}
}

// newTestRun returns a run with two known clusters.
func newTestRun(t *testing.T, data records.Data) *run {
	t.Helper()
	c := smallConfig()
	features, err := newFeatures(c)
	if err != nil {
		t.Fatal(err)
	}
	m := &kmeans.Model{Centers: [][]float32{make([]float32, 6), {1, 1, 1, 1, 1, 1}},
		Counts: []float64{5, 5}, ClipNorm: 10}
	r := &run{Run: runOf(data), config: c, router: &router{features: features, clusters: m}}
	r.Backend = device.CPU()
	return r
}

func runOf(data records.Data) *synth.Run { return &synth.Run{Data: data} }
