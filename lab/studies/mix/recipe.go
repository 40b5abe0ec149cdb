package main

import (
	"context"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// mixing returns the release as a configuration of the library.
func (c config) mixing() mix.Config {
	if c.project > 0 {
		c.degree = 1 // the paper's baseline
	}
	out := mix.Config{Schema: digits.Schema(), Budget: c.budget, Mixtures: c.mixtures,
		ClipNorm: c.clip,
		ByClass:  c.byClass, LabelShare: c.share}
	switch {
	case c.budget.Relation == accountant.AddOrRemoveOne:
		out.Sampling = mix.Poisson{Nominal: c.n, Degree: c.degree}
	case c.sampling == "subset":
		out.Sampling = mix.WithoutReplacement{Records: c.n, Degree: c.degree}
	default:
		out.Sampling = mix.PoissonReplaceOne{Records: c.n, Degree: c.degree}
	}
	if c.project > 0 {
		out.ByClass = false
		out.Projection = mix.Projection{Dim: c.project, Seed: c.seed}
		return out
	}
	if c.centers > 0 {
		out.Centers = mix.Centers{Share: c.centers, ClipNorm: c.short}
	}
	return out
}

// testDigits is the number of held-out digits that the program draws.
const testDigits = 5000

func (c config) load() (train, test *records.Table, err error) {
	if c.images == "" {
		all, err := digits.Draw(c.n+testDigits, 1)
		if err != nil {
			return nil, nil, err
		}
		return all.Slice(0, c.n), all.Slice(c.n, c.n+testDigits), nil
	}
	if train, err = records.OpenIDX(c.images, c.labels, digits.Schema()); err != nil {
		return nil, nil, err
	}
	test, err = records.OpenIDX(c.testImages, c.testLabels, digits.Schema())
	return train, test, err
}

// score holds the accuracies of one run.
type score struct{ network, linear float64 }

func (s score) String() string {
	return fmt.Sprintf("accuracy on held-out images (not private): network %.4f, linear model %.4f",
		s.network, s.linear)
}

// learn trains on one release and tests on held-out images, which are clipped like the mixed
// images.
//
// Sigma is the noise on the features of a mixture.
func (c config) learn(ctx context.Context, m *mix.Model, sigma float64, test *records.Table,
	seed uint64, show bool) (score, error) {
	shown, err := c.seen(m, test)
	if err != nil {
		return score{}, err
	}
	var s score
	linear, err := fitLinear(ctx, m.Rows(), sigma, seed)
	if err != nil {
		return s, err
	}
	s.linear = images.Accuracy(shown, linear.predict)
	net, err := c.network(m.Rows().Dim(), seed)
	if err != nil {
		return s, err
	}
	trainer := mix.Trainer{Epochs: c.epochs, Seed: seed}
	if c.learner == "moments" && c.project == 0 {
		shown, err = c.fromMoments(ctx, m, net, trainer, show, shown)
	} else {
		err = c.fromMixtures(ctx, m, net, trainer)
	}
	if err != nil {
		return s, err
	}
	s.network = images.Accuracy(shown, net.PredictClass)
	return s, nil
}

// network returns a small convolutional network. Projected records are not images and get two dense
// layers, as in the paper.
func (c config) network(dim int, seed uint64) (*models.Classifier, error) {
	if c.project > 0 {
		return models.MLP{Hidden: []int{200, 200}}.Classifier(device.CPU(), dim, 10, seed)
	}
	return models.CNN{Height: digits.Side, Width: digits.Side, Channels: 1, Hidden: []int{64},
		Convolutions: []models.Convolution{
			{Maps: 16, Size: 5, Stride: 2, Pad: 2}, {Maps: 32, Size: 5, Stride: 2,
				Pad: 2}}}.Classifier(device.CPU(), dim, 10, seed)
}

// fromMoments trains on new images in every step, drawn from the class moments of the mixtures.
// Before the network classifies held-out images, they are reduced to the properties that the
// moments describe.
func (c config) fromMoments(ctx context.Context, m *mix.Model, net *models.Classifier,
	t mix.Trainer, show bool,
	test *records.Table) (*records.Table, error) {
	moments, err := m.Moments()
	if err != nil {
		return nil, err
	}
	if show {
		if err := c.pictureOfDrawn(ctx, moments); err != nil {
			return nil, err
		}
	}
	if err := t.FitMoments(ctx, net, moments, c.samples); err != nil {
		return nil, err
	}
	return moments.Described(test)
}

// fromMixtures trains on the mixtures themselves, as the paper does. The mixtures are scaled to the
// variance of single images.
func (c config) fromMixtures(ctx context.Context, m *mix.Model, net *models.Classifier,
	t mix.Trainer) error {
	rows := m.Whiten()
	if c.denoise > 0 {
		var err error
		if rows, err = mix.Denoise(rows, digits.Schema(), c.denoise); err != nil {
			return err
		}
	}
	// labels become shares; features are unchanged
	wide := records.Interval(rows.Dim(), -math.MaxFloat32, math.MaxFloat32)
	return t.Fit(ctx, net, mix.Project(rows, wide))
}

// seen returns records in the form that a model of the release expects: clipped, and projected if
// the release is projected.
func (c config) seen(m *mix.Model, test *records.Table) (*records.Table, error) {
	return m.Prepared(test)
}

// report prints the mean and the standard deviation over runs.
func report(scores []score) {
	if len(scores) < 2 {
		return
	}
	for name, of := range map[string]func(score) float64{"network": func(s score) float64 {
		return s.network
	},
		"linear model": func(s score) float64 { return s.linear }} {
		mean, square := 0.0, 0.0
		for _, s := range scores {
			mean += of(s) / float64(len(scores))
		}
		for _, s := range scores {
			square += (of(s) - mean) * (of(s) - mean) / float64(len(scores)-1)
		}
		fmt.Printf("%s over %d runs: %.4f ± %.4f\n", name, len(scores), mean, math.Sqrt(square))
	}
}
