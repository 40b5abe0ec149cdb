package sgd

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
)

// Groups clips groups of parameters to separate norms. Each group is clipped as one vector. So
// layers with small gradients do not get the noise of layers with large gradients. All groups of a
// step are released together, as one event with the configuration's noise multiplier. The number of
// groups does not change the event.
//
// Every record contributes to all groups, so parallel composition does not apply. With clip norms
// c_j and noise of standard deviation s_j, the joint release has multiplier z = (Σ
// (c_j/s_j)²)^(−1/2). The s_j are chosen such that z is the configured multiplier and the total
// noise is least: s_j² = z²·(c_j/√d_j)·Σ c_i√d_i for groups of d_j parameters. The variances of all
// coordinates then add up to z²(Σ c_j√d_j)². By the Cauchy–Schwarz inequality, this is never more
// than the total for flat clipping to the norm √Σ c_j².
//
// The network's gradients must be models.BlockGradients.
type Groups struct {
	// List puts each parameter block of the network in one group. An empty list means that the network
	// is a Grouped and states its groups.
	List []Group `json:"list,omitempty"`
}

// Group is a set of parameter blocks that is clipped as one vector.
type Group struct {
	Blocks   []int   `json:"blocks"`    // indices of blocks in the network's Params
	ClipNorm float64 `json:"clip_norm"` // c_j
}

// Grouped is a network that states its groups in every step, after BeginStep. They must depend
// only on public data, released parameters and public randomness.
type Grouped interface{ ClipGroups() []Group }

// groupNoise returns s_j/z for groups of the given clip norms and sizes. This is the standard
// deviation of each group's noise under add-or-remove-one if the joint release has multiplier 1.
// Under replace-one, the sensitivity and all standard deviations are twice as large.
//
// Guarantee: Σ (clipNorm_j/noise_j)² = 1 up to rounding.
func groupNoise(clipNorms []float64, sizes []int) []float64 {
	out := make([]float64, len(clipNorms))
	total := 0.0
	for j, c := range clipNorms {
		total += c * math.Sqrt(float64(sizes[j]))
	}
	for j, c := range clipNorms {
		out[j] = math.Sqrt(c / math.Sqrt(float64(sizes[j])) * total)
	}
	return out
}

func (g Groups) check(k *checker, _ Config) {
	for i, group := range g.List {
		k.ok(len(group.Blocks) > 0, fmt.Sprintf("Clip.List[%d].Blocks", i), len(group.Blocks),
			"at least one block")
		k.norm(fmt.Sprintf("Clip.List[%d].ClipNorm", i), group.ClipNorm)
	}
}

func (g Groups) multipliers(bool) []float64 { return nil }

// start copies the lists, so the caller may change its own.
func (g Groups) start(accountant.Relation, float64) clipper {
	var own Groups
	for _, group := range g.List {
		own.List = append(own.List, Group{slices.Clone(group.Blocks), group.ClipNorm})
	}
	return &grouping{policy: own}
}

// grouping is the state of Groups for one network. The sum of each group is divided by the group's
// noise. All groups together are then one vector of sensitivity (Σ (c_j/s_j)²)^½, with the same
// noise in every coordinate. The s_j are the results of groupNoise. absorb multiplies each group
// by its noise again.
type grouping struct {
	unchoosing
	policy Groups
	net    Grouped
	sizes  []int // sizes of blocks
	base   []span

	groups  []Group
	of      []int     // group of each block
	noise   []float64 // groupNoise of each group
	joint   float64   // sensitivity in units of noise
	norms   [][]float64
	summed  []float64 // squared norms of the rows in one group
	whole   []float64 // squared norms of the rows in all blocks
	weights [][]float32
	byBlock [][]float32
	spans   []span
}

// attach binds the grouping to a network and refines the network's spans of divisors.
func (g *grouping) attach(net models.Network, base []span) error {
	p := net.Params()
	for b := range p.Blocks() {
		lo, hi := p.Range(b)
		g.sizes = append(g.sizes, hi-lo)
	}
	g.base = base
	if _, ok := net.Gradients(device.Batch{}).(models.BlockGradients); !ok {
		return &param.Error{Path: "sgd.New.net", Value: fmt.Sprintf("%T", net),
			Want: "a network whose gradients are models.BlockGradients, since sgd.Groups clips blocks"}
	}
	if len(g.policy.List) > 0 {
		return g.set(g.policy.List)
	}
	var ok bool
	if g.net, ok = net.(Grouped); !ok {
		return &param.Error{Path: "sgd.Config.Clip.List", Value: "empty",
			Want: "groups, or a network that is an sgd.Grouped"}
	}
	return nil
}

// begin asks the network for the groups of a step.
func (g *grouping) begin() error {
	if g.net == nil {
		return nil
	}
	return g.set(g.net.ClipGroups())
}

// set checks that every block is in one group and computes the noise. Its errors depend on public
// values only.
func (g *grouping) set(list []Group) error {
	if err := g.place(list); err != nil {
		return err
	}
	g.groups = list
	norms, sizes := make([]float64, len(list)), make([]int, len(list))
	for b, j := range g.of {
		sizes[j] += g.sizes[b]
	}
	for j, group := range list {
		norms[j] = group.ClipNorm
		if sizes[j] == 0 {
			return &param.Error{Path: fmt.Sprintf("sgd.Group[%d].Blocks", j), Value: group.Blocks,
				Want: "blocks with parameters"}
		}
	}
	g.noise = groupNoise(norms, sizes)
	g.joint = 0
	for j, c := range norms {
		g.joint += c / g.noise[j] * c / g.noise[j]
	}
	g.joint = math.Sqrt(g.joint) * (1 + 0x1p-40) // rounded up
	g.refine()
	return nil
}

func (g *grouping) place(list []Group) error {
	k := &checker{}
	g.of = make([]int, len(g.sizes))
	for b := range g.of {
		g.of[b] = -1
	}
	for j, group := range list {
		k.norm(fmt.Sprintf("Clip.List[%d].ClipNorm", j), group.ClipNorm)
		for _, b := range group.Blocks {
			ok := b >= 0 && b < len(g.of) && g.of[b] < 0
			k.ok(ok, fmt.Sprintf("Clip.List[%d].Blocks", j), group.Blocks,
				fmt.Sprintf("indices of the network's %d blocks, each in one group", len(g.of)))
			if ok {
				g.of[b] = j
			}
		}
	}
	for b, j := range g.of {
		k.ok(j >= 0, "Clip.List", fmt.Sprintf("no group for block %d", b), "a group for every block")
	}
	return k.Err()
}

// refine splits the spans of divisors at the ends of blocks and multiplies each span by the noise
// of its group.
func (g *grouping) refine() {
	g.spans = g.spans[:0]
	end, at := 0, 0
	for b, size := range g.sizes {
		end += size
		for lo := end - size; lo < end; {
			s := g.base[at]
			hi := min(s.end, end)
			if hi > lo {
				g.spans = append(g.spans, span{hi, s.scale * g.noise[g.of[b]]})
				lo = hi
			}
			if hi == s.end && at+1 < len(g.base) {
				at++
			}
		}
	}
}

// addClipped adds the clipped gradients, each group divided by its noise, to exact or, if exact is
// nil, to sum.
func (g *grouping) addClipped(exact *fixedSum, sum device.Params, gradients models.Gradients,
	rows int) error {
	blocks, ok := gradients.(models.BlockGradients)
	if !ok {
		return errGradients
	}
	g.resize(rows)
	blocks.BlockSquaredNorms(g.norms)
	g.weigh(exact)
	if exact == nil {
		blocks.AddBlockSums(sum, g.byBlock)
		return nil
	}
	fixed, ok := gradients.(models.FixedBlockGradients)
	if !ok || fixed.FixedForm() != exact.form {
		return errGradients
	}
	fixed.AddFixedBlockSums(exact.sum, g.byBlock)
	return nil
}

// addAlone adds the gradient of one example, whose rows have the given shares, as a separate row.
func (g *grouping) addAlone(exact *fixedSum, gradients models.Gradients, shares []float32) error {
	blocks, ok := gradients.(models.BlockGradients)
	if !ok {
		return errGradients
	}
	g.resize(len(shares))
	exact.blockGradient(blocks, g.norms, shares)
	g.resize(1)
	g.weigh(exact)
	exact.addBlocks(g.byBlock)
	return nil
}

// weigh turns norms into weights, which are clip factors in units of noise.
//
// A record with a block that is not finite is left out entirely. Its other blocks may depend on its
// position in the batch, and therefore on other records.
func (g *grouping) weigh(exact *fixedSum) {
	clear(g.whole)
	for _, block := range g.norms {
		for i, s := range block {
			g.whole[i] += s
		}
	}
	for j, group := range g.groups {
		clear(g.summed)
		for _, b := range group.Blocks {
			for i, s := range g.norms[b] {
				g.summed[i] += s
			}
			g.byBlock[b] = g.weights[j]
		}
		for i, s := range g.summed {
			if !(g.whole[i] < math.Inf(1)) {
				s = math.NaN()
			}
			g.weights[j][i] = exact.weight(fixed(group.ClipNorm).factor(s) / g.noise[j])
		}
	}
}

func (g *grouping) resize(rows int) {
	for len(g.norms) < len(g.sizes) {
		g.norms, g.byBlock = append(g.norms, nil), append(g.byBlock, nil)
	}
	for len(g.weights) < len(g.groups) {
		g.weights = append(g.weights, nil)
	}
	for b := range g.norms {
		g.norms[b] = grow(g.norms[b], rows)
	}
	for j := range g.weights {
		if cap(g.weights[j]) < rows {
			g.weights[j] = make([]float32, rows, rows+rows/4+64)
		}
		g.weights[j] = g.weights[j][:rows]
	}
	g.summed, g.whole = grow(g.summed, rows), grow(g.whole, rows)
}

// bound returns the sensitivity of the sum in units of noise.
func (g *grouping) bound() float64 { return g.joint }

// clipNorm returns the norm that a whole clipped gradient cannot exceed.
func (g *grouping) clipNorm() float64 {
	sum := 0.0
	for _, group := range g.groups {
		sum += group.ClipNorm * group.ClipNorm
	}
	return math.Sqrt(sum)
}

func (g *grouping) factor(float64) float64 { return 0 } // groups are clipped by addClipped

// unchoosing is the part of a clipper that releases nothing of its own.
type unchoosing struct{}

func (unchoosing) wantsNorms() bool                         { return false }
func (unchoosing) choose(*mechanism.Grant, []float64) error { return nil }
func (unchoosing) finish(*mechanism.Grant) error            { return nil }
