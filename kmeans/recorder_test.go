package kmeans_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// recorder is a tap that records the private inputs of every release. If it has the outputs of an
// earlier run, it replays them. Two runs with the same outputs make the same choices, so their
// inputs can be compared release by release.
type recorder struct {
	seed     uint64
	releases []entropy.Release
	replay   [][][]float64
	spent    []accountant.Event
}

func (r *recorder) Source() (*entropy.Source, error) { return entropy.Seeded(r.seed) }
func (r *recorder) Sample(entropy.Sample)            {}
func (r *recorder) Refuse(string, error)             {}

func (r *recorder) Spend(_ string, event any, count int, err error) {
	if e, ok := event.(accountant.Event); ok && err == nil && count > 0 {
		r.spent = append(r.spent, accountant.Repeated{Event: e, Count: count})
	}
}

func (r *recorder) Release(rel *entropy.Release) error {
	i := len(r.releases)
	if i < len(r.replay) {
		for p := range rel.Outputs {
			copy(rel.Outputs[p], r.replay[i][p])
		}
	}
	kept := *rel
	kept.Inputs, kept.Outputs = copyParts(rel.Inputs), copyParts(rel.Outputs)
	kept.Std = append([]float64(nil), rel.Std...)
	r.releases = append(r.releases, kept)
	return nil
}

func copyParts(parts [][]float64) [][]float64 {
	out := make([][]float64, len(parts))
	for i, p := range parts {
		out[i] = append([]float64(nil), p...)
	}
	return out
}

func (r *recorder) outputs() [][][]float64 {
	var out [][][]float64
	for _, rel := range r.releases {
		out = append(out, copyParts(rel.Outputs))
	}
	return out
}

func ledgerOf(r accountant.Relation) *ledger.Ledger {
	return ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5, Relation: r})
}

// tapped runs a fit whose noise comes from the recorder's seed, and records its releases.
func tapped(t testing.TB, rec *recorder, cfg kmeans.Config, f kmeans.Features, data records.Data,
	r accountant.Relation, opts ...kmeans.Option) *kmeans.Model {
	t.Helper()
	m := must(kmeans.Fit(entropy.WithTap(context.Background(), rec), cfg, f, data,
		ledgerOf(r), opts...))(t)
	return m
}

func table(t testing.TB, s records.Schema, rows [][]float32) *records.Table {
	t.Helper()
	var flat []float32
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return must(records.FromFlat(s, flat))(t)
}

// blobs draws n points around each of the given centres.
func blobs(rng *rand.Rand, n int, spread float64, centers ...[]float64) [][]float32 {
	var rows [][]float32
	for range n {
		for _, c := range centers {
			row := make([]float32, len(c))
			for j, v := range c {
				row[j] = float32(v + spread*rng.NormFloat64())
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// stubborn wraps features. It has another norm bound, and spoil can change its rows.
type stubborn struct {
	kmeans.Features
	bound float64
	spoil func(i int32, row []float32)
}

func (s stubborn) NormBound() float64 { return s.bound }

func (s stubborn) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	s.Features.Transform(be, b, dst)
	for i := range b.Rows {
		if s.spoil != nil && b.Index != nil {
			s.spoil(b.Index[i], dst.Row(i))
		}
	}
}
