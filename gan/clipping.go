package gan

import (
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// Clipping describes clipping of the critic's gradients, as a whole or by groups of parameters, to
// norms computed from public records. With the zero value, Train's clip is used, which may be
// [sgd.Groups] with norms of their own; otherwise Train must have no clip.
type Clipping struct {
	Groups GroupMethod `json:"groups,omitempty"`
	K      int         `json:"k,omitempty"` // number of groups, for Clustered only
	// Adaptive computes clip norms in every step: Scale times the mean gradient norms of Batch public
	// records.
	Adaptive bool    `json:"adaptive,omitempty"`
	Kept     bool    `json:"kept,omitempty"`  // use the first step's norms always
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

func (c Clipping) validate(k *param.Checker, all Config) {
	k.OK(c.Groups.known(), "gan.Clipping.Groups", c.Groups, "Whole, WeightsAndBiases or Clustered")
	k.OK(c.K >= 0 && (c.Groups == Clustered) == (c.K > 0), "gan.Clipping.K", c.K,
		"a positive number of groups for Clustered, zero otherwise")
	k.OK(c.Scale > 0 && c.Scale <= 1e9, "gan.Clipping.Scale", c.Scale,
		"a positive number up to 1e9, or zero for 1")
	k.OK(c.Batch > 0 && c.Batch <= maxBatch, "gan.Clipping.Batch", c.Batch,
		"a positive number up to 2^20, or zero for the default")
	k.OK(c.Adaptive || c.Groups == Whole && !c.Kept, "gan.Clipping.Adaptive", false,
		"true: groups and Kept are for norms of public records")
	k.OK(!c.Adaptive || all.Train.ClipNorm == 0 && all.Train.Clip == nil, "sgd.Config.ClipNorm",
		all.Train.ClipNorm, "zero, and no Clip, because Clipping is set")
}

const smallestNorm, largestNorm = 0x1p-60, 0x1p60

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
