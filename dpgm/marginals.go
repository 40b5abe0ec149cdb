package dpgm

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// Marginals describes a release before training: for each cluster, how often each coordinate is 1
// and how many ones records have. The papers have no such stage. The output biases of every network
// are set to these frequencies before training and again after it. The logits of every synthetic
// record are shifted by a random number. The distribution of the shift is chosen such that records
// have the released distribution of the number of ones. Draws are steered: a coordinate or a size
// that the previous records of a draw have too rarely becomes more likely. The frequencies and
// sizes of a draw are therefore closer to the released ones than those of independent records would
// be. Training then only has to learn co-occurrence, because frequencies and sizes are released far
// more accurately than noisy gradients could learn them.
//
// Guarantee: one Gaussian release with NoiseMultiplier. A record of norm above ClipNorm is scaled
// down to ClipNorm, so the sums over the records of each cluster have sensitivity ClipNorm under
// add-or-remove-one. Under replace-one they have √2 times that sensitivity, because no coordinate
// is negative, even if the record changes its cluster. A record counts once in the histogram of
// sizes and once in the number of records of its cluster. Each of these has sensitivity 1, or √2
// under replace-one. They use the fractions sizePart and countPart of the squared effect.
type Marginals struct {
	// Share is the fraction of ε for this stage, if Plan chooses the noise.
	Share float64 `json:"share,omitempty"`
	// NoiseMultiplier is the noise multiplier of the joint release; 0 means that Plan calibrates it.
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"`
	// ClipNorm is the largest norm of a record's contribution. 0 means the schema's largest norm, with
	// which no record is scaled down.
	ClipNorm float64 `json:"clip_norm,omitempty"`
	// Off switches the stage off, even if Nominal is set.
	Off bool `json:"-"`
}

// countPart and sizePart are the fractions of the squared effect that the numbers of records of the
// clusters and the sizes of records use.
const (
	countPart = 0.03
	sizePart  = 0.07
)

// PurposeMarginals is the name of the stage that releases frequencies and sizes, and the purpose of
// its ledger entry.
const PurposeMarginals = "marginals"

func (c Config) checkMarginals(k *param.Checker) {
	if c.Marginals == nil {
		return
	}
	m := *c.Marginals
	const path = "dpgm.Marginals."
	switch {
	case m.NoiseMultiplier == 0:
		k.OK(m.Share > 0 && m.Share < 1, path+"Share", m.Share,
			"the fraction of ε for the frequencies, in (0, 1), or a NoiseMultiplier instead")
		k.OK(!(m.Share+c.Cluster.Share >= 1), path+"Share", m.Share,
			"a fraction that leaves some of ε to training")
	default:
		k.OK(m.Share == 0, path+"Share", m.Share, "zero if NoiseMultiplier is given")
		k.OK(mechanism.IsNoiseMultiplier(m.NoiseMultiplier), path+"NoiseMultiplier",
			m.NoiseMultiplier, "a positive number, at most 2^24, or 0 to calibrate it")
	}
	k.OK(m.ClipNorm == 0 || m.ClipNorm >= 1 && m.ClipNorm <= 1<<20, path+"ClipNorm", m.ClipNorm,
		"a norm from 1 to 2^20, or 0 for the schema's largest norm")
	k.OK(c.Schema.IsBinary(), path+"Schema", c.Schema.String(),
		"binary records or sets, whose coordinates are 0 or 1")
}

func (m Marginals) event(noiseMultiplier float64) accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: noiseMultiplier}
}

// clip returns the largest norm of a record's contribution.
func (m Marginals) clip(s records.Schema) float64 {
	if m.ClipNorm == 0 {
		return s.MaxNorm()
	}
	return min(m.ClipNorm, s.MaxNorm())
}

// marginals releases the marginals and initialises the networks with the frequencies.
func (r *run) marginals(ctx context.Context) error {
	c := r.config
	if c.Marginals == nil {
		return nil
	}
	m := newMarginalSums(c)
	noisy, err := r.Once(PurposeMarginals, m.lengths(), func() (float64, []mechanism.Part, error) {
		if err := r.route(ctx); err != nil {
			return 0, nil, err
		}
		m.allocate()
		return 1 / m.NoiseMultiplier, m.parts(), m.add(ctx, r.Data, r.assigned)
	})
	if err != nil {
		return err
	}
	r.Report(PurposeMarginals, 1, 1)
	r.told = m.read(noisy[0], noisy[1], noisy[2])
	for i, f := range r.told {
		// Config.validate has checked that networks are MarginalSetters.
		r.nets[i].(models.MarginalSetter).SetMarginals(f.frequencies, nil)
	}
	return nil
}

// marginalSums holds the private numbers of the release.
type marginalSums struct {
	Marginals
	schema                    records.Schema
	k                         int
	sumStd, countStd, sizeStd float64
	bins                      sizeBins

	sums, counts, sizes *mechanism.FixedSum // nil until allocate is called
	row                 []int               // the coordinates of a record that are 1
}

func newMarginalSums(c Config) *marginalSums {
	m := &marginalSums{Marginals: *c.Marginals, schema: c.Schema, k: c.Cluster.K}
	m.spread(c.Budget.Relation)
	return m
}

// spread divides the squared effect among sums, counts and sizes.
func (m *marginalSums) spread(r accountant.Relation) {
	z, sensitivity := m.NoiseMultiplier, m.clip(m.schema)*mechanism.HistogramSensitivity(r)
	m.bins = newSizeBins(m.schema)
	m.sumStd = z * sensitivity / math.Sqrt(1-countPart-sizePart)
	m.sizeStd = z * mechanism.HistogramSensitivity(r) / math.Sqrt(sizePart)
	m.countStd = z * mechanism.HistogramSensitivity(r) / math.Sqrt(countPart)
}

// lengths returns the lengths of the sums, the counts and the sizes.
func (m *marginalSums) lengths() []int {
	return []int{m.k * m.schema.Dim(), m.k, m.k * len(m.bins)}
}

func (m *marginalSums) allocate() {
	n := m.lengths()
	m.sums = mechanism.NewFixedSum(n[0], mechanism.GridFor(m.sumStd))
	persons := m.schema.RowsPerPerson() > 0
	m.counts = mechanism.NewFixedSum(n[1], mechanism.CountGrid(m.countStd, persons))
	m.sizes = mechanism.NewFixedSum(n[2], mechanism.CountGrid(m.sizeStd, persons))
}

// parts returns the parts of the joint release.
func (m *marginalSums) parts() []mechanism.Part {
	return []mechanism.Part{{Sum: m.sums, Std: m.sumStd}, {Sum: m.counts, Std: m.countStd},
		{Sum: m.sizes, Std: m.sizeStd}}
}

func (m *marginalSums) add(ctx context.Context, data records.Data, assigned []int32) error {
	rows, shares := records.RowsOf(data)
	return network.EachBatch(ctx, rows, routeChunk, func(lo int, b device.Batch) {
		for i := range b.Rows {
			cluster := 0
			if assigned != nil {
				cluster = int(assigned[lo+i])
			}
			m.addRow(b, i, cluster, shares.Of(lo+i))
		}
	})
}

// addRow adds row i of a batch. It counts each coordinate at most once, even if user-defined data
// return an item twice. Rows of persons have weights; see records.RowsOf.
func (m *marginalSums) addRow(b device.Batch, i, cluster int, share float64) {
	m.row = m.row[:0]
	if b.Sparse == nil {
		for j, v := range b.Dense.Row(i) {
			if v >= 0.5 {
				m.row = append(m.row, j)
			}
		}
	} else {
		last := -1
		for _, item := range b.Sparse.Row(i) {
			if int(item) > last && int(item) < m.schema.Dim() {
				last = int(item)
				m.row = append(m.row, last)
			}
		}
	}
	m.counts.AddShare(cluster, share)
	m.sizes.AddShare(cluster*len(m.bins)+m.bins.of(len(m.row)), share)
	one, scale := []float32{1}, share*m.scale(len(m.row))
	for _, j := range m.row {
		m.sums.AddRowAt(cluster*m.schema.Dim()+j, one, scale)
	}
}

// scale returns the factor that scales a record with the given number of ones down to the clip
// norm, or 1 if the record does not exceed it. ClipFactor would make such a record slightly
// shorter.
func (m *marginalSums) scale(ones int) float64 {
	clip := m.clip(m.schema)
	if float64(ones) <= clip*clip {
		return 1
	}
	return mechanism.ClipFactor(float64(ones), clip)
}

// marginal holds the released marginals of one cluster.
type marginal struct {
	frequencies []float64 // of each coordinate
	sizes       []float64 // the fraction of records in each bin of sizes
	bins        sizeBins
}

// read computes the marginals of every cluster from noisy sums, counts and sizes.
func (m *marginalSums) read(sums, totals, sizes []float64) []marginal {
	dim, bins := m.schema.Dim(), len(m.bins)
	out := make([]marginal, m.k)
	for c := range out {
		out[c] = marginal{
			frequencies: defaults.ShrinkCounts(sums[c*dim:(c+1)*dim], m.sumStd),
			sizes:       defaults.ShrinkCounts(sizes[c*bins:(c+1)*bins], m.sizeStd),
			bins:        m.bins,
		}
		m.bins.continued(out[c].sizes, sizes[c*bins:(c+1)*bins], m.sizeStd)
		defaults.NormaliseCounts(out[c].sizes)
		total := max(totals[c], m.countStd, clusterFloor)
		for j, n := range out[c].frequencies {
			out[c].frequencies[j] = min(n/total, 1)
		}
		m.restore(out[c].frequencies, out[c].sizes)
	}
	return out
}
