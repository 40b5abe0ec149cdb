package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// synthesiser is one line of the table.
type synthesiser struct {
	name string
	fit  func(context.Context, accountant.Budget, records.Data, uint64) (fitted, error)
}

// fitted is the result of a fit.
type fitted struct {
	bill      string
	paper     string
	guarantee ledger.Guarantee
	sample    func(ctx context.Context, n int, seed uint64) (records.Data, error)
}

func (c config) choose(s records.Schema) (list []synthesiser) {
	if slices.Contains(c.methods, "dpgm") && c.defaults {
		list = append(list, synthesiser{"DPGM", c.dpgm(s, 0)})
	} else if slices.Contains(c.methods, "dpgm") {
		for _, k := range c.clusters {
			list = append(list, synthesiser{fmt.Sprintf("DPGM, k = %d", k), c.dpgm(s, k)})
		}
	}
	add := func(flag, name string, plan func(sets.Common) (synth.PassProgram, error)) {
		if slices.Contains(c.methods, flag) {
			list = append(list, synthesiser{name, c.baseline(s, plan)})
		}
	}
	add("items", "independent items", func(b sets.Common) (synth.PassProgram, error) {
		if !c.defaults {
			b.MaxItems = c.cut
		}
		return sets.Independent{Common: b}.Plan()
	})
	add("mwem", "MWEM", func(b sets.Common) (synth.PassProgram, error) {
		return sets.MWEM{Common: b}.Plan()
	})
	return list
}

func (c config) baseline(s records.Schema,
	plan func(sets.Common) (synth.PassProgram, error)) func(context.Context, accountant.Budget,
	records.Data, uint64) (fitted, error) {
	return func(ctx context.Context, b accountant.Budget, data records.Data,
		seed uint64) (fitted, error) {
		common := sets.Common{Schema: s, Budget: b, Seed: seed}
		if c.defaults {
			common.Nominal = c.nominal
		}
		p, err := plan(common)
		if err != nil {
			return fitted{}, err
		}
		g, err := p.Fit(ctx, data)
		if err != nil {
			return fitted{}, err
		}
		return fitted{bill: p.String(), guarantee: g.Guarantee(), sample: drawn(g)}, nil
	}
}

// dpgm returns the library's own system.
func (c config) dpgm(s records.Schema, k int) func(context.Context, accountant.Budget, records.Data,
	uint64) (fitted, error) {
	return func(ctx context.Context, b accountant.Budget, data records.Data,
		seed uint64) (fitted, error) {
		p, err := c.chain(s, b, k, seed).Plan()
		if err != nil {
			return fitted{}, err
		}
		meter := program.NewMeter()
		g, err := p.Fit(ctx, data, privgen.OnProgress(meter.Show))
		if err != nil {
			return fitted{}, err
		}
		paper, err := c.printed(p, b)
		return fitted{bill: p.String(), paper: paper, guarantee: g.Guarantee(), sample: drawn(g)}, err
	}
}

func drawn(g *privgen.Generator) func(context.Context, int, uint64) (records.Data, error) {
	return func(ctx context.Context, n int, seed uint64) (records.Data, error) {
		return g.Sample(ctx, n, privgen.Seed(seed))
	}
}

// chain returns the run as a chain of the library.
func (c config) chain(s records.Schema, b accountant.Budget, k int, seed uint64) privgen.DPGMChain {
	if c.defaults {
		return privgen.DPGM(s, b).Nominal(c.nominal).Seed(seed)
	}
	q := min(c.batch/float64(c.nominal), 1)
	steps := or(c.steps, c.epochs*int(math.Ceil(1/q)))
	train := sgd.Config{ClipNorm: c.clip, SamplingProbability: q, Steps: steps,
		Optimizer: sgd.Adam(c.rate(steps))}
	chain := privgen.DPGM(s,
		b).Model(models.VAE{Hidden: []int{c.hidden}, Latent: c.latent, Activation: models.ReLU}).Train(
		train).Average(c.average).Seed(seed)
	if c.marginals > 0 {
		chain = chain.Marginals(dpgm.Marginals{Share: c.marginals, ClipNorm: math.Sqrt(float64(c.cut))})
	}
	if k == 1 {
		return chain.Cluster(kmeans.Config{K: 1})
	}
	if c.features > 0 {
		chain = chain.Features(rff.RBF{Dim: c.features, Bandwidth: c.bandwidth})
	}
	return chain.Cluster(kmeans.Config{K: k, Iterations: c.iterations, Share: c.share,
		Small: kmeans.SplitLargest})
}

// rate returns the learning rate of a run of the given number of steps. With Adam the noise is a
// random walk with steps of constant size. Beyond 1,000 steps the rate therefore falls with the
// square root of the number of steps, which keeps the length of the walk constant.
func (c config) rate(steps int) float64 { return c.lr * math.Sqrt(min(1000/float64(steps), 1)) }
