package dpgm_test

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// small returns the configuration of a whole run that takes milliseconds.
func small(s records.Schema, r accountant.Relation) dpgm.Config {
	return dpgm.Config{
		Schema:   s,
		Budget:   accountant.Budget{Epsilon: 8, Delta: 1e-5, Relation: r},
		Features: rff.RBF{Dim: 8, Bandwidth: 2},
		Cluster:  kmeans.Config{K: 3, Iterations: 2, Share: 0.2},
		Model:    models.VAE{Hidden: []int{6}, Latent: 2},
		Train:    sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3, Optimizer: sgd.Adam(1e-2)},
		Seed:     5,
	}
}

func mustPlan(t testing.TB, c dpgm.Config) *dpgm.Plan {
	t.Helper()
	return must(c.Plan())(t)
}

// fit runs a plan on a new ledger.
func fit(t testing.TB, c dpgm.Config, data records.Data, opts ...synth.Option) *synth.Generator {
	t.Helper()
	return fitUnder(t, context.Background(), c, data, opts...)
}

func fitUnder(t testing.TB, ctx context.Context, c dpgm.Config, data records.Data,
	opts ...synth.Option) *synth.Generator {
	t.Helper()
	return must(mustPlan(t, c).Fit(ctx, data, opts...))(t)
}

// encoded returns the file of a generator's model.
func encoded(t testing.TB, g *synth.Generator) *synth.File {
	t.Helper()
	return must(g.Model().Encode())(t)
}

// bits draws records of dim coordinates around a few prototypes.
func bits(t testing.TB, n, dim int, seed uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	flat := make([]float32, n*dim)
	for i := range n {
		for j := range dim {
			if (j*3/dim == i%3) != (rng.Float64() < 0.1) {
				flat[i*dim+j] = 1
			}
		}
	}
	return must(records.FromFlat(records.Binary(dim), flat))(t)
}

// variants returns configurations, by name, that cover everything the guarantee depends on.
func variants(s records.Schema, r accountant.Relation) map[string]dpgm.Config {
	vae := small(s, r)
	rbm := small(s, r)
	rbm.Model = models.RBM{Hidden: 5, Chains: 4}
	rbm.Train.Optimizer, rbm.Train.NominalBatch = sgd.Momentum(0.1, 0.9), 4
	raw := small(s, r)
	raw.Features = nil
	adaptive := small(s, r)
	adaptive.Train.ClipNorm, adaptive.Train.Clip = 0,
		sgd.DPNorm{MaxNorm: 10, Bins: 20, NoiseMultiplier: 4}
	estimated := small(s, r)
	estimated.Features, estimated.Cluster.Norm = nil, &kmeans.DPNorm{Max: 6, Bins: 6}
	averaged := small(s, r)
	averaged.Average = 0.9
	one := small(s, r)
	one.Features, one.Cluster = nil, kmeans.Config{K: 1}
	told, toldOne := small(s, r), one
	told.Marginals, toldOne.Marginals = &dpgm.Marginals{Share: 0.3, ClipNorm: 1.5},
		&dpgm.Marginals{Share: 0.3}
	if !s.IsBinary() {
		told.Marginals, toldOne.Marginals = nil, nil
	}
	merged := small(s, r)
	merged.Cluster.K, merged.Cluster.Centers = 2, 4
	if s.IsImage() {
		merged.Features = rff.Strokes{Cells: 2, Orientations: 2, Blur: 0.5, Upright: true}
	}
	return map[string]dpgm.Config{"merged centres": merged, "marginals": told,
		"marginals of one cluster": toldOne, "vae": vae,
		"rbm": rbm, "raw records": raw, "private clip norm": adaptive, "averaged": averaged,
		"private norm of records": estimated, "one cluster": one}
}

// TestNothingButNoisedSumsDependsOnARecord replays whole runs on neighbouring data sets with the
// mechanisms' answers fixed. The ledger, the progress and the released model must be bit-identical,
// for every added, removed or replaced record. If a run used an exact cluster size, for example as
// a weight, a divisor or a number of steps, its results would differ.
func TestNothingButNoisedSumsDependsOnARecord(t *testing.T) {
	for at, s := range []records.Schema{records.Binary(12), records.Interval(5, -1, 1),
		records.Sets(20, 4), records.BinaryImage(4, 4),
		table(t, records.Label("class", "a", "b"))} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			pairs := privacytest.Neighbours(t, s, r, 12, 3)
			turn := 0 // each variant is tested on a pair of its own, and with every second schema
			all := variants(s, r)
			for i, name := range slices.Sorted(maps.Keys(all)) {
				c := all[name]
				if turn += 5; (i+at+int(r))%2 == 1 {
					continue
				}
				if _, isRBM := c.Model.(models.RBM); isRBM && s.Kind() == records.IntervalVector {
					continue // an RBM models only binary units and levels
				}
				plan := mustPlan(t, c)
				pair := pairs[turn%len(pairs)]
				t.Run(s.String()+"/"+r.String()+"/"+name+"/"+pair.Name, func(t *testing.T) {
					privacytest.Replay[records.Data]{Run: everythingVisible(plan), Budget: c.Budget,
						Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
				})
			}
		}
	}
}

// everythingVisible returns a function for replays. It runs the plan and returns all released and
// reported values.
func everythingVisible(p *dpgm.Plan) func(context.Context, *ledger.Ledger,
	records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		var told []synth.Progress
		g, err := p.FitOn(ctx, l, data, synth.OnProgress(func(s synth.Progress) {
			s.Elapsed = 0
			told = append(told, s)
		}))
		if err != nil {
			return told, err
		}
		file, err := g.Model().Encode()
		return []any{told, file, g.Weights(), g.Guarantee()}, err
	}
}

// TestLedgerHoldsThePlan checks that the ledger has exactly the plan's events.
func TestLedgerHoldsThePlan(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for name, c := range variants(records.Binary(12), r) {
			t.Run(r.String()+"/"+name, func(t *testing.T) {
				p := mustPlan(t, c)
				l := ledger.New(c.Budget)
				if _, err := p.FitOn(t.Context(), l, bits(t, 60, 12, 1)); err != nil {
					t.Fatal(err)
				}
				var got []accountant.Event
				for _, e := range l.Entries() {
					if e.Spent != e.Reserved {
						t.Errorf("%s: %d of %d reserved uses are spent, want all", e.Purpose, e.Spent, e.Reserved)
					}
					got = append(got, accountant.Repeated{Event: e.Event, Count: e.Reserved})
				}
				cost := must(accountant.Epsilon(accountant.Composed{Events: got}, c.Budget.Delta, r))(t)
				if math.Abs(cost.Upper-p.Total().Upper) > 1e-9*p.Total().Upper ||
					l.Epsilon().Upper != p.Total().Upper {
					t.Errorf("the events cost %v, the ledger states %v, the plan %v", cost.Upper,
						l.Epsilon().Upper, p.Total().Upper)
				}
				if cost.Upper > c.Budget.Epsilon {
					t.Errorf("ε = %v exceeds the budget's %v", cost.Upper, c.Budget.Epsilon)
				}
			})
		}
	}
}

// TestCostDoesNotDependOnTheNumberOfClusters checks a difference from the papers: training has the
// same event for every k. The event's sampling probability is the probability with which a record
// of any cluster is sampled.
func TestCostDoesNotDependOnTheNumberOfClusters(t *testing.T) {
	var first accountant.Event
	for _, k := range []int{2, 3, 10, 50} {
		c := small(records.Binary(12), accountant.AddOrRemoveOne)
		c.Cluster = kmeans.Config{K: k, Iterations: 2, NoiseMultiplier: 20}
		c.Train.NoiseMultiplier = 3
		train := mustPlan(t, c).Stages()[1].Event
		if first == nil {
			first = train
		}
		if !accountant.EqualEvents(first, train) {
			t.Errorf("k = %d: %v, want %v", k, train, first)
		}
		if p := train.(accountant.PoissonSampled).Probability; p != c.Train.SamplingProbability {
			t.Errorf("the event's sampling probability is %v, want %v", p, c.Train.SamplingProbability)
		}
	}
}

// TestHostileRecordsAreFitted checks that hostile records and an empty data set do not make a run
// fail.
func TestHostileRecordsAreFitted(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s := records.Interval(4, -0.3, 0.1) // float32 can represent neither bound
	wild := must(records.FromRows(s,
		[][]float32{{nan, nan, nan, nan}, {inf, -inf, 1e38, -0}, {5, 5, 5, 5}, {0, 0, 0, 0}}))(t)
	none := must(records.FromFlat(s, nil))(t)
	for name, data := range map[string]records.Data{"hostile": wild, "empty": none} {
		drawn, err := fit(t, small(s, accountant.AddOrRemoveOne), data).Sample(t.Context(), 100)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := records.Check(drawn); err != nil {
			t.Errorf("%s: synthetic records outside the schema: %v", name, err)
		}
	}
}
