package gan

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// Clipping describes clipping of the critic's gradients by groups of parameters, to norms computed
// from public records, or both. With the zero value, Train's clip is used; otherwise Train must
// have no clip.
type Clipping struct {
	Groups GroupMethod `json:"groups,omitempty"`
	K      int         `json:"k,omitempty"` // number of groups, for Clustered only
	// Norms are the clip norms, unless Adaptive is set. For WeightsAndBiases they are the norms of the
	// two groups, weights first. For Clustered there is one norm for each parameter block.
	Norms []float64 `json:"norms,omitempty"`
	// Adaptive computes clip norms in every step: Scale times the mean gradient norms of Batch public
	// records.
	Adaptive bool    `json:"adaptive,omitempty"`
	Kept     bool    `json:"kept,omitempty"`  // with Adaptive: use the first step's norms always
	Scale    float64 `json:"scale,omitempty"` // 0 means 1
	Batch    int     `json:"batch,omitempty"` // 0 means 64
}

// GroupMethod determines how the critic's parameters are grouped.
type GroupMethod int

const (
	Whole            GroupMethod = iota // one group of all parameters
	WeightsAndBiases                    // two groups
	// Clustered puts all biases into one group and merges groups of similar clip norms until K groups
	// remain (Algorithm 2 of the paper).
	Clustered
)

var groupNames = param.Names[GroupMethod]{Type: "gan.GroupMethod", List: []string{
	Whole: "whole", WeightsAndBiases: "weights-and-biases", Clustered: "clustered",
}}

func (g GroupMethod) known() bool { return groupNames.Known(g) }

// String returns the name.
func (g GroupMethod) String() string { return groupNames.String(g) }

// MarshalText writes the name.
func (g GroupMethod) MarshalText() ([]byte, error) { return groupNames.Marshal(g) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (g *GroupMethod) UnmarshalText(text []byte) error { return groupNames.Unmarshal(text, g) }

// on reports whether Clipping replaces Train's clip.
func (c Clipping) on() bool { return c.Groups != Whole || c.Adaptive }

func (c Clipping) validate(k *param.Checker, all Config) {
	k.OK(c.Groups.known(), "gan.Clipping.Groups", c.Groups,
		"Whole, WeightsAndBiases or Clustered")
	k.OK(c.K >= 0 && (c.Groups == Clustered) == (c.K > 0), "gan.Clipping.K", c.K,
		"a positive number of groups for Clustered, zero otherwise")
	k.OK(c.Scale > 0 && c.Scale <= 1e9, "gan.Clipping.Scale", c.Scale,
		"a positive number up to 1e9, or zero for 1")
	k.OK(c.Batch > 0 && c.Batch <= maxBatch, "gan.Clipping.Batch", c.Batch,
		"a positive number up to 2^20, or zero for the default")
	if !c.on() {
		k.OK(c.Norms == nil, "gan.Clipping.Norms", c.Norms, "none: Train's clip is used")
		return
	}
	k.OK(all.Train.ClipNorm == 0 && all.Train.Clip == nil, "sgd.Config.ClipNorm", all.Train.ClipNorm,
		"zero, and no Clip, because Clipping is set")
	k.OK(!c.Kept || c.Adaptive, "gan.Clipping.Kept", c.Kept, "false, unless norms are Adaptive")
	k.OK(c.Adaptive == (c.Norms == nil), "gan.Clipping.Norms", c.Norms,
		"clip norms, unless they are Adaptive")
	for i, x := range c.Norms {
		k.OK(x >= smallestNorm && x <= largestNorm, fmt.Sprintf("gan.Clipping.Norms[%d]", i), x,
			"a number in [2^-60, 2^60]")
	}
}

const smallestNorm, largestNorm = 0x1p-60, 0x1p60

// validateBlocks checks the settings that depend on the critic.
func (c Clipping) validateBlocks(k *param.Checker, critic models.Critic) {
	blocks := critic.Params().Blocks()
	k.OK(c.K <= blocks, "gan.Clipping.K", c.K,
		fmt.Sprintf("at most the critic's %d parameter blocks", blocks))
	if c.Norms == nil {
		return
	}
	want := blocks
	if c.Groups == WeightsAndBiases {
		want = 2
	}
	k.OK(len(c.Norms) == want, "gan.Clipping.Norms", fmt.Sprintf("%d norms", len(c.Norms)),
		fmt.Sprintf("%d norms", want))
	if len(c.Norms) != want || c.K > blocks {
		return
	}
	for _, g := range c.given(critic) {
		k.OK(g.ClipNorm <= largestNorm, "gan.Clipping.Norms", g.ClipNorm,
			"norms whose root sum of squares is at most 2^60 in each group")
	}
}

// groups divides the blocks of a critic into groups, given the clip norm of each block.
func (c Clipping) groups(critic models.Critic, norms []float64) []sgd.Group {
	var list []sgd.Group
	for b, norm := range norms {
		list = append(list, sgd.Group{Blocks: []int{b}, ClipNorm: norm})
	}
	biases := func(b int) bool { return strings.HasSuffix(critic.Params().Shapes[b].Name, ".bias") }
	switch c.Groups {
	case Whole:
		return mergeAll(list, func(int) int { return 0 })
	case WeightsAndBiases:
		return mergeAll(list, func(b int) int {
			if biases(b) {
				return 1
			}
			return 0
		})
	}
	return cluster(mergeAll(list, func(b int) int {
		if biases(b) {
			return len(norms)
		}
		return b
	}), c.K)
}

// mergeAll merges the groups whose first blocks have the same key. It keeps the order of the first
// groups.
func mergeAll(list []sgd.Group, key func(block int) int) []sgd.Group {
	var out []sgd.Group
	at := map[int]int{}
	for _, g := range list {
		j, ok := at[key(g.Blocks[0])]
		if !ok {
			at[key(g.Blocks[0])] = len(out)
			out = append(out, g)
			continue
		}
		out[j] = merge(out[j], g)
	}
	return out
}

func merge(a, b sgd.Group) sgd.Group {
	return sgd.Group{Blocks: append(append([]int(nil), a.Blocks...), b.Blocks...),
		ClipNorm: math.Hypot(a.ClipNorm, b.ClipNorm)}
}

// cluster merges groups until k remain. It always merges the two groups whose clip norms c and c′
// have the ratio closest to 1, into a group of norm √(c²+c′²).
//
// Source: Algorithm 2 of the paper.
func cluster(groups []sgd.Group, k int) []sgd.Group {
	list := append([]sgd.Group(nil), groups...)
	for len(list) > max(k, 1) {
		first, second, least := 0, 1, math.Inf(1)
		for i := range list {
			for j := i + 1; j < len(list); j++ {
				a, b := list[i].ClipNorm, list[j].ClipNorm
				if r := max(a/b, b/a); r < least {
					first, second, least = i, j, r
				}
			}
		}
		list[first] = merge(list[first], list[second])
		list = append(list[:second], list[second+1:]...)
	}
	return list
}

// given returns the groups with the configuration's clip norms.
func (c Clipping) given(critic models.Critic) []sgd.Group {
	norms := c.Norms
	if c.Groups == WeightsAndBiases { // Norms has one norm for each group
		norms = make([]float64, critic.Params().Blocks())
		list := c.groups(critic, norms)
		for j := range list {
			list[j].ClipNorm = c.Norms[j]
		}
		return list
	}
	return c.groups(critic, norms)
}

// floored computes clip norms from norms of public gradients. It replaces norms that are not finite
// by zero, and raises every norm to at least 1e-4 of the norm of all blocks together. It then
// multiplies by scale and clamps to [1e-9, 1e9].
func floored(norms []float64, scale float64) []float64 {
	total := 0.0
	for i, x := range norms {
		if !(x >= 0) || math.IsInf(x, 0) {
			norms[i] = 0
		}
		total = math.Hypot(total, norms[i])
	}
	floor := 1e-4 * total
	for i, x := range norms {
		norms[i] = min(max(scale*max(x, floor), 1e-9), 1e9)
	}
	return norms
}
