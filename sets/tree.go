package sets

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Tree releases noisy counts of items and then, in one Gaussian release, counts of all pairs of the
// most frequent items. It joins these items by a tree of largest mutual information (Chow and Liu
// 1968) and draws records from the tree. Other items are independent.
//
// Guarantee: two Gaussian releases. A record of m = MaxItems items (default 12) has m(m−1)/2 pairs.
// Adding or removing it changes the counts of pairs by at most √(m(m−1)/2). Replacing it changes
// them by at most √2 times this bound, since a record's counts are not negative. The paired items
// are determined by the first release.
type Tree struct {
	Common
	Items int // number of items that are paired; 0 means 1024, or the universe if that is smaller
}

const (
	treeMaxItems  = 12
	treeItems     = 1024
	mostTreeItems = 1 << 12
	itemsPart     = 0.3 // fraction of the squared effect for the items
	// significance is the number of standard deviations by which a pair must differ from independence
	// to be an edge of the tree.
	significance = 4.0
)

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c Tree) Plan() (synth.PassProgram, error) {
	k := c.validate()
	k.OK(c.Items >= 0 && c.Items <= mostTreeItems, "sets.Tree.Items", c.Items,
		"an integer from 1 to 4096, or 0 for the default")
	if err := k.Err(); err != nil {
		return synth.PassProgram{}, err
	}
	c.Common = c.chosen(treeMaxItems)
	c.MaxItems = min(cmp.Or(c.MaxItems, treeMaxItems), c.Schema.MaxItems())
	c.Items = min(cmp.Or(c.Items, treeItems), c.Schema.Dim())
	return newPlan(tree{c})
}

type tree struct{ Tree }

func (m tree) name() string   { return nameTree }
func (m tree) title() string  { return "Tree" }
func (m tree) common() Common { return m.Common }
func (m tree) config() any    { return setJSON{MaxItems: m.MaxItems, Items: m.Items} }

func (m tree) stages(noise float64) []synth.Stage {
	stage := func(purpose string, z float64) synth.Stage {
		return synth.Stage{Purpose: purpose, Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1,
			NoiseMultiplier: z, Once: true}
	}
	return []synth.Stage{stage(purposeItems, m.itemNoise(noise)),
		stage(purposePairs, m.pairNoise(noise))}
}

func (m tree) itemNoise(noise float64) float64 { return noise / math.Sqrt(itemsPart) }
func (m tree) pairNoise(noise float64) float64 { return noise / math.Sqrt(1-itemsPart) }

func (m tree) counts() itemCounts {
	return itemCounts{schema: m.Schema,
		dim: m.Schema.Dim(), limit: m.MaxItems, relation: m.Budget.Relation}
}

func (m tree) drawable(noise float64) bool {
	return m.counts().drawable(m.itemNoise(noise)) &&
		releasable(m.Schema, m.pairStd(m.pairNoise(noise)))
}

func (m tree) passes() []string { return []string{purposeItems, purposePairs} }

func (m tree) counter(p synth.Pass, noise float64) (*cutCounter, error) {
	switch {
	case p.Purpose == purposeItems && p.State == nil:
		return m.counts().counter(m.itemNoise(noise)), nil
	case p.Purpose == purposePairs:
		if chosen, ok := m.readItems(p.State); ok {
			return m.pairCounter(chosen, m.pairStd(m.pairNoise(noise))), nil
		}
	}
	return nil, noPass(m, p)
}

// itemState returns the state of the pass over pairs: the chosen items, four bytes each.
func itemState(chosen []uint32) []byte {
	state := make([]byte, 0, 4*len(chosen))
	for _, item := range chosen {
		state = binary.LittleEndian.AppendUint32(state, item)
	}
	return state
}

// readItems decodes the items that itemState encoded. It reports false if an item is repeated or
// outside the universe, or if their number is not m.Items.
func (m tree) readItems(state []byte) (chosen []uint32, ok bool) {
	seen := map[uint32]bool{}
	for b := range slices.Chunk(state, 4) {
		if len(b) < 4 {
			return nil, false
		}
		item := binary.LittleEndian.Uint32(b)
		if int64(item) >= int64(m.Schema.Dim()) || seen[item] {
			return nil, false
		}
		seen[item] = true
		chosen = append(chosen, item)
	}
	return chosen, len(chosen) == m.Items
}

func (m tree) fit(ctx context.Context, r *synth.Run, noise float64) (sampler, error) {
	perItem, n, err := m.counts().release(ctx, r, m.itemNoise(noise))
	if err != nil {
		return nil, err
	}
	chosen := frequent(perItem, m.Items)
	perPair, std, err := m.pairs(ctx, r, chosen, m.pairNoise(noise))
	if err != nil {
		return nil, err
	}
	return grow(perItem, n, chosen, perPair, std), nil
}

// frequent returns the k items with the largest released counts.
func frequent(perItem []float64, k int) []uint32 {
	order := make([]uint32, len(perItem))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(perItem[b], perItem[a]) })
	return order[:min(k, len(order))]
}

// pairStd returns the standard deviation for which the release of pairs has an effect of 1/noise.
func (m tree) pairStd(noise float64) float64 {
	pairs := float64(m.MaxItems*(m.MaxItems-1)) / 2
	return noise * math.Sqrt(max(pairs, 1)) * mechanism.HistogramSensitivity(m.Budget.Relation)
}

// pairs releases the number of records with both items, for every pair of the chosen items, in the
// order of pairAt.
func (m tree) pairs(ctx context.Context, r *synth.Run, chosen []uint32, noise float64) ([]float64,
	float64, error) {
	std := m.pairStd(noise)
	out, err := r.Once(purposePairs, []int{len(chosen) * (len(chosen) - 1) / 2},
		func() (float64, []mechanism.Part, error) {
			sums, err := r.Read(ctx, synth.Pass{Purpose: purposePairs, State: itemState(chosen)})
			if err != nil {
				return 0, nil, err
			}
			return 1 / noise, []mechanism.Part{{Sum: sums.Sums()[0], Std: std}}, nil
		})
	if err != nil {
		return nil, 0, err
	}
	r.Report(purposePairs, 1, 1)
	return out[0], std, nil
}

// pairCounter returns a counter of the pairs of chosen items. Its numbers are private.
func (m tree) pairCounter(chosen []uint32, std float64) *cutCounter {
	rank := make([]int32, m.Schema.Dim())
	for i := range rank {
		rank[i] = -1
	}
	for r, item := range chosen {
		rank[item] = int32(r)
	}
	sum := mechanism.NewFixedSum(len(chosen)*(len(chosen)-1)/2, mechanism.CountGrid(std,
		m.Schema.RowsPerPerson() > 0))
	var ranks []int32
	return &cutCounter{limit: m.MaxItems, sums: []*mechanism.FixedSum{sum}, each: func(row []uint32,
		share float64) {
		ranks = ranks[:0]
		for _, item := range row {
			if r := rank[item]; r >= 0 {
				ranks = append(ranks, r)
			}
		}
		for i, a := range ranks {
			for _, b := range ranks[:i] {
				sum.AddShare(pairAt(int(a), int(b)), share)
			}
		}
	}}
}

// pairAt returns the index of the pair of two different ranks.
func pairAt(a, b int) int {
	if a < b {
		a, b = b, a
	}
	return a*(a-1)/2 + b
}

// PlanFor implements [synth.Design].
func (c Tree) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}
