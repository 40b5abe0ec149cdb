package merf

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TrainBest trains one generator for each configuration in list, all against the same release. It
// returns the generator with the smallest [Distance] to the release, and the distances of all
// generators in the order of list.
//
// Guarantee: training and selection use the release only, so the generator has the release's
// guarantee for any number of configurations. Errors: *param.Error for an empty list or an invalid
// configuration; all errors of Train.
func TrainBest(ctx context.Context, e *Embedding, list []GeneratorConfig,
	opts ...synth.Option) (*synth.Generator, []float64, error) {
	var k param.Checker
	k.OK(len(list) > 0, "merf.TrainBest.list", len(list), "at least one configuration")
	for _, g := range list {
		k.Add(g.Validate())
	}
	if err := k.Err(); err != nil {
		return nil, nil, err
	}
	var best *synth.Generator
	var distances []float64
	least := 0
	for i, c := range list {
		g, err := Train(ctx, e, c, opts...)
		if err != nil {
			return nil, nil, fmt.Errorf("configuration %d: %w", i, err)
		}
		d, err := Distance(ctx, e, g, judged)
		if err != nil {
			return nil, nil, fmt.Errorf("configuration %d: %w", i, err)
		}
		distances = append(distances, d)
		if best == nil || d < distances[least] {
			best, least = g, i
		}
	}
	return best, distances, nil
}

// judged is the number of synthetic records of each class that TrainBest draws to compare
// generators.
const judged = 2000

// Distance compares the mean features of n synthetic records of each class with the released means.
// It returns the sum of the squared distances of all classes, with the weights of BySignal. The
// distance includes the noise of the release, which is the same for all generators. It also
// includes the sampling error of n records, which is at most E‖φ‖²/n for each class.
//
// Guarantee: post-processing; Distance reads no private record. Errors: *param.Error for a
// generator with another schema and for n out of range; ctx.Err().
func Distance(ctx context.Context, e *Embedding, g *synth.Generator, n int) (float64, error) {
	var k param.Checker
	k.OK(e != nil && e.features != nil, "merf.Distance.e", nil, "a released embedding")
	k.OK(g.Model() != nil && (e == nil || g.Schema().Equal(e.config.Schema)), "merf.Distance.g",
		g.System(), "a generator of records of the embedding's schema")
	k.OK(n > 0 && n <= maxBatch, "merf.Distance.n", n, "a positive number of records, up to 2^20")
	if err := k.Err(); err != nil {
		return 0, err
	}
	t := e.target(GeneratorConfig{}.withDefaults())
	total := 0.0
	for c := range t.means {
		draw := []synth.DrawOption{synth.Seed(uint64(c)), synth.Unconstrained()}
		if e.Classes() > 1 {
			draw = append(draw, synth.OfClass(c))
		}
		data, err := g.Sample(ctx, n, draw...)
		if err != nil {
			return 0, err
		}
		mean, err := e.meanOf(data)
		if err != nil {
			return 0, err
		}
		for j, x := range mean {
			d := x - float64(t.means[c][j])
			total += float64(t.weight[c]) * d * d
		}
	}
	return total, nil
}

// meanOf returns the mean of the records' features.
func (e *Embedding) meanOf(data records.Data) ([]float64, error) {
	features, err := e.config.features() // e.features is shared between goroutines
	if err != nil {
		return nil, err
	}
	const chunk = 512
	be := device.CPU()
	mean := make([]float64, features.Dim())
	var b device.Batch
	for lo := 0; lo < data.Len(); lo += chunk {
		data.Range(lo, min(lo+chunk, data.Len()), &b)
		dst := be.New(b.Rows, features.Dim())
		features.Transform(be, b, dst)
		for i := range b.Rows {
			for j, x := range dst.Row(i) {
				mean[j] += float64(x) / float64(data.Len())
			}
		}
	}
	return mean, nil
}
