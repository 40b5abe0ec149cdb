package compose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Pool runs several systems on one ledger, each on a part of the budget, and draws records from all
// of them, in random order.
//
//	compose.Pool{Of: []synth.Design{
//		tables.AIM{Common: tables.Common{Nominal: n}},
//		merf.Config{Nominal: n},
//	}}
//
// Systems make different errors. The model of AIM keeps chosen tables of two or three columns and
// misses other dependencies; a network that learns mean features keeps some of all dependencies and
// blurs them. In a pool the errors of one system are diluted by the other's records, and the noise
// of two releases is independent. This is often worth more than the budget that each system lacks.
//
// Guarantee: each system depends on the records only through its own releases. The share of a
// system among the synthetic records is public.
type Pool struct {
	// Of holds the systems, two to eight. Each gets an equal part of the budget; see [Fixed]. Two
	// generators of one system need seeds of their own.
	Of []synth.Design
	// Shares holds the part of the synthetic records that comes from each system, as positive numbers
	// of any sum; nil means equal parts. The part of the budget does not depend on it.
	Shares []float64
}

const (
	leastPooled = 2
	mostPooled  = 8
)

func poolKind() kind {
	return kind{name: "pool", config: "compose.Pool", of: "Of", level: joinLevel, least: leastPooled,
		most: mostPooled, design: readPool, release: readPooled}
}

// PlanFor finds the budgets of all systems and prices all stages together. It reads no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of the systems;
// accountant.ErrBudgetExceeded.
func (c Pool) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	k := poolKind().begin(s, b, c.Of)
	if c.checkShares(&k, len(c.Of)); k.Err() != nil {
		return nil, k.Err()
	}
	return planOf(pooling{s, c.shares()}, s, b, c.Of)
}

// checkShares checks the shares of n systems.
func (c Pool) checkShares(k *param.Checker, n int) {
	if c.Shares == nil {
		return
	}
	k.OK(len(c.Shares) == n, "compose.Pool.Shares", c.Shares, "one number for each system, or nil")
	sum := 0.0
	for i, share := range c.Shares {
		sum += share
		k.OK(share > 0, fmt.Sprintf("compose.Pool.Shares[%d]", i), share, "a positive number")
	}
	k.OK(!math.IsInf(sum, 0), "compose.Pool.Shares", c.Shares, "numbers of a finite sum")
	for i, share := range c.Shares {
		k.OK(!(share > 0) || math.IsInf(sum, 0) || share/sum > 0,
			fmt.Sprintf("compose.Pool.Shares[%d]", i), share, "a number whose part of the sum is not 0")
	}
}

// shares returns the parts of the systems, with sum 1 up to rounding. Shares of such a sum stay as
// they are, so that a plan read from a file is the plan that was written.
func (c Pool) shares() []float64 {
	out, sum := make([]float64, len(c.Of)), 0.0
	for i := range out {
		if out[i] = 1; c.Shares != nil {
			out[i] = c.Shares[i]
		}
		sum += out[i]
	}
	if math.Abs(sum-1) < 1e-12 {
		return out
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// A pooling is a pool of records of a schema. Its shares have the sum 1, up to rounding.
type pooling struct {
	schema records.Schema
	shares []float64
}

func (c pooling) kind() kind                                 { return poolKind() }
func (c pooling) reads(int) records.Schema                   { return c.schema }
func (c pooling) view(_ int, data records.Data) records.Data { return data }
func (c pooling) stages() (before, after []synth.Stage)      { return nil, nil }
func (c pooling) types() []any                               { return nil }

func (c pooling) title(of []string) string {
	return fmt.Sprintf("pool of %s, %v", strings.Join(of, " and "), c.schema)
}

func (c pooling) notes(of []synth.Plan) (notes []string) {
	for i, p := range of {
		notes = append(notes, fmt.Sprintf("%d %s: draws %.3g %% of the synthetic records", i+1,
			p.System(), 100*c.shares[i]))
	}
	return notes
}

// fit carries out one system after the other. No system sees a result of another one.
func (c pooling) fit(ctx context.Context, r *run) (*model, error) {
	for i := range r.frame.plans {
		if _, err := r.part(ctx, i, r.Data); err != nil {
			return nil, err
		}
	}
	return r.model(pooled{c.shares}), nil
}

type poolJSON struct {
	Shares []float64 `json:"shares"`
}

func (c pooling) settings() (any, error) { return poolJSON{c.shares}, nil }

func readPool(saved synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	var j poolJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	if len(j.Shares) != len(of) {
		return nil, synth.Malformed(fmt.Errorf("%d systems with %d shares", len(of), len(j.Shares)))
	}
	return Pool{Of: fixed(of), Shares: j.Shares}, nil
}

// pooled is what a pool releases beside the models of its systems: nothing. The shares are public.
type pooled struct{ shares []float64 }

type pooledJSON struct {
	Shares []float64 `json:"shares"`
}

func (p pooled) header() (any, error)   { return pooledJSON{p.shares}, nil }
func (p pooled) sections() []synth.Part { return nil }

func readPooled(f *synth.File, of []synth.Model, _ synth.Loading) (released, error) {
	var j pooledJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	if len(j.Shares) != len(of) {
		return nil, synth.Malformed(fmt.Errorf("%d models with %d shares", len(of), len(j.Shares)))
	}
	sum := 0.0
	for _, share := range j.Shares {
		if sum += share; !(share > 0) {
			return nil, synth.Malformed(errors.New("a share that is not positive"))
		}
	}
	if !(sum > 1-1e-6 && sum < 1+1e-6) {
		return nil, synth.Malformed(fmt.Errorf("shares with sum %g, want 1", sum))
	}
	for _, m := range of {
		if !m.Schema().Equal(of[0].Schema()) {
			return nil, synth.Malformed(fmt.Errorf("models of different records: %w", synth.ErrSchema))
		}
	}
	return pooled{j.Shares}, nil
}

// sampler starts a draw of records. Each record comes from a system drawn by the shares, also in a
// draw of one class, of which a system may have more or fewer records than its share. Systems that
// have none are left out.
//
// Errors: all errors of the models' Sampler; *param.Error for means that have different schemas,
// such as means of sets by a network and by counts of items.
func (p pooled) sampler(m *model, d synth.Draw) (synth.Sampler, error) {
	c := &poolDraw{total: 1, rng: rand.New(rand.NewPCG(d.Seed, 0x706f6f6c))}
	d.Given, d.Unconstrained, d.OnAccepted = nil, true, nil
	d.Cluster = -1 // a pool is one cluster; the systems' clusters are not its own
	for i, of := range m.of {
		own := d
		own.Seed = d.Seed + uint64(i+1)*0x9e3779b97f4a7c15
		s, err := of.Sampler(own)
		if none := (*param.Error)(nil); errors.As(err, &none) && none.Path == "synth.OfClass" &&
			len(c.of)+len(m.of)-i > 1 {
			c.total -= p.shares[i]
			continue
		}
		if err != nil {
			return synth.Sampler{}, fmt.Errorf("%s: %w", m.systems[i], err)
		}
		c.of, c.systems = append(c.of, s), append(c.systems, m.systems[i])
		c.shares = append(c.shares, p.shares[i])
		if first := c.of[0].Schema; !s.Schema.Equal(first) {
			return synth.Sampler{}, param.New("pool: records of "+m.systems[i], s.Schema,
				"the schema of "+c.systems[0]+"'s: "+records.Difference(s.Schema, first))
		}
	}
	return synth.Sampler{Schema: c.of[0].Schema, Next: c.next, Unaccepted: c.unaccepted}, nil
}

// A poolDraw is the state of one caller's draw.
type poolDraw struct {
	systems []string
	shares  []float64
	total   float64 // of the shares
	of      []synth.Sampler
	rng     *rand.Rand
}

// next draws n records.
func (c *poolDraw) next(n int) (records.Data, error) {
	from, counts := make([]int, n), make([]int32, len(c.of))
	for i := range from {
		from[i] = c.system()
		counts[from[i]]++
	}
	var drawn []records.Data
	first, total := make([]int32, len(c.of)), int32(0) // of each system's records in the joint list
	for i, s := range c.of {
		first[i] = total
		if counts[i] == 0 {
			continue
		}
		rows, err := s.Next(int(counts[i]))
		if err == nil && rows.Len() != int(counts[i]) {
			err = fmt.Errorf("the model returned %d records, want %d", rows.Len(), counts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.systems[i], err)
		}
		drawn, total = append(drawn, rows), total+counts[i]
	}
	order := make([]int32, n)
	for i, system := range from {
		order[i] = first[system]
		first[system]++
	}
	joint, err := records.Concat(c.of[0].Schema, drawn...)
	if err != nil {
		return nil, err
	}
	return take(joint, order)
}

// system draws a system by the shares.
func (c *poolDraw) system() int {
	u := c.rng.Float64() * c.total
	for i, share := range c.shares {
		if u -= share; u < 0 {
			return i
		}
	}
	return len(c.shares) - 1 // if rounding leaves a sum below 1
}

// unaccepted returns the number of records that the models themselves did not accept.
func (c *poolDraw) unaccepted() (n int) {
	for _, s := range c.of {
		if s.Unaccepted != nil {
			n += s.Unaccepted()
		}
	}
	return n
}
