package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// rejection compares two ways to spend one budget. In the first, MERF spends all of it. In the
// second, MERF spends what remains after the classifier, and only samples whose label the
// classifier confirms are kept.
type rejection struct {
	kernel      rff.Scattering
	budget      accountant.Budget
	cfg         sgd.Config // the classifier's training, with its noise
	net         *models.Classifier
	n, features int
	steps       int
	train, test *records.Table // images
}

// samples is the number of synthetic images on which the CNN is trained.
const samples = 6000

func (r rejection) run(ctx context.Context) error {
	own := accountant.Repeated{Event: r.cfg.Event(r.budget.Relation), Count: r.cfg.Steps}
	for _, reject := range []bool{false, true} {
		z, cost, err := accountant.CalibrateNoise(r.budget, func(z float64) accountant.Event {
			g := accountant.Gaussian{NoiseMultiplier: z}
			if reject {
				return accountant.Composed{Events: []accountant.Event{g, own}}
			}
			return g
		})
		if err != nil {
			return err
		}
		plan, err := merf.Config{Schema: r.train.Schema(), Budget: r.budget, NoiseMultiplier: z,
			Nominal: r.n, Kernel: rff.PatchesFor(r.features, 28, 28),
			Generator: merf.GeneratorConfig{Generators: 1, Steps: r.steps, Batch: 100}}.Plan()
		if err != nil {
			return err
		}
		gen, err := plan.Fit(ctx, r.train)
		if err != nil {
			return err
		}
		rows, err := gen.Sample(ctx, 2*samples, synth.Means(), synth.Seed(1))
		if err != nil {
			return err
		}
		images := rows.(*records.Table)
		named, agree, err := r.named(images)
		if err != nil {
			return err
		}
		if !reject {
			named = images
		}
		by, err := classify.Convolutional{}.Fit(named.Slice(0, min(samples, named.Len())))
		if err != nil {
			return err
		}
		got, err := classify.Test(by, r.test)
		if err != nil {
			return err
		}
		fmt.Printf("rejecting %v: ε = %s, labels agree on %.3f, accuracy of a CNN trained on %d samples %.4f\n", reject,
			accountant.FormatUpper(cost.Upper, 4), agree, min(samples, named.Len()), got.Accuracy())
	}
	return nil
}

// named returns the images whose label the classifier confirms, and their fraction of all images.
func (r rejection) named(t *records.Table) (*records.Table, float64, error) {
	features, err := scattered(r.kernel, t)
	if err != nil {
		return nil, 0, err
	}
	var keep []int32
	for i, c := range classes(r.net, features) {
		if c == t.Labels()[i] {
			keep = append(keep, int32(i))
		}
	}
	return t.Take(keep), float64(len(keep)) / float64(t.Len()), nil
}

// classes returns the classes that the classifier predicts.
func classes(net *models.Classifier, t *records.Table) []int32 {
	k := t.Schema().Classes()
	out := make([]int32, 0, t.Len())
	scores := device.HostMatrix(1024, k, make([]float32, 1024*k))
	var batch device.Batch
	for lo := 0; lo < t.Len(); lo += 1024 {
		hi := min(lo+1024, t.Len())
		t.Range(lo, hi, &batch)
		net.Predict(batch, scores.RowRange(0, hi-lo))
		for i := range hi - lo {
			row, best := scores.Row(i), 0
			for c, v := range row {
				if v > row[best] {
					best = c
				}
			}
			out = append(out, int32(best))
		}
	}
	return out
}
