package graphical

import (
	"context"
	"math"
	"slices"
)

// A Measurement is a noisy marginal.
type Measurement struct {
	Attributes []int     // ascending
	Values     []float64 // counts, the last attribute fastest
	Std        float64   // of the noise of each
	// Parts is how many numbers with that noise each value adds up; nil for one.
	Parts []float64
}

// target is a measurement beside the factor that follows it.
type target struct {
	Measurement
	factor int
	law    []float64
	weight float64 // total²/Std²
}

// Extended returns the model with a factor for every group of attributes that it has none for.
func (m *Model) Extended(groups ...[]int) *Model {
	factors := slices.Clone(m.Factors)
	for _, g := range groups {
		if !slices.ContainsFunc(factors, func(f Factor) bool { return slices.Equal(f.Attributes, g) }) {
			factors = append(factors, Factor{g, make([]float64, int(m.Domain.Cells(g)))})
		}
	}
	return NewModel(m.Domain, factors)
}

// Fit changes the model, which has a factor for every group that is measured, towards the
// measurements of so many records, in at most so many passes over its tables. It begins where the
// model is.
//
// The loss is ½Σ‖total·μ − values‖²/Std². A step of mirror descent subtracts a multiple of its
// slope from the factors; with momentum, which starts anew whenever the loss grows, it needs far
// fewer of them. Errors: ctx.Err().
func (m *Model) Fit(ctx context.Context, list []Measurement, total float64, passes int) error {
	if len(list) == 0 {
		return nil
	}
	f := fitting{m: m, total: total, best: math.Inf(1)}
	heaviest := 0.0
	for _, one := range list {
		i := slices.IndexFunc(m.Factors, func(f Factor) bool {
			return slices.Equal(f.Attributes, one.Attributes)
		})
		t := &target{Measurement: one, factor: i, law: make([]float64, len(one.Values)),
			weight: total / one.Std * (total / one.Std)}
		f.targets = append(f.targets, t)
		heaviest = max(heaviest, t.weight)
	}
	f.step = 2 / heaviest
	for _, factor := range m.Factors {
		f.at = append(f.at, slices.Clone(factor.Theta))
		f.before = append(f.before, slices.Clone(factor.Theta))
		f.kept = append(f.kept, slices.Clone(factor.Theta))
		f.slope = append(f.slope, make([]float64, len(factor.Theta)))
	}
	for range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.next() {
			break
		}
	}
	f.back()
	return nil
}

// fitting is a run of Fit.
type fitting struct {
	m       *Model
	targets []*target
	total   float64
	step    float64
	age     int     // steps since momentum started anew
	last    float64 // loss
	best    float64
	stale   int

	at, before [][]float64 // factors after the last step, and after the one before
	kept       [][]float64 // with the least loss so far
	slope      [][]float64
}

// loss computes the loss at the model's laws, and the slopes.
func (f *fitting) loss() float64 {
	for _, s := range f.slope {
		clear(s)
	}
	loss := 0.0
	for _, t := range f.targets {
		p := f.m.places[t.factor]
		p.view.sum(t.law, f.m.nodes[p.node].law)
		slope := f.slope[t.factor]
		for k, p := range t.law {
			far := p - t.Values[k]/f.total
			weight := t.weight
			if t.Parts != nil {
				weight /= t.Parts[k]
			}
			slope[k] += weight * far
			loss += weight * far * far / 2
		}
	}
	return loss
}

// back returns to the least loss so far.
func (f *fitting) back() {
	for i := range f.kept {
		copy(f.at[i], f.kept[i])
		copy(f.before[i], f.kept[i])
		copy(f.m.Factors[i].Theta, f.kept[i])
	}
	f.m.pass()
}

// patience is how many passes without a smaller loss end a fit, and progress how much smaller.
const (
	patience = 25
	progress = 1e-4
)

// next makes one step, and reports whether more of them would be of no use.
func (f *fitting) next() (done bool) {
	loss := f.loss()
	if loss < f.best {
		if f.stale++; loss < f.best*(1-progress) {
			f.stale = 0
		}
		f.best = loss
		for i := range f.kept {
			copy(f.kept[i], f.m.Factors[i].Theta)
		}
		f.step *= 1.05
	} else {
		f.stale++
	}
	if f.stale > patience {
		return true
	}
	if loss > f.last && f.age > 0 || math.IsNaN(loss) { // too far: back to the best, and slower
		f.step /= 2
		f.age, f.last = 0, math.Inf(1)
		f.back()
		return false
	}
	f.last = loss
	f.age++
	momentum := float64(f.age-1) / float64(f.age+2)
	for i := range f.at {
		theta := f.m.Factors[i].Theta
		f.at[i], f.before[i] = f.before[i], f.at[i]
		for k, x := range theta {
			x -= f.step * f.slope[i][k]
			f.at[i][k] = x
			theta[k] = x + momentum*(x-f.before[i][k])
		}
	}
	f.m.pass()
	return false
}
