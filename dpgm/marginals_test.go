package dpgm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// TestMarginalsSensitivity adds, removes or replaces a record, also between clusters. The joint
// release must not change by more than its declared effect, and the largest change must be close to
// it.
func TestMarginalsSensitivity(t *testing.T) {
	schema := records.Sets(9, 7)
	rng := rand.New(rand.NewPCG(4, 4))
	var sets [][]uint32
	for range 6 {
		var row []uint32
		for item := range uint32(9) {
			if rng.Float64() < 0.5 {
				row = append(row, item)
			}
		}
		sets = append(sets, row)
	}
	sets = append(sets, nil, []uint32{0, 1, 2, 3, 4, 5, 6}, []uint32{2, 3, 4, 5, 6, 7, 8},
		[]uint32{7, 8}, []uint32{0})
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, clip := range []float64{0, 1, 1.7} {
			for _, k := range []int{1, 2} {
				worst := 0.0
				contribution := func(set []uint32, cluster int) []float64 {
					m := marginalSums{Marginals: Marginals{NoiseMultiplier: 3, ClipNorm: clip},
						schema: schema, k: k}
					m.spread(r)
					m.allocate()
					table, err := records.FromItems(schema, [][]uint32{set})
					if err == nil {
						err = m.add(context.Background(), table, []int32{int32(cluster)})
					}
					if err != nil {
						t.Fatal(err)
					}
					return m.inNoise()
				}
				for _, a := range sets {
					for _, b := range sets {
						for c := range k {
							x, y := contribution(a, 0), contribution(b, c)
							if r == accountant.AddOrRemoveOne {
								clear(y)
							}
							sum := 0.0
							for i := range x {
								sum += (x[i] - y[i]) * (x[i] - y[i])
							}
							worst = max(worst, math.Sqrt(sum))
						}
					}
				}
				if worst > 1.0/3+1e-6 || // 1e-6 allows for the noise added to read the sums
					worst < 0.3 && (k == 2 || r == accountant.AddOrRemoveOne) {
					t.Errorf("%v, clip norm %v, %d clusters: the largest change is %v, want 1/3", r, clip, k,
						worst)
				}
			}
		}
	}
}

// inNoise returns the sums, counts and sizes in standard deviations of their noise.
func (m *marginalSums) inNoise() []float64 {
	read := func(s *mechanism.FixedSum, std float64) (out []float64) {
		l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 0.5})
		grant, err := mechanism.Begin(context.Background(), l).Spend("test",
			accountant.Gaussian{NoiseMultiplier: 1e-3})
		if err != nil {
			panic(err)
		}
		out = make([]float64, s.Dim())
		// Releasing with 1e-7 of the real noise makes the sum readable.
		if err := grant.Release(1e-9, mechanism.Part{Sum: s, Std: std * 1e-7, Out: out}); err != nil {
			panic(err)
		}
		for i := range out {
			out[i] /= std
		}
		return out
	}
	return slices.Concat(read(m.sums, m.sumStd), read(m.counts, m.countStd), read(m.sizes, m.sizeStd))
}

// TestMarginalsAreMet checks that samples have the records' item frequencies if there is very
// little noise.
func TestMarginalsAreMet(t *testing.T) {
	const n, dim = 4000, 30
	rng := rand.New(rand.NewPCG(6, 6))
	rows, want := make([][]uint32, n), make([]float64, dim)
	for i := range rows {
		for item := range uint32(dim) {
			if rng.Float64() < 0.8/float64(1+item) {
				rows[i] = append(rows[i], item)
				want[item] += 1.0 / n
			}
		}
	}
	table, err := records.FromItems(records.Sets(dim, dim), rows)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Schema: table.Schema(), Budget: accountant.Budget{Epsilon: 1000, Delta: 1e-5},
		Cluster:   kmeans.Config{K: 1},
		Marginals: &Marginals{Share: 0.5}, Model: models.VAE{Hidden: []int{20}, Latent: 2},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.02, Steps: 40, Optimizer: sgd.Adam(1e-2)}}
	plan, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	// The noise has a fixed seed, because the test is about frequencies.
	g, err := plan.Fit(privacytest.Seeded(t, t.Context(), 1), table)
	if err != nil {
		t.Fatal(err)
	}
	got, total := make([]float64, dim), 20000
	for chunk, err := range g.Stream(t.Context(), total, synth.Seed(3)) {
		if err != nil {
			t.Fatal(err)
		}
		records.EachSet(chunk, func(_ int, items []uint32) error {
			for _, item := range items {
				got[item] += 1 / float64(total)
			}
			return nil
		})
	}
	for j, w := range want {
		// The draw is steered, so the tolerance can be small: with independent records, the number of
		// records that have a frequent item would have a larger standard deviation.
		if tolerance := 20/float64(total) + 0.01*w; math.Abs(got[j]-w) > tolerance {
			t.Errorf("item %d has frequency %.4f in samples, want %.4f as in the records", j, got[j], w)
		}
	}
}

func TestMarginalsRefuse(t *testing.T) {
	good := Config{Schema: records.Sets(9, 3), Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Cluster: kmeans.Config{K: 1},
		Model:   models.VAE{Hidden: []int{4}, Latent: 2},
		Train:   sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 2, Optimizer: sgd.Adam(1e-2)}}
	for name, change := range map[string]func(*Config){
		"no share":     func(c *Config) { c.Marginals = &Marginals{} },
		"the whole":    func(c *Config) { c.Marginals = &Marginals{Share: 1} },
		"both":         func(c *Config) { c.Marginals = &Marginals{Share: 0.3, NoiseMultiplier: 3} },
		"negative":     func(c *Config) { c.Marginals = &Marginals{NoiseMultiplier: -3} },
		"not a number": func(c *Config) { c.Marginals = &Marginals{NoiseMultiplier: math.NaN()} },
		"clip":         func(c *Config) { c.Marginals = &Marginals{Share: 0.3, ClipNorm: 0.5} },
		"real records": func(c *Config) {
			c.Marginals, c.Schema = &Marginals{Share: 0.3}, records.Interval(9, 0, 1)
		},
		"other network": func(c *Config) {
			c.Marginals, c.Model = &Marginals{Share: 0.3}, models.RBM{Hidden: 3, Chains: 2}
		},
	} {
		c := good
		change(&c)
		var wrong *param.Error
		if _, err := c.Plan(); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
	good.Marginals = &Marginals{Share: 0.3}
	plan, err := good.Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := (synth.Systems{System()}).ReadPlan(text); err != nil ||
		fmt.Sprint(back) != fmt.Sprint(plan) {
		t.Errorf("the plan %s is read as\n%v, error %v", text, back, err)
	}
}

// TestMarginalsOfLaterRows checks that rows after the first batch count in their own clusters and
// with their own weights. Persons of the first batch have one row and are in cluster 0; later ones
// have two rows and are in cluster 1.
func TestMarginalsOfLaterRows(t *testing.T) {
	const n = routeChunk
	s := records.Sets(2, 2)
	items, owners, clusters := make([][]uint32, 3*n), make([]int, 3*n), make([]int32, 3*n)
	for i := range items {
		items[i], owners[i] = []uint32{1}, i
		if i >= n {
			owners[i], clusters[i] = i-i%2, 1
		}
	}
	rows, err := records.FromItems(s, items)
	if err != nil {
		t.Fatal(err)
	}
	persons, err := records.GroupBy(rows, owners, 2)
	if err != nil {
		t.Fatal(err)
	}
	m := marginalSums{Marginals: Marginals{NoiseMultiplier: 3}, schema: s.ByPerson(2), k: 2}
	m.spread(accountant.AddOrRemoveOne)
	m.allocate()
	if err := m.add(t.Context(), persons, clusters); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		sum *mechanism.FixedSum
		at  int // place in a cluster of what all records have
	}{"counts": {m.counts, 0}, "sums": {m.sums, 1}, "sizes": {m.sizes, m.bins.of(1)}} {
		exact := of.sum.Exact()
		each := len(exact) / m.k
		for cluster := range m.k {
			if got := float64(exact[cluster*each+of.at]) * of.sum.Grid(); got != n {
				t.Errorf("%s: %v persons are in cluster %d, want %d", name, got, cluster, n)
			}
		}
	}
}

// TestRepeatedItemsCountOnce checks that a set with a repeated item is no longer than its different
// items make it.
func TestRepeatedItemsCountOnce(t *testing.T) {
	m := marginalSums{Marginals: Marginals{NoiseMultiplier: 3}, schema: records.Sets(2, 2), k: 1}
	m.spread(accountant.AddOrRemoveOne)
	m.allocate()
	twice := &device.Sparse{Cols: 2, Offsets: []int{0, 2}, Items: []uint32{1, 1}}
	m.addRow(device.Batch{Rows: 1, Sparse: twice}, 0, 0, 1)
	if got := float64(m.sums.Exact()[1]) * m.sums.Grid(); got != 1 {
		t.Errorf("a repeated item counts as %v, want 1", got)
	}
}
