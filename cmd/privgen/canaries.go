package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// madeUp draws records uniformly from all records that the schema allows.
func madeUp(s records.Schema, n int, rng *rand.Rand) (records.Data, error) {
	var labels []int32
	if s.Classes() > 0 {
		labels = make([]int32, n)
		for i := range labels {
			labels[i] = int32(rng.IntN(s.Classes()))
		}
	}
	if s.Sparse() {
		rows := make([][]uint32, n)
		for i := range rows {
			for range 1 + rng.IntN(min(s.MaxItems(), s.Dim())) {
				rows[i] = append(rows[i], uint32(rng.IntN(s.Dim())))
			}
		}
		return nonNil(records.FromItems(s, rows, labels...))
	}
	flat := make([]float32, n*s.Dim())
	lo, hi := s.Bounds()
	for i := range flat {
		flat[i] = float32(lo + (hi-lo)*rng.Float64())
	}
	if s.Kind() == records.MixedTable {
		return nonNil(records.DecodeFlat(s, flat, labels...))
	}
	if s.IsBinary() {
		for i := range flat {
			flat[i] = float32(math.Round(float64(flat[i])))
		}
	}
	return nonNil(records.FromFlat(s, flat, labels...))
}

// train runs a plan on the included canaries and scores every canary by how much the synthetic
// records resemble it.
func (j *auditJob) train(ctx context.Context, p privgen.Plan, canaries records.Data, planted []bool,
	rng *rand.Rand, m meter) ([]float64, error) {
	var rows []int32
	for i, in := range planted {
		if in {
			rows = append(rows, int32(i))
		}
	}
	l := ledger.New(p.Budget())
	gen, err := p.FitOn(ctx, l, take(canaries, rows), privgen.OnProgress(m.show))
	if err != nil {
		return nil, err
	}
	synthetic, err := gen.Sample(ctx, j.samples, privgen.Seed(rng.Uint64()), synth.Unidentified())
	if err != nil {
		return nil, err
	}
	others, err := madeUp(p.Schema(), j.samples, rng)
	if err != nil {
		return nil, err
	}
	scale := scaleOf(encoded(others))
	return resemblance(scale.all(encoded(canaries)), scale.all(encoded(synthetic))), nil
}

// take returns the given rows.
func take(d records.Data, rows []int32) records.Data {
	switch d := d.(type) {
	case *records.Frame:
		return d.Take(rows)
	case *records.Table:
		return d.Take(rows)
	}
	return d.(*records.SetTable).Take(rows)
}

// encoded returns records as vectors, with the class, if there is one, appended one-hot.
func encoded(d records.Data) [][]float32 {
	s := d.Schema()
	out := make([][]float32, d.Len())
	var b device.Batch
	for i := range out {
		d.Gather([]int32{int32(i)}, &b)
		row := make([]float32, s.Dim()+s.Classes())
		if b.Sparse == nil {
			copy(row, b.Dense.Row(0))
		} else {
			for _, item := range b.Sparse.Row(0) {
				row[item] = 1
			}
		}
		if b.Labels != nil {
			row[s.Dim()+int(b.Labels[0])] = 1
		}
		out[i] = row
	}
	return out
}

// scale gives every coordinate mean 0 and standard deviation 1 over the made-up records.
type scale struct{ mean, deviation []float64 }

func scaleOf(rows [][]float32) scale {
	dim := len(rows[0])
	s := scale{make([]float64, dim), make([]float64, dim)}
	for _, row := range rows {
		for k, v := range row {
			s.mean[k] += float64(v) / float64(len(rows))
		}
	}
	for _, row := range rows {
		for k, v := range row {
			d := float64(v) - s.mean[k]
			s.deviation[k] += d * d / float64(len(rows))
		}
	}
	for k, v := range s.deviation {
		s.deviation[k] = max(math.Sqrt(v), 1e-3)
	}
	return s
}

func (s scale) all(rows [][]float32) [][]float32 {
	for _, row := range rows {
		for k := range row {
			row[k] = float32((float64(row[k]) - s.mean[k]) / s.deviation[k])
		}
	}
	return rows
}

// resemblance returns, for each canary, the mean square of its inner products with the synthetic
// records. This measures shared pairs of coordinates, since most systems learn pairs.
func resemblance(canaries, synthetic [][]float32) []float64 {
	scores := make([]float64, len(canaries))
	for i, c := range canaries {
		for _, s := range synthetic {
			k := 0.0
			for x, v := range c {
				k += float64(v) * float64(s[x])
			}
			scores[i] += k * k / float64(len(synthetic))
		}
	}
	for i, c := range canaries { // the expected value for records that are independent of c
		for _, v := range c {
			scores[i] -= float64(v) * float64(v)
		}
	}
	return scores
}
