package kmeans_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// TestPins holds fits to the bits that they had, on rows, sets and persons.
func TestPins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := slices.Concat(blobs(rng, 60, 0.7, corners...), blobs(rng, 50, 2, corners[1]))
	data := table(t, square, rows)
	keys := make([]int, len(rows))
	for i := range keys {
		keys[i] = i * i % 170
	}
	wide := records.Sets(30, 6)
	list := make([][]uint32, 90)
	for i := range list {
		for j := range i % 7 {
			list[i] = append(list[i], uint32((i*i+3*j)%(10+i%20)))
		}
	}
	public := records.DeclarePublic(table(t, square, blobs(rng, 12, 0.7, corners...)))
	for kind, d := range map[string]records.Data{"rows": data,
		"persons": must(records.GroupBy(data, keys, 3))(t),
		"sets":    must(records.FromItems(wide, list))(t)} {
		for name, set := range map[string]func(c *kmeans.Config){
			"plain":  func(c *kmeans.Config) {},
			"clip":   func(c *kmeans.Config) { c.ClipNorm = 2 },
			"counts": func(c *kmeans.Config) { c.CountShare, c.NoiseMultiplier = 0.6, 20 },
			"split":  func(c *kmeans.Config) { c.Small, c.K, c.NoiseMultiplier = kmeans.SplitLargest, 7, 9 },
			"memory": func(c *kmeans.Config) { c.Memory, c.Iterations = 0.5, 5 },
			"whole":  func(c *kmeans.Config) { c.Shrink, c.NoiseMultiplier = kmeans.NoShrink, 9 },
			"noisy":  func(c *kmeans.Config) { c.NoiseMultiplier, c.Iterations = 200, 2 },
			"centres": func(c *kmeans.Config) {
				c.Centers, c.Small = 8, kmeans.SplitLargest
			},
			"merged": func(c *kmeans.Config) { c.Centers, c.Merge, c.Memory = 8, 2, 0.3 },
			"norm": func(c *kmeans.Config) {
				c.Norm = &kmeans.DPNorm{Max: 12, Bins: 9, NoiseMultiplier: 3}
			},
			"geometric": func(c *kmeans.Config) {
				c.Norm = &kmeans.DPNorm{Max: 80, Min: 0.01, Bins: 12, NoiseMultiplier: 3}
			},
			"public": func(c *kmeans.Config) { c.Init = kmeans.Public(public) },
			"given": func(c *kmeans.Config) {
				c.Init = kmeans.Init{Method: kmeans.Given,
					Centers: [][]float32{{1, 1}, {-1, 90}, {1, -1}, {0, 0}}}
			},
		} {
			for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
				spaces := map[string]kmeans.Features{"raw": kmeans.Raw(d.Schema()),
					"waves": must(rff.RBF{Dim: 10, Bandwidth: 3}.New(d.Schema().Dim(), 4))(t)}
				for space, f := range spaces {
					c := kmeans.Config{K: 4, Iterations: 4, NoiseMultiplier: 2}
					set(&c)
					if c.Init.Method != kmeans.MeanFirst && (space != "raw" || kind == "sets") {
						continue
					}
					t.Run(fmt.Sprint(kind, " ", name, " ", space, " ", r), func(t *testing.T) {
						pinFit(t, c, f, d, r)
					})
				}
			}
		}
	}
}

// pinFit holds a fit's model, history and ledger, and assignments by the model to their bits.
func pinFit(t *testing.T, c kmeans.Config, f kmeans.Features, d records.Data,
	r accountant.Relation) {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5, Relation: r},
		ledger.WithUnit(records.UnitOf(d)))
	h, seen := &kmeans.History{}, ""
	m := must(kmeans.Fit(privacytest.Seeded(t, t.Context(), 7), c, f, d, l, kmeans.WithSeed(5),
		kmeans.WithHistory(h), kmeans.WithProgress(func(at, of int, epsilon float64) {
			seen += fmt.Sprintf("%d %d %.6g\n", at, of, epsilon)
		})))(t)
	var b device.Batch
	d.Range(0, d.Len(), &b)
	of := make([]int32, b.Rows)
	m.Assign(device.CPU(), f, b, of)
	calibrated, err := c.Calibrate(accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r})
	pins.Check(t, map[string][]byte{"calibrated": fmt.Append(nil, calibrated.NoiseMultiplier, err),
		"model": must(json.Marshal(m))(t), "of": fmt.Append(nil, of),
		"history": fmt.Append(nil, *h), "ledger": fmt.Append(nil, l.Entries()), "seen": []byte(seen),
		"weights": fmt.Append(nil, m.Weights()),
		"config":  fmt.Append(must(json.Marshal(c))(t), c.Event(r))})
}

// TestPinsOfManyRows holds the clusters of more rows than are assigned together to their bits.
func TestPinsOfManyRows(t *testing.T) {
	m := &kmeans.Model{Centers: [][]float32{{1, 0}, {0, 1}, {-1, -1}}, Counts: []float64{3, 2, 1},
		ClipNorm: 2, Groups: []int{1, 0, 1}}
	x := make([]float32, 2*9000)
	for i := range x {
		x[i] = float32(i*i%201)/50 - 2
	}
	of := make([]int32, 9000)
	m.Assign(device.CPU(), kmeans.Raw(square), device.Batch{Rows: 9000,
		Dense: device.HostMatrix(9000, 2, x)}, of)
	pins.Check(t, map[string][]byte{"of": fmt.Append(nil, of)})
}

// TestPinsOfPasses holds fits to their bits whose records others read, and fits that go on.
func TestPinsOfPasses(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 50, 0.7, corners...))
	for name, c := range map[string]kmeans.Config{"plain": {K: 4, Iterations: 5, NoiseMultiplier: 2},
		"norm": {K: 4, Iterations: 3, NoiseMultiplier: 2, Centers: 6,
			Norm: &kmeans.DPNorm{Max: 40, Bins: 30, NoiseMultiplier: 5}}} {
		t.Run(name, func(t *testing.T) {
			f := kmeans.Raw(square)
			read := func(ctx context.Context, p kmeans.Pass) (*mechanism.Partial, error) {
				all, err := p.NewPartial(device.CPU(), f)
				if err == nil {
					err = all.Add(ctx, data)
				}
				return all, err
			}
			m := must(kmeans.FitPasses(privacytest.Seeded(t, t.Context(), 3), c, f, "test", square,
				ledgerOf(accountant.AddOrRemoveOne), read))(t)
			// The second fit goes on with the releases of the first without the last, which is lost.
			ctx, h := privacytest.Seeded(t, t.Context(), 3), &kmeans.History{}
			l := ledgerOf(accountant.AddOrRemoveOne)
			ctx, cancel := context.WithCancel(ctx)
			norm, iterations := reserved(t, ctx, l, c)
			opts := []kmeans.Option{kmeans.WithAllowances(norm, iterations), kmeans.WithHistory(h),
				kmeans.WithCache(0)}
			kmeans.Fit(ctx, c, f, data, l, append(opts, kmeans.WithProgress(func(at, _ int, _ float64) {
				if at == 2 {
					cancel()
				}
			}))...)
			h.Iterations = h.Iterations[:1]
			rest := must(kmeans.Fit(t.Context(), c, f, data, l, opts...))(t)
			pins.Check(t, map[string][]byte{"model": must(json.Marshal(m))(t),
				"rest": must(json.Marshal(rest))(t)})
		})
	}
}
