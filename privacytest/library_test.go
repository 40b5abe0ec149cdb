package privacytest_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// The tests in this file and in systems_test.go replay every algorithm of the library that reads
// records, on hostile neighbours of every kind of schema.

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// replayAll replays a computation on neighbours of a schema. It uses every tenth pair, or every
// fortieth for compositions, beginning at a pair that depends on the test's name. With -audit it
// uses all pairs.
func replayAll(t *testing.T, s records.Schema, r accountant.Relation, run fitting) {
	t.Helper()
	every := 10
	if strings.Contains(t.Name(), "/compose,") {
		every = 40 // package compose replays its contract suites on more pairs, with fewer draws
	}
	if a := flag.Lookup("audit"); a != nil && a.Value.String() == "true" {
		every = 1
	}
	first, succeeded := len(t.Name())%every, false
	for i, p := range privacytest.Neighbours(t, s, r, 6, 1) {
		if i%every != first {
			continue
		}
		findings := privacytest.Replay[records.Data]{
			Run: func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
				visible, err := run(ctx, l, data)
				succeeded = succeeded || err == nil
				return visible, err
			},
			Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r},
			Data:   p.Data, Neighbour: p.Neighbour, Seeds: 1,
		}.Findings(t)
		for _, f := range findings {
			t.Errorf("%v, %v, %s: %s", s, r, p.Name, f)
		}
	}
	if !succeeded {
		t.Error("every run failed, so nothing was compared")
	}
}

// training returns a run of a training loop over package sgd. The run returns its visible values.
func training(cfg sgd.Config, network func() (models.Network, error)) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		net, err := network()
		if err != nil {
			return nil, err
		}
		trainer, err := sgd.New(cfg, net, l, sgd.WithBackend(device.CPUWith(1)))
		if err != nil {
			return nil, err
		}
		var seen []any
		for step, err := range trainer.Steps(ctx, data) {
			if err != nil {
				return seen, err
			}
			seen = append(seen, step.Number, step.Of, step.Epsilon, step.ClipNorm,
				slices.Clone(net.Params().Flat.Data))
		}
		return seen, nil
	}
}

// trainings returns training loops with networks and clipping policies of every kind.
func trainings() []trainingCase {
	be := device.CPUWith(1)
	fixed := sgd.Config{ClipNorm: 0.5, SamplingProbability: 0.6, Steps: 3, NoiseMultiplier: 1,
		NominalBatch: 4,
		Optimizer:    sgd.Adam(0.1)}
	policy := func(c sgd.Clip) sgd.Config {
		cfg := fixed
		cfg.ClipNorm, cfg.Clip = 0, c
		return cfg
	}
	groups := sgd.Groups{List: []sgd.Group{{Blocks: []int{0}, ClipNorm: 0.5},
		{Blocks: []int{1}, ClipNorm: 0.1}}}
	bands := fixed
	bands.Bands, bands.SamplingProbability, bands.Steps = 2, 0.4, 5
	small := fixed
	small.MicroBatch = 2
	vae := func(v models.Visible) func() (models.Network, error) {
		return func() (models.Network, error) {
			return models.VAE{Hidden: []int{5}, Latent: 2}.New(be, v, 1)
		}
	}
	return []trainingCase{
		{"VAE", records.Binary(6), fixed, vae(models.Visible{Dim: 6})},
		{"VAE with correlated noise", records.Binary(6), bands, vae(models.Visible{Dim: 6})},
		{"VAE in micro-batches", records.BinaryImage(2, 3), small, vae(models.Visible{Dim: 6})},
		{"Gaussian VAE", records.Interval(4, -1, 1), fixed,
			vae(models.Visible{Dim: 4, Likelihood: models.GaussianUnit})},
		{"sparse VAE", records.Sets(12, 4), fixed, vae(models.Visible{Dim: 12, Sparse: true})},
		{"RBM", records.Binary(6), fixed, func() (models.Network, error) {
			return models.RBM{Hidden: 4, Chains: 3}.New(be, models.Visible{Dim: 6}, 1)
		}},
		{"sparse RBM", records.Sets(12, 4), fixed, func() (models.Network, error) {
			return models.RBM{Hidden: 4, Chains: 3}.New(be, models.Visible{Dim: 12, Sparse: true}, 1)
		}},
		{"classifier", records.Interval(4, -1, 1).WithLabels("a", "b", "c"), fixed,
			func() (models.Network, error) {
				return models.MLP{Hidden: []int{5}}.Classifier(be, 4, 3, 1)
			}},
		{"private clip norm", records.Binary(6),
			policy(sgd.DPNorm{MaxNorm: 4, MinNorm: 0.1, Bins: 10, NoiseMultiplier: 2}),
			vae(models.Visible{Dim: 6})},
		{"quantile", records.Binary(6),
			policy(sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 0.2, NoiseMultiplier: 2}),
			vae(models.Visible{Dim: 6})},
		{"normalised", records.Binary(6), policy(sgd.Normalize{}), vae(models.Visible{Dim: 6})},
		{"groups", records.Interval(4, -1, 1).WithLabels("a", "b"), policy(groups),
			func() (models.Network, error) {
				n, err := models.MLP{}.Critic(be, 4, 2, 1)
				return recordCritic{n, be}, err
			}},
	}
}

type trainingCase struct {
	name    string
	schema  records.Schema
	cfg     sgd.Config
	network func() (models.Network, error)
}

func TestTrainingUnderReplay(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	for _, c := range trainings() {
		for _, r := range relations {
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				replayAll(t, c.schema, r, training(c.cfg, c.network))
			})
		}
	}
}

// TestAllocationUnderReplay: training by epochs ends within an epoch and begins again. Under
// replace-one it is refused.
func TestAllocationUnderReplay(t *testing.T) {
	c := trainings()[0]
	for _, clip := range []sgd.Clip{nil, sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 0.2,
		NoiseMultiplier: 2}} {
		cfg := c.cfg
		cfg.SamplingProbability, cfg.Steps, cfg.RandomAllocation = 1./3, 6, true
		if clip != nil {
			cfg.Clip, cfg.ClipNorm = clip, 0
		}
		replayAll(t, c.schema, accountant.AddOrRemoveOne,
			func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
				net, err := c.network()
				if err != nil {
					return nil, err
				}
				trainer, err := sgd.New(cfg, net, l, sgd.WithBackend(device.CPUWith(1)))
				if err != nil {
					return nil, err
				}
				var seen []any
				for range 3 {
					for step, err := range trainer.Steps(ctx, data) {
						if err != nil {
							return seen, err
						}
						seen = append(seen, step.Number, step.Epsilon, slices.Clone(net.Params().Flat.Data))
						if step.Number%2 == 0 {
							break
						}
					}
				}
				return seen, nil
			})
	}
}

// recordCritic trains a critic whose fakes are 0. It is a network whose gradients have blocks.
type recordCritic struct {
	models.Critic
	be device.Backend
}

func (c recordCritic) Gradients(b device.Batch) models.Gradients {
	return c.PairGradients(b, c.be.New(b.Rows, 4), make([]float32, b.Rows), 1)
}

func TestKMeansUnderReplay(t *testing.T) {
	for _, s := range []records.Schema{records.Binary(5), records.Interval(3, -1, 2),
		records.Image(2, 2),
		records.Sets(10, 4), mixedTable()} {
		for _, cfg := range []kmeans.Config{
			{K: 3, Iterations: 3, NoiseMultiplier: 2},
			{K: 2, Iterations: 2, NoiseMultiplier: 2, Memory: 0.5,
				Norm: &kmeans.DPNorm{Max: 4, Bins: 8, NoiseMultiplier: 2}},
		} {
			for _, r := range relations {
				t.Run(s.String()+" "+r.String(), func(t *testing.T) {
					replayAll(t, s, r,
						func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
							m, err := kmeans.Fit(ctx, cfg, kmeans.Raw(s), data, l,
								kmeans.WithBackend(device.CPUWith(1)), kmeans.WithSeed(3))
							if err != nil {
								return nil, err
							}
							return []any{m.Centers, m.Counts, m.Weights()}, nil
						})
				})
			}
		}
	}
}

func fuzzKMeans(f *testing.F, s records.Schema, r accountant.Relation) {
	cfg := kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 2}
	privacytest.Fuzz(f, s, r, func(t *testing.T, p privacytest.Pair) {
		privacytest.Replay[records.Data]{
			Run: func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
				m, err := kmeans.Fit(ctx, cfg, kmeans.Raw(s), data, l,
					kmeans.WithBackend(device.CPUWith(1)))
				if err != nil {
					return nil, err
				}
				return []any{m.Centers, m.Counts}, nil
			},
			Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r},
			Data:   p.Data, Neighbour: p.Neighbour, Seeds: 1,
		}.Check(t)
	})
}

func FuzzKMeans(f *testing.F) {
	fuzzKMeans(f, records.Interval(2, -1, 1), accountant.AddOrRemoveOne)
}
func FuzzSetKMeans(f *testing.F) { fuzzKMeans(f, records.Sets(9, 4), accountant.ReplaceOne) }
