package graphical

import (
	"context"
	"math"
	"slices"
)

// A Measurement is a noisy marginal.
type Measurement struct {
	Attributes []int     // ascending
	Values     []float64 // counts; the last attribute varies fastest
	Std        float64   // standard deviation of the noise on each value
	// Parts holds, for each value, the number of noisy numbers in its sum; nil means 1 each.
	Parts []float64
	// Merged holds, for each cell of the attributes, the index of the value that includes the cell;
	// nil means that every cell has its own value.
	Merged []int32
}

// target is a measurement together with the factor that is fitted to it.
type target struct {
	Measurement
	factor int
	pack   int
	part   view      // from the table of the pack
	cells  []float64 // probabilities of the attributes' cells
	law    []float64 // probabilities of the values; the same slice as cells unless cells are merged
	weight float64   // total²/Std²
}

// Extended returns the model with additional factors for the given groups of attributes that have
// no factor.
func (m *Model) Extended(groups ...[]int) *Model {
	factors := slices.Clone(m.Factors)
	for _, g := range groups {
		if !slices.ContainsFunc(factors, func(f Factor) bool { return slices.Equal(f.Attributes, g) }) {
			factors = append(factors, Factor{g, make([]float64, int(m.Domain.Cells(g)))})
		}
	}
	return NewModel(m.Domain, factors)
}

// Fit fits the model to measurements of total records, in at most the given number of passes over
// its tables. The model must have a factor for every measured group. Fit starts from the model's
// current factors.
//
// The loss is ½Σ‖total·μ − values‖²/Std². A step of mirror descent subtracts a multiple of the
// loss's gradient from the factors. Momentum, which is reset whenever the loss grows, reduces the
// number of steps. The rate at which a cell converges is proportional to its probability, and the
// largest cell determines the longest stable step. So the first quarter of the passes weights each
// table by the inverse of its largest cell. Fine tables then converge as fast as coarse tables.
//
// The fitted factors are in the range of [NewModel], which therefore returns the same model for
// them.
//
// Errors: ctx.Err().
func (m *Model) Fit(ctx context.Context, list []Measurement, total float64, passes int) error {
	if len(list) == 0 {
		return nil
	}
	if err := m.newFitting(list, total, true).run(ctx, passes/4); err != nil {
		return err
	}
	if err := m.newFitting(list, total, false).run(ctx, passes-passes/4); err != nil {
		return err
	}
	if clampFactors(m.Factors, lowest) {
		m.pass()
	}
	return nil
}

func (m *Model) newFitting(list []Measurement, total float64, even bool) *fitting {
	f := &fitting{m: m, total: total, best: math.Inf(1), least: math.Inf(1), last: math.Inf(1)}
	for i, p := range m.packs { // many passes need them; a model that is only drawn from does not
		if p.view.run == 0 {
			m.packs[i].view = p.from(m.Domain, m.Tree)
		}
	}
	heaviest := 0.0
	for _, one := range list {
		t := &target{Measurement: one, law: make([]float64, len(one.Values)),
			weight: total / one.Std * (total / one.Std)}
		t.cells = t.law
		if one.Merged != nil {
			t.cells = make([]float64, len(one.Merged))
		}
		t.factor = slices.IndexFunc(m.Factors, func(f Factor) bool {
			return slices.Equal(f.Attributes, one.Attributes)
		})
		for i, p := range m.packs {
			if k := slices.Index(p.factors, t.factor); k >= 0 {
				t.pack, t.part = i, p.parts[k]
			}
		}
		most := min(max(slices.Max(one.Values)/total, 1e-4), 1)
		heaviest = max(heaviest, t.weight*most)
		if even {
			t.weight /= most
			heaviest = max(heaviest, t.weight*most)
		}
		f.targets = append(f.targets, t)
	}
	f.step = 1 / heaviest
	for _, factor := range m.Factors {
		f.at = append(f.at, slices.Clone(factor.Theta))
		f.before = append(f.before, slices.Clone(factor.Theta))
		f.kept = append(f.kept, slices.Clone(factor.Theta))
		f.slope = append(f.slope, make([]float64, len(factor.Theta)))
	}
	return f
}

// run makes up to the given number of passes, or fewer if the loss stops decreasing. Then it
// restores the best factors.
func (f *fitting) run(ctx context.Context, passes int) error {
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
	age     int     // steps since momentum was reset
	last    float64 // loss of the last step
	best    float64
	least   float64 // loss relative to which progress is measured
	stale   int

	at, before [][]float64 // factors after the last step and after the previous one
	kept       [][]float64 // factors with the smallest loss so far
	slope      [][]float64
}

// loss computes the loss and its gradient at the model's distributions.
func (f *fitting) loss() float64 {
	for _, s := range f.slope {
		clear(s)
	}
	for _, p := range f.m.packs {
		p.view.sum(p.table, f.m.nodes[p.node].law)
	}
	loss := 0.0
	for _, t := range f.targets {
		t.part.sum(t.cells, f.m.packs[t.pack].table)
		if t.Merged != nil {
			Merge(t.law, t.cells, t.Merged)
		}
		slope := f.slope[t.factor]
		for k, p := range t.law {
			far := p - t.Values[k]/f.total
			weight := t.weight
			if t.Parts != nil {
				weight /= t.Parts[k]
			}
			loss += weight * far * far / 2
			t.law[k] = weight * far
		}
		if t.Merged == nil {
			for k, x := range t.law {
				slope[k] += x
			}
			continue
		}
		for cell, k := range t.Merged {
			slope[cell] += t.law[k]
		}
	}
	return loss
}

// Merge sets dst[k] to the sum of the cells whose entry of merged is k.
func Merge(dst, cells []float64, merged []int32) {
	clear(dst)
	for cell, k := range merged {
		dst[k] += cells[cell]
	}
}

// back restores the factors with the smallest loss so far.
func (f *fitting) back() {
	for i := range f.kept {
		copy(f.at[i], f.kept[i])
		copy(f.before[i], f.kept[i])
		copy(f.m.Factors[i].Theta, f.kept[i])
	}
	f.m.pass()
}

// patience is the number of passes without progress after which a fit ends. progress is the
// smallest relative decrease of the loss that counts as progress.
const (
	patience = 60
	progress = 1e-4
)

// next makes one step, and reports whether the fit should end because the loss has stopped
// decreasing.
func (f *fitting) next() (done bool) {
	loss := f.loss()
	if f.stale++; loss < f.best {
		if loss < f.least*(1-progress) {
			f.least, f.stale = loss, 0
		}
		f.best = loss
		for i := range f.kept {
			copy(f.kept[i], f.m.Factors[i].Theta)
		}
		f.step *= 1.03
	}
	if f.stale > patience {
		return true
	}
	if !(loss <= f.last) {
		if f.age < 3 { // the step was too long even without momentum
			f.step /= 2
			f.age, f.last = 0, math.Inf(1)
			f.back()
			return false
		}
		f.age = 0 // momentum was too large: reset it
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
