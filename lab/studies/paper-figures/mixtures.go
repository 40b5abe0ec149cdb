package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// mixFigure3 draws Fig. 3 of Lee et al. (ISIT 2019): the ε of a million mixtures of a million
// records by the noise on their means, for several degrees. There are 50 features and 50 label
// coordinates, with equal noise on both. As the paper assumes, records and labels have norm at most
// 1 and no negative coordinates, although the paper's theorem does not use the norms. Replacing a
// record then changes features and label by at most √2 each, or 2 together. Removing a record
// changes them together by at most √2.
func mixFigure3(out string) error {
	const n, dim = 1_000_000, 100
	var curves []curve
	for i, degree := range []int{1, 16, 64, 256} {
		label := fmt.Sprintf("ℓ = %d", degree)
		paper := curve{label: label + ", Theorem 1", colour: i, dashes: 2}
		subset := curve{label: label + ", sound, replace one", colour: i, dashes: 1}
		poisson := curve{label: label + ", sound, add or remove one", colour: i}
		err := paper.descend(20/math.Sqrt(float64(degree)), func(sigma float64) (float64, error) {
			return epsilonOfTheorem1(n, degree, n, dim/sigma/sigma, 1.0/n), nil
		})
		if err != nil {
			return err
		}
		for _, k := range []struct {
			to       *curve
			event    func(std float64) accountant.Event
			relation accountant.Relation
		}{
			{&subset, func(std float64) accountant.Event {
				return accountant.SampledWithoutReplacement{Population: n, Sample: degree,
					Event: accountant.Gaussian{NoiseMultiplier: std / 2}}
			}, accountant.ReplaceOne},
			{&poisson, func(std float64) accountant.Event {
				return accountant.PoissonSampled{Probability: float64(degree) / n,
					Event: accountant.Gaussian{NoiseMultiplier: std / math.Sqrt2}}
			}, accountant.AddOrRemoveOne},
		} {
			err := k.to.descend(2/math.Sqrt(float64(degree)), func(sigma float64) (float64, error) {
				b, err := accountant.Epsilon(accountant.Repeated{Event: k.event(sigma * float64(degree)),
					Count: n}, 1.0/n, k.relation)
				return b.Upper, err
			})
			if err != nil {
				return err
			}
		}
		curves = append(curves, paper, subset, poisson)
	}
	title := "DPMix: ε by noise on features (log10), n = T = 10^6, 50 + 50 coordinates, δ = 10^-6"
	return save(filepath.Join(out, "mix-fig3.png"), title, "log10 σ", "ε", curves)
}

// descend computes a curve from large to small noise, up to the largest ε that the plot shows.
func (c *curve) descend(from float64, epsilon func(sigma float64) (float64, error)) error {
	for sigma := from; sigma > 0.005; sigma /= 1.5 {
		e, err := epsilon(sigma)
		if err != nil {
			return err
		}
		if e > 10 {
			return nil
		}
		if e > 0.02 {
			c.add(math.Log10(sigma), e)
		}
	}
	return nil
}

// mixTable is Table I of Lee et al.: the accuracy of a network trained on the mixtures themselves,
// by degree and ε. The noise is this library's noise under either relation.
type mixTable struct {
	images, labels         string
	testImages, testLabels string
	n, mixtures            int
}

// published are Table I's numbers for MNIST at ε = 20 and 10.
var published = map[int][2]float64{1: {.098, .098}, 2: {.098, .098}, 4: {.098, .098},
	8:  {.272, .098},
	16: {.698, .484}, 32: {.765, .585},
	64: {.800, .782}, 128: {.791, .764}, 256: {.759, .691}, 512: {.687, .629}}

func (c mixTable) print(ctx context.Context) error {
	train, test, err := c.load()
	if err != nil {
		return err
	}
	c.n = train.Len() // public under replace-one; used as a public guess under add/remove
	fmt.Printf("DPMix, Table I: %d mixtures of %d images, δ = 1e-5, network on mixtures and soft "+
		"labels, one run\n", c.mixtures, c.n)
	fmt.Println(
		"degree   ε = 20: paper  replace one  add or remove one   ε = 10: paper  replace one  add or " +
			"remove one")
	for _, degree := range mix.Degrees() {
		fmt.Printf("%6d", degree)
		for i, epsilon := range []float64{20, 10} {
			fmt.Printf("   %13.3f", published[degree][i])
			for _, s := range []mix.Sampling{mix.WithoutReplacement{Records: c.n, Degree: degree},
				mix.Poisson{Nominal: c.n, Degree: degree}} {
				score, err := c.score(ctx, s, epsilon, train, test)
				if err != nil {
					return err
				}
				fmt.Printf("  %13.3f", score)
			}
		}
		fmt.Println()
	}
	return nil
}

func (c mixTable) load() (train, test *records.Table, err error) {
	if c.images == "" {
		all, err := digits.Draw(c.n+2000, 1)
		if err != nil {
			return nil, nil, err
		}
		return all.Slice(0, c.n), all.Slice(c.n, c.n+2000), nil
	}
	if train, err = records.OpenIDX(c.images, c.labels, digits.Schema()); err != nil {
		return nil, nil, err
	}
	test, err = records.OpenIDX(c.testImages, c.testLabels, digits.Schema())
	return train, test, err
}

// score releases mixtures, trains on them and returns the accuracy.
func (c mixTable) score(ctx context.Context, s mix.Sampling, epsilon float64, train,
	test *records.Table) (float64, error) {
	plan, err := mix.Config{Schema: digits.Schema(),
		Budget: accountant.Budget{Epsilon: epsilon, Delta: 1e-5,
			Relation: s.Relation()}, Sampling: s,
		Mixtures: c.mixtures, ClipNorm: 9.2}.Plan()
	if err != nil {
		return 0, err
	}
	gen, err := plan.Fit(ctx, train)
	if err != nil {
		return 0, err
	}
	m := gen.Model().(*mix.Model)
	net, err := models.CNN{Height: digits.Side, Width: digits.Side, Channels: 1, Hidden: []int{64},
		Convolutions: []models.Convolution{
			{Maps: 16, Size: 5, Stride: 2, Pad: 2}, {Maps: 32, Size: 5, Stride: 2,
				Pad: 2}}}.Classifier(device.CPU(), test.Schema().Dim(), 10, 1)
	if err != nil {
		return 0, err
	}
	wide := records.Interval(test.Schema().Dim(), -math.MaxFloat32, math.MaxFloat32)
	if err := (mix.Trainer{Seed: 1}).Fit(ctx, net, mix.Project(m.Whiten(), wide)); err != nil {
		return 0, err
	}
	seen, err := m.Prepared(test)
	if err != nil {
		return 0, err
	}
	return images.Accuracy(seen, net.PredictClass), nil
}
