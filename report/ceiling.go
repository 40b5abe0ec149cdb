package report

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/report/tabular"
	"github.com/seed7ba64551/privgen/synth"
)

// ceiling computes how similar two independent releases of the same records are.
func (m *maker) ceiling(ctx context.Context) error {
	const section = "noise ceiling"
	if !m.tabular() {
		m.omit(section, "it compares columns, and these records have none")
		return nil
	}
	out := &Ceiling{Sampling: none, Noise: none, NoiseStd: none, Second: none, Bins: m.set.Bins,
		Columns: len(m.fake.Columns()), Records: m.fake.Len()}
	if m.in.Generator != nil {
		var draws [2]*tabular.Table
		for i := range draws {
			d, err := m.in.Generator.Sample(ctx, m.fake.Len(), synth.Seed(m.set.Seed+uint64(8+i)),
				synth.Unidentified())
			if err != nil {
				return err
			}
			if draws[i], err = tabular.Read(d, nil); err != nil {
				return err
			}
		}
		out.Sampling = m.alikeness(draws[0], draws[1])
	}
	if err := m.noise(out); err != nil {
		return err
	}
	if m.in.Second != nil {
		second, err := tabular.Read(m.in.Second, some(m.in.Second, m.set.Rows, m.set.Seed+10))
		if err != nil {
			return err
		}
		out.Second = m.alikeness(m.fake, second)
	}
	if out.Sampling.IsNone() && out.Noise.IsNone() && out.Second.IsNone() {
		m.omit(section, "neither a generator nor a guarantee with a finite ε and a positive δ was given")
		return nil
	}
	m.out.Ceiling = out
	return nil
}

// alikeness returns the mean TVComplement of the histograms of two tables. Missing values count as
// a level.
func (m *maker) alikeness(a, b *tabular.Table) Number {
	p, q := a.Histograms(m.set.Bins), b.Histograms(m.set.Bins)
	sum := 0.0
	for j := range p {
		apart := math.Abs(p[j].Missing - q[j].Missing)
		for i := range p[j].Shares {
			apart += math.Abs(p[j].Shares[i].Part - q[j].Shares[i].Part)
		}
		sum += (1 - apart/2) / float64(len(p))
	}
	return Number(sum)
}

// noise returns the expected distance of two releases if each is the simplest one: a Gaussian
// release of all histograms that spends the whole budget.
//
// A record is in one cell of each of d columns. The L2 sensitivity of all counts is therefore √d if
// a record is added or removed, and √(2d) if it is replaced. The noise on a count has standard
// deviation s = multiplier × sensitivity. Two releases differ in each of a column's L cells by a
// normal number of standard deviation √2·s. Its absolute value has mean 2s/√π. So for n records the
// expected total variation distance is ½·L·2s/(√π·n) = L·s/(√π·n), before any correction of the
// counts.
func (m *maker) noise(out *Ceiling) error {
	n := float64(0)
	switch {
	case m.in.Real != nil:
		n = float64(m.units)
	case m.in.Fidelity != nil:
		n = m.in.Fidelity.Records
	}
	g := m.guarantee
	if g == nil || n < 1 || !(g.Epsilon > 0) || math.IsInf(g.Epsilon, 1) ||
		g.Delta < accountant.MinDelta {
		return nil
	}
	z, _, err := accountant.CalibrateNoise(
		accountant.Budget{Epsilon: g.Epsilon, Delta: g.Delta, Relation: g.Relation},
		func(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} })
	if err != nil {
		return err
	}
	columns := m.fake.Histograms(m.set.Bins)
	sensitivity := math.Sqrt(float64(len(columns)))
	if g.Relation == accountant.ReplaceOne {
		sensitivity *= math.Sqrt2
	}
	std := z * sensitivity
	sum := 0.0
	for _, c := range columns {
		cells := len(c.Shares)
		if c.HasMissing {
			cells++
		}
		alike := 1 - min(1, float64(cells)*std/(math.Sqrt(math.Pi)*n))
		sum += alike / float64(len(columns))
	}
	out.Noise, out.NoiseStd = Number(sum), Number(std)
	return nil
}
