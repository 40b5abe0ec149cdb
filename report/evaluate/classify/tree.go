package classify

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// tree is a binary decision tree in arrays; node 0 is the root.
type tree struct {
	nodes  []node
	values []float64 // width numbers for each leaf
	width  int
}

// node is followed by its left child. A leaf is its own right child, where all values go.
type node struct {
	threshold float32 // values up to this go left; NaN for a leaf
	feature   int32
	skip      int32 // nodes between this and its right child
	leaf      int32 // the number of a leaf; −1 for others
}

// next returns the child of a node that a record falls into. The choice is arithmetic and not a
// jump, which would be mispredicted.
func (t *tree) next(at int32, row []float32) int32 {
	n := &t.nodes[at]
	right := int32(0)
	if !(row[n.feature] <= n.threshold) {
		right = 1
	}
	return at + 1 + n.skip&-right
}

// together is the number of records that go down a tree at a time, since each step of one waits for
// the step before.
const together = 4

// find sets to to the numbers of the leaves that records fall into.
func (t *tree) find(rows device.Matrix, to []int32) {
	var row [together][]float32
	for first := 0; first < len(to); first += together {
		for k := range row {
			row[k] = rows.Row(min(first+k, len(to)-1))
		}
		var a, b, c, d int32
		for t.nodes[a].leaf|t.nodes[b].leaf|t.nodes[c].leaf|t.nodes[d].leaf < 0 {
			a, b, c, d = t.next(a, row[0]), t.next(b, row[1]), t.next(c, row[2]), t.next(d, row[3])
		}
		for k, n := range [together]int32{a, b, c, d} {
			if first+k < len(to) {
				to[first+k] = t.nodes[n].leaf
			}
		}
	}
}

// find calls do with the leaves of some records in a tree, for all trees and records. A tree stays
// in the cache for all dense records; sets are made dense, a few at a time.
func find(of []*tree, b device.Batch, do func(tree, first int, leaves []int32)) {
	rows, few, read := b.Dense, b.Rows, compare.NewReader(b)
	if b.Sparse != nil {
		few = min(together, b.Rows)
		rows = device.HostMatrix(few, b.Dim(), make([]float32, few*b.Dim()))
	}
	leaves := make([]int32, few)
	for lo := 0; lo < b.Rows; lo += few {
		leaves = leaves[:min(few, b.Rows-lo)]
		for i := 0; b.Sparse != nil && i < len(leaves); i++ {
			copy(rows.Row(i), read.Row(lo+i))
		}
		for j, t := range of {
			t.find(rows, leaves)
			do(j, lo, leaves)
		}
	}
}

// leaves returns the number of leaves.
func (t *tree) leaves() int { return len(t.values) / max(t.width, 1) }

// grower grows one tree, depth first. It keeps, for every class, the weight of its records or, in a
// regression tree, the sum of the targets. It takes the split with the largest Σ sums²/weight over
// its two sides, which has the largest gain in the Gini index or in squared error.
//
// Source: Breiman, Friedman, Olshen and Stone, "Classification and regression
// trees", 1984.
type grower struct {
	bins    *bins
	labels  []int32   // classes of a classification tree
	targets []float64 // targets of a regression tree
	weights []float64 // weights of records; nil for 1
	width   int       // number of sums
	depth   int       // largest depth of a node; 0 for no limit
	try     int       // number of coordinates tried for a split; 0 for all
	rng     *rand.Rand

	out      tree
	rows     []int32
	spare    []int32
	order    []int32 // all coordinates, in the order of the last draw
	constant []bool  // coordinates known to be constant at the current node
	hist     []float64
	flags    []float64 // like hist, of all flags that are set at the current node
	seen     [maxBins / 64]uint64
	side     []float64 // sums left, then right
	total    []float64
	leafOf   []int32 // leaf of every training record, if requested
}

// split is a coordinate and a bin: records up to that bin go left.
type split struct {
	feature, bin int
	threshold    float32
	gain         float64
	found        bool
}

// grow grows a tree on some rows, which it reorders.
func (g *grower) grow(rows []int32) *tree {
	features := len(g.bins.codes)
	g.rows, g.spare = rows, make([]int32, len(rows))
	g.constant, g.order = make([]bool, features), make([]int32, features)
	for i := range g.order {
		g.order[i] = int32(i)
	}
	g.hist = make([]float64, maxBins*(g.width+1))
	if g.try == 0 && g.weights == nil {
		g.flags = make([]float64, features*(g.width+1))
	}
	g.side, g.total = make([]float64, 2*(g.width+1)), make([]float64, g.width+1)
	g.out = tree{width: g.width}
	g.node(0, len(rows), 0)
	return &g.out
}

// node grows the subtree of rows lo … hi-1 and returns its number.
func (g *grower) node(lo, hi, depth int) int32 {
	at := int32(len(g.out.nodes))
	g.out.nodes = append(g.out.nodes, node{})
	g.sum(lo, hi)
	if g.done(lo, hi, depth) {
		g.finish(at, lo, hi)
		return at
	}
	best, met := g.best(lo, hi)
	if !best.found {
		g.release(met)
		g.finish(at, lo, hi)
		return at
	}
	middle := g.partition(lo, hi, best)
	g.node(lo, middle, depth+1)
	right := g.node(middle, hi, depth+1)
	g.out.nodes[at] = node{best.threshold, int32(best.feature), right - at - 1, -1}
	g.release(met)
	return at
}

// release drops the constants that were found in a completed subtree.
func (g *grower) release(met []int32) {
	for _, f := range met {
		g.constant[f] = false
	}
}

func (g *grower) weight(row int32) float64 {
	if g.weights == nil {
		return 1
	}
	return g.weights[row]
}

// sum sets total to the weight of the rows and their sums.
func (g *grower) sum(lo, hi int) {
	clear(g.total)
	for _, r := range g.rows[lo:hi] {
		w := g.weight(r)
		g.total[0] += w
		if g.labels != nil {
			g.total[1+g.labels[r]] += w
		} else {
			g.total[1] += w * g.targets[r]
		}
	}
}

// done reports whether a node must be a leaf, regardless of its possible splits.
func (g *grower) done(lo, hi, depth int) bool {
	if hi-lo < 2 || g.depth > 0 && depth >= g.depth || g.total[0] <= 0 {
		return true
	}
	for _, s := range g.total[1:] {
		if g.labels != nil && s >= g.total[0]*(1-1e-15) {
			return true
		}
	}
	return false
}

// finish makes a leaf of the rows lo … hi-1, whose sums are in total.
func (g *grower) finish(at int32, lo, hi int) {
	leaf := int32(g.out.leaves())
	g.out.nodes[at] = node{float32(math.NaN()), 0, -1, leaf}
	for _, s := range g.total[1:] {
		g.out.values = append(g.out.values, s/max(g.total[0], math.SmallestNonzeroFloat64))
	}
	if g.leafOf != nil {
		for _, r := range g.rows[lo:hi] {
			g.leafOf[r] = leaf
		}
	}
}

// best returns the best split among all coordinates or a few random ones, and lists the coordinates
// that are constant. If all of the random coordinates are constant, it tries further ones.
func (g *grower) best(lo, hi int) (best split, met []int32) {
	best.gain = math.Inf(-1)
	g.countFlags(lo, hi)
	try := len(g.order)
	if g.try > 0 {
		try = min(g.try, try)
	}
	for i := range g.order {
		if i >= try && best.found {
			break
		}
		if try < len(g.order) {
			j := i + g.rng.IntN(len(g.order)-i)
			g.order[i], g.order[j] = g.order[j], g.order[i]
		}
		f := int(g.order[i])
		if g.constant[f] {
			continue
		}
		g.accumulate(f, lo, hi)
		if !g.scan(f, &best) {
			g.constant[f] = true
			met = append(met, int32(f))
		}
	}
	return best, met
}

// countFlags adds up the sums of all flags in one pass, since most flags of a record, such as the
// levels that it does not have, are not set.
func (g *grower) countFlags(lo, hi int) {
	if g.flags == nil {
		return
	}
	clear(g.flags)
	stride := g.width + 1
	for _, r := range g.rows[lo:hi] {
		at, more := 1, 1.0
		if g.labels != nil {
			at += int(g.labels[r])
		} else {
			more = g.targets[r]
		}
		for _, f := range g.bins.flags[r] {
			h := g.flags[int(f)*stride : int(f+1)*stride]
			h[0]++
			h[at] += more
		}
	}
}

// accumulate adds up the weights and sums of each bin of one coordinate. The sums of the classes of
// a bin are its weight, which scan adds up.
func (g *grower) accumulate(f, lo, hi int) {
	codes, stride := g.bins.codes[f], g.width+1
	rows := g.rows[lo:hi]
	switch {
	case g.bins.isFlag[f]:
		g.accumulateFlag(f, codes, rows)
	case g.labels == nil:
		for _, r := range rows {
			c, w := codes[r], g.weight(r)
			g.seen[c>>6] |= 1 << (c & 63)
			h := g.hist[int(c)*2 : int(c)*2+2]
			h[0] += w
			h[1] += w * g.targets[r]
		}
	default:
		for _, r := range rows {
			c := codes[r]
			g.seen[c>>6] |= 1 << (c & 63)
			g.hist[int(c)*stride+1+int(g.labels[r])] += g.weight(r)
		}
	}
}

// accumulateFlag adds up the sums of the rows whose flag is set; the other rows have the rest of
// the total.
func (g *grower) accumulateFlag(f int, codes []uint8, rows []int32) {
	stride, n := g.width+1, 0
	set := g.hist[stride : 2*stride]
	if g.flags != nil {
		n = int(g.flags[f*stride])
		copy(set, g.flags[f*stride:])
	} else {
		for _, r := range rows {
			if codes[r] != 0 {
				n++
				set[0] += g.weight(r)
				set[1+g.labels[r]] += g.weight(r)
			}
		}
	}
	if n > 0 {
		g.seen[0] |= 2
	}
	if n < len(rows) {
		g.seen[0] |= 1
		for s, v := range set {
			g.hist[s] = g.total[s] - v
		}
	}
}

// scan visits the bins that hold records in ascending order and empties them. It reports whether
// there was more than one.
func (g *grower) scan(f int, best *split) bool {
	stride := g.width + 1
	left, right := g.side[:stride], g.side[stride:]
	clear(left)
	copy(right, g.total)
	last := -1
	for word, set := range g.seen {
		for ; set != 0; set &= set - 1 {
			bin := word*64 + bits.TrailingZeros64(set)
			if last >= 0 {
				g.consider(f, last, bin, best)
			}
			h := g.hist[bin*stride : bin*stride+stride]
			if g.labels != nil {
				h[0] = floats.Sum(h[1:])
			}
			for s, v := range h {
				left[s] += v
				right[s] -= v
			}
			clear(h)
			if last < 0 {
				last = bin
				continue
			}
			last = bin | twoSeen
		}
		g.seen[word] = 0
	}
	return last >= twoSeen
}

// twoSeen marks a bin that is not the first.
const twoSeen = maxBins

// consider compares the split between two neighbouring bins with the best.
func (g *grower) consider(f, last, bin int, best *split) {
	stride := g.width + 1
	left, right := g.side[:stride], g.side[stride:]
	if left[0] <= 0 || right[0] <= 0 {
		return
	}
	l, r := 0.0, 0.0
	for s := 1; s < stride; s++ {
		l += left[s] * left[s]
		r += right[s] * right[s]
	}
	gain := l/left[0] + r/right[0]
	if !best.found || gain > best.gain*(1+1e-12) {
		last &^= twoSeen
		middle := (float64(g.bins.hi[f][last]) + float64(g.bins.lo[f][bin])) / 2
		threshold := float32(middle)
		if float64(threshold) > middle {
			threshold = math.Nextafter32(threshold, float32(math.Inf(-1)))
		}
		*best = split{f, last, threshold, gain, true}
	}
}

// partition puts the rows that go left first and keeps the order on both sides.
func (g *grower) partition(lo, hi int, s split) int {
	codes, at, moved := g.bins.codes[s.feature], lo, 0
	for _, r := range g.rows[lo:hi] {
		if int(codes[r]) <= s.bin {
			g.rows[at] = r
			at++
		} else {
			g.spare[moved] = r
			moved++
		}
	}
	copy(g.rows[at:hi], g.spare[:moved])
	return at
}

// allRows returns the numbers 0 … n-1.
func allRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}
