package gan

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Marginals describes a release before training: the distribution of every column's values in every
// class of a table. The paper has no such stage. The use of the distributions is post-processing.
// Both networks see a number as its rank in the released distribution of all classes together.
// Classes are generated with the released frequencies. The generator starts at the released
// distributions. After training, its output is adjusted to them: levels by shifting their logits,
// numbers by their ranks. Critic steps then only have to learn the dependence between columns.
//
// Guarantee: one Gaussian release with NoiseMultiplier. A record counts in one cell of every column
// of its class. With m columns, the counts have sensitivity √m under add-or-remove-one and √(2m)
// under replace-one.
type Marginals struct {
	// Share is the cost of this stage alone, as a fraction of ε, if Plan chooses the noise.
	Share           float64 `json:"share,omitempty"`
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"` // 0 to calibrate it
	// Bins is the number of bins of a number, without the cells of its two ends; 0 means 64.
	Bins int `json:"bins,omitempty"`
	// Off switches the release off, even if Nominal is set.
	Off bool `json:"-"`
}

// PurposeMarginals is the name of the stage that releases the distributions of columns, and the
// purpose of its ledger entry.
const PurposeMarginals = "marginals"

const (
	defaultBins = 64
	mostBins    = 1 << 12
)

func (m *Marginals) bins() int {
	if m.Bins == 0 {
		return defaultBins
	}
	return m.Bins
}

func (c Config) validateMarginals(k *param.Checker) {
	if c.Marginals == nil {
		return
	}
	m := *c.Marginals
	const path = "gan.Marginals."
	if m.NoiseMultiplier == 0 {
		k.OK(m.Share > 0 && m.Share < 1, path+"Share", m.Share,
			"the fraction of ε for the distributions, in (0, 1), or a NoiseMultiplier instead")
	} else {
		k.OK(m.Share == 0, path+"Share", m.Share,
			"zero if NoiseMultiplier is given")
		k.OK(mechanism.IsNoiseMultiplier(m.NoiseMultiplier), path+"NoiseMultiplier",
			m.NoiseMultiplier, "a positive number, at most 2^24, or 0 to calibrate it")
	}
	k.OK(m.Bins >= 0 && m.Bins <= mostBins, path+"Bins", m.Bins,
		"a number of bins up to 4096, or 0 for the default")
	k.OK(c.Schema.Kind() == records.MixedTable, "gan.Config.Marginals", c.Schema.String(),
		"nil, because only tables have marginals")
	k.OK(c.WarmSteps == 0, "gan.Config.WarmSteps", c.WarmSteps,
		"zero, because with Marginals the generator starts at the released distributions")
}

func (m *Marginals) stage() synth.Stage {
	return synth.Stage{Purpose: PurposeMarginals, Count: 1, Once: true,
		Event:           accountant.Gaussian{NoiseMultiplier: m.NoiseMultiplier},
		NoiseMultiplier: m.NoiseMultiplier}
}

// calibrateMarginals sets the noise multiplier of Marginals from its share of ε.
func (c *Config) calibrateMarginals() error {
	if c.Marginals == nil || c.Marginals.NoiseMultiplier != 0 {
		return nil
	}
	z, _, err := accountant.CalibrateShare(c.Budget, c.Marginals.Share,
		func(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} })
	if err != nil {
		return err
	}
	c.Marginals = &Marginals{NoiseMultiplier: z, Bins: c.Marginals.Bins}
	return nil
}

// marginalSums holds the private counts of the release: for every class, the counts of the cells of
// every column.
type marginalSums struct {
	cells   cells
	classes int
	persons bool // rows count with weights
	std     float64
	sum     *mechanism.FixedSum
}

// newMarginalSums returns counts that are not allocated yet, with their noise. A record adds 1 to
// one cell of each of m columns.
func newMarginalSums(c Config) *marginalSums {
	m := &marginalSums{cells: newCells(c.Schema, c.Marginals.bins()), classes: max(c.classes(), 1),
		persons: c.Schema.RowsPerPerson() > 0}
	sensitivity := math.Sqrt(float64(len(m.cells.columns))) *
		mechanism.HistogramSensitivity(c.Budget.Relation)
	m.std = c.Marginals.NoiseMultiplier * sensitivity
	return m
}

func (m *marginalSums) size() int { return m.classes * m.cells.total }

// add counts every record once in each column of its class. Each row of a person counts with its
// weight; see records.RowsOf.
func (m *marginalSums) add(ctx context.Context, data records.Data) error {
	m.sum = mechanism.NewFixedSum(m.size(), mechanism.CountGrid(m.std, m.persons))
	data, shares := records.RowsOf(data)
	return network.EachBatch(ctx, data, marginalChunk, func(lo int, b device.Batch) {
		for i := range b.Rows {
			class := 0
			if b.Labels != nil && int(b.Labels[i]) > 0 && int(b.Labels[i]) < m.classes {
				class = int(b.Labels[i])
			}
			row := b.Dense.Row(i)
			for _, col := range m.cells.columns {
				m.sum.AddShare(class*m.cells.total+col.first+col.cell(row), shares.Of(lo+i))
			}
		}
	})
}

const marginalChunk = 4096

// marginals releases the distributions, or reads them from the checkpoint.
func (r *run) marginals(ctx context.Context) error {
	if r.config.Marginals == nil {
		return nil
	}
	m := newMarginalSums(r.config)
	noisy, err := r.Once(PurposeMarginals, []int{m.size()},
		func() (float64, []mechanism.Part, error) {
			err := m.add(ctx, r.Data)
			return 1 / r.config.Marginals.NoiseMultiplier, []mechanism.Part{{Sum: m.sum, Std: m.std}}, err
		})
	if err != nil {
		return err
	}
	r.Report(PurposeMarginals, 1, 1)
	r.told = newDistributions(m.cells, m.classes, noisy[0], m.std*r.Wider(PurposeMarginals))
	r.weigh(r.told.proportions)
	r.critics.unit.ranks = r.told
	if r.learner.drawn != nil {
		r.learner.drawn.told = r.told
	}
	return nil
}

// weigh sets the probabilities of classes to the released proportions, unless the configuration has
// ClassWeights.
func (r *run) weigh(proportions []float64) {
	if r.config.ClassWeights != nil || r.config.classes() == 0 {
		return
	}
	r.config.ClassWeights = proportions
	r.critics.fakes.Choice = choiceOf(r.config, proportions)
	r.learner.maker.Choice = choiceOf(r.config, proportions)
}

// distributions holds the released distributions, as probabilities.
type distributions struct {
	cells       cells
	proportions []float64   // of classes
	of          [][]float64 // by class: probabilities of cells, column after column
	pooled      []float64   // probabilities of cells in all classes together
}

// newDistributions estimates distributions from noisy counts. The counts of each column add up to
// the number of the class's records. Every column thus gives an estimate of this number, and
// columns with fewer cells give more accurate estimates. The size of the class is the weighted mean
// of the estimates.
func newDistributions(l cells, classes int, noisy []float64, std float64) *distributions {
	d := &distributions{cells: l, pooled: make([]float64, l.total)}
	sizes := make([]float64, classes)
	for c := range classes {
		own := noisy[c*l.total : (c+1)*l.total]
		p := make([]float64, l.total)
		sum, weight := 0.0, 0.0
		for _, col := range l.columns {
			part := own[col.first : col.first+col.n]
			for _, v := range part {
				sum += v / float64(col.n)
			}
			weight += 1 / float64(col.n)
			copy(p[col.first:], defaults.ShrinkCounts(part, std))
			defaults.NormaliseCounts(p[col.first : col.first+col.n])
		}
		d.of = append(d.of, p)
		sizes[c] = max(sum/weight, std/math.Sqrt(weight), 1)
	}
	d.proportions = sizes
	defaults.NormaliseCounts(d.proportions)
	for c, p := range d.of {
		for j, v := range p {
			d.pooled[j] += d.proportions[c] * v
		}
	}
	return d
}
