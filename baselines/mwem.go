package baselines

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// MWEM is multiplicative weights with the exponential mechanism, over the domain and for the workload that the package's documentation fixes.
//
// Guarantee: Rounds exponential mechanisms, and one Laplace release more than Rounds, all of the same ε. A counting query changes by at most 1
// whether a record comes, goes or is replaced, so the same noise serves both relations; MaxItems defaults to 12.
//
// Source: Hardt, Ligett and McSherry, "A Simple and Practical Algorithm for Differentially Private Data Release", 2012, with the
// measurements used repeatedly, as its section on optimisations has it.
type MWEM struct {
	Common
	Rounds  int // 0 for 50
	Domain  int // sets drawn where there are too many to list; 0 for 32,768
	Queries int // of the workload; 0 for 1,000
}

const (
	mwemMaxItems = 12
	mwemRounds   = 50
	mwemDomain   = 1 << 15
	mwemQueries  = 1000
	mwemClasses  = 5
	mwemSweeps   = 10
	listedDomain = 1 << 17 // a domain of no more sets than this is listed whole
)

// Plan finds the noise and adds up the bill.
//
// Errors: *param.Error, joined.
func (c MWEM) Plan() (*Plan, error) {
	errs := c.validate()
	for _, f := range []struct {
		name        string
		value, most int
	}{{"Rounds", c.Rounds, 1 << 16}, {"Domain", c.Domain, 1 << 22}, {"Queries", c.Queries, 1 << 16}} {
		if f.value < 0 || f.value > f.most {
			errs = append(errs, &param.Error{Path: "baselines.MWEM." + f.name, Value: f.value, Want: "a positive number, 0 for the default"})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	c.MaxItems = min(orDefault(c.MaxItems, mwemMaxItems), c.Schema.MaxItems())
	c.Rounds, c.Domain, c.Queries = orDefault(c.Rounds, mwemRounds), orDefault(c.Domain, mwemDomain), orDefault(c.Queries, mwemQueries)
	return newPlan(mwem{c})
}

type mwem struct{ MWEM }

func (m mwem) name() string   { return "MWEM" }
func (m mwem) common() Common { return m.Common }

// stages spend ε = 1/noise on every choice and on every measurement.
func (m mwem) stages(noise float64) []Stage {
	return []Stage{
		{"MWEM choices", accountant.ExponentialMechanism{Epsilon: 1 / noise}, m.Rounds},
		{"MWEM measures", accountant.Laplace{Scale: noise}, m.Rounds + 1},
	}
}

func (m mwem) fit(ctx context.Context, data records.Data, noise float64, next func(int) (*mechanism.Grant, error)) (sampler, error) {
	w := m.workload()
	truth, rows, err := w.answers(ctx, data, m.MaxItems)
	if err != nil {
		return nil, err
	}
	r := rounds{truth: truth, scores: make([]int64, len(truth)), noise: noise, next: next}
	n, err := r.measure(rows)
	if err != nil {
		return nil, err
	}
	r.weights = newWeights(m.domain(), w, max(n, 1))
	for range m.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.round(); err != nil {
			return nil, err
		}
	}
	return r.weights, nil
}

// rounds learn from true answers, which are private; choices and measurements are all that leaves.
type rounds struct {
	truth, scores []int64
	weights       *weights
	noise         float64
	next          func(stage int) (*mechanism.Grant, error)
}

// round measures the query that is answered worst.
func (r *rounds) round() error {
	for q, t := range r.truth {
		r.scores[q] = distance(t, r.weights.answer(q))
	}
	grant, err := r.next(0)
	if err != nil {
		return err
	}
	q, err := grant.Exponential(r.scores)
	if err != nil {
		return err
	}
	value, err := r.measure(r.truth[q])
	if err != nil {
		return err
	}
	r.weights.learn(q, value)
	return nil
}

func (r *rounds) measure(count int64) (float64, error) {
	grant, err := r.next(1)
	if err != nil {
		return 0, err
	}
	return measured(grant, count, r.noise)
}

// distance is a whole number that changes by at most 1 with the true count, since the answer is rounded by itself.
func distance(truth int64, answer float64) int64 {
	d := truth - int64(math.Round(min(max(answer, -1e15), 1e15)))
	return max(d, -d)
}

// measured is one count with Laplace noise of the event's scale. The grid is fine beside the noise, divides 1, and leaves
// room for counts of two thousand million times the scale.
func measured(g *mechanism.Grant, count int64, scale float64) (float64, error) {
	sum := mechanism.NewFixedSum(1, min(mechanism.GridFor(scale)*(1<<18), 1))
	sum.AddInt(0, count)
	out := make([]float64, 1)
	err := g.Laplace(1/scale, mechanism.Part{Sum: sum, Std: scale, Out: out})
	return out[0], err
}

// domain lists or draws the possible records: public.
func (m mwem) domain() [][]uint32 {
	universe := m.Schema.Dim()
	if setsUpTo(universe, m.MaxItems) <= listedDomain {
		return listSets(universe, m.MaxItems)
	}
	rng := rand.New(rand.NewPCG(m.Seed, 0x6d77656d))
	out := make([][]uint32, m.Domain)
	for i := range out {
		out[i] = drawSet(rng, universe, min(1+rng.IntN(m.MaxItems), universe))
	}
	return out
}

// setsUpTo counts the subsets of at most k of n items, or says more than listedDomain.
func setsUpTo(n, k int) int {
	total, choose := 1, 1
	for i := range min(k, n) {
		choose = choose * (n - i) / (i + 1)
		if total += choose; total > listedDomain {
			return listedDomain + 1
		}
	}
	return total
}

func listSets(n, k int) [][]uint32 {
	out := [][]uint32{nil}
	for lo, size := 0, 0; size < k && lo < len(out); size++ {
		hi := len(out)
		for _, set := range out[lo:hi] {
			first := uint32(0)
			if len(set) > 0 {
				first = set[len(set)-1] + 1
			}
			for item := first; item < uint32(n); item++ {
				out = append(out, append(set[:len(set):len(set)], item))
			}
		}
		lo = hi
	}
	return out
}
