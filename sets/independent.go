package sets

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Independent releases the number of records with each item, in one Gaussian release, and draws
// items independently.
//
// Guarantee: one Gaussian release of effect 1/noise multiplier. The counts have sensitivity
// √MaxItems under add-or-remove-one and √(2·MaxItems) under replace-one. MaxItems defaults to the
// schema's.
type Independent struct{ Common }

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c Independent) Plan() (synth.PassProgram, error) {
	if err := c.validate().Err(); err != nil {
		return synth.PassProgram{}, err
	}
	return newPlan(independent{c.chosen(0)})
}

type independent struct{ Common }

func (m independent) name() string   { return nameIndependent }
func (m independent) title() string  { return "Independent" }
func (m independent) common() Common { return m.Common }
func (m independent) config() any    { return setJSON{MaxItems: m.MaxItems} }

func (m independent) stages(noise float64) []synth.Stage {
	return []synth.Stage{{Purpose: purposeItems,
		Event: accountant.Gaussian{NoiseMultiplier: noise}, Count: 1,
		NoiseMultiplier: noise, Once: true}}
}

func (m independent) counts() itemCounts {
	return itemCounts{schema: m.Schema,
		dim: m.Schema.Dim(), limit: cmp.Or(m.MaxItems, m.Schema.MaxItems()),
		relation: m.Budget.Relation}
}

func (m independent) drawable(noise float64) bool { return m.counts().drawable(noise) }

func (m independent) passes() []string { return []string{purposeItems} }

func (m independent) counter(p synth.Pass, noise float64) (*cutCounter, error) {
	if p.Purpose != purposeItems || p.State != nil {
		return nil, noPass(m, p)
	}
	return m.counts().counter(noise), nil
}

func (m independent) fit(ctx context.Context, r *synth.Run, noise float64) (sampler, error) {
	perItem, n, err := m.counts().release(ctx, r, noise)
	if err != nil {
		return nil, err
	}
	for i := range perItem {
		perItem[i] /= n
	}
	return independentItems(perItem), nil
}

// independentItems has the probability of each item.
type independentItems []float64

func (p independentItems) draw(rng *rand.Rand, n int) [][]uint32 {
	rows := make([][]uint32, n)
	for item, q := range p {
		eachHit(rng, q, n, func(i int) { rows[i] = append(rows[i], uint32(item)) })
	}
	return rows
}

// eachHit calls hit for each of n places with probability p, independently. Its time is
// proportional to the number of calls.
func eachHit(rng *rand.Rand, p float64, n int, hit func(int)) {
	switch {
	case !(p > 0):
		return
	case p >= 1:
		for i := range n {
			hit(i)
		}
		return
	}
	rate := -math.Log1p(-p)
	for at := rng.ExpFloat64() / rate; at < float64(n); at = math.Floor(at) + 1 +
		rng.ExpFloat64()/rate {
		hit(int(at))
	}
}

// PlanFor implements [synth.Design].
func (c Independent) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}
