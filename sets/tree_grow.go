package sets

import (
	"math"
	"math/rand/v2"
	"slices"
)

// branch is an item with its probabilities given its parent, or its probability if it has no
// parent.
type branch struct {
	item    uint32
	parent  int     // an earlier branch, -1 for none
	with    float64 // probability if the parent is in the record
	without float64 // probability if the parent is not in the record, or there is no parent
}

// branches is a forest in which parents come before their children.
type branches []branch

// grow returns a tree of the chosen items and the other items as single branches.
func grow(perItem []float64, n float64, chosen []uint32, perPair []float64, std float64) branches {
	b := builder{perItem, n, chosen, perPair, std}
	out := b.span()
	paired := make([]bool, len(perItem))
	for _, item := range chosen {
		paired[item] = true
	}
	for item, c := range perItem {
		if !paired[item] {
			out = append(out, branch{uint32(item), -1, 0, c / n})
		}
	}
	return out
}

type builder struct {
	perItem []float64
	n       float64
	chosen  []uint32
	perPair []float64
	std     float64
}

// span returns the tree of largest total information, by Prim's algorithm.
func (b builder) span() branches {
	size := len(b.chosen)
	best, from, at := make([]float64, size), make([]int, size), make([]int, size)
	left := make([]int, size)
	for i := range left {
		left[i], from[i] = i, -1
	}
	var out branches
	for len(left) > 0 {
		pick := 0
		for k, i := range left {
			if best[i] > best[left[pick]] {
				pick = k
			}
		}
		i := left[pick]
		left = slices.Delete(left, pick, pick+1)
		at[i] = len(out)
		out = append(out, b.branch(i, from[i], at))
		for _, j := range left {
			if info := b.information(i, j); info > best[j] {
				best[j], from[j] = info, i
			}
		}
	}
	return out
}

func (b builder) count(rank int) float64 { return b.perItem[b.chosen[rank]] }

// both returns the released count of a pair, clamped to the range that the items' counts allow.
func (b builder) both(i, j int) float64 {
	x, y := b.count(i), b.count(j)
	return min(max(b.perPair[pairAt(i, j)], x+y-b.n, 0), x, y)
}

// information returns n times the mutual information of two items, or 0 if the difference from
// independence may be noise.
func (b builder) information(i, j int) float64 {
	x, y := b.count(i), b.count(j)
	if math.Abs(b.perPair[pairAt(i, j)]-x*y/b.n) < significance*b.std {
		return 0
	}
	both := b.both(i, j)
	return term(both, x, y, b.n) + term(x-both, x, b.n-y, b.n) + term(y-both, b.n-x, y, b.n) +
		term(b.n-x-y+both, b.n-x, b.n-y, b.n)
}

func term(both, x, y, n float64) float64 {
	if !(both > 0) || !(x > 0) || !(y > 0) {
		return 0
	}
	return both * math.Log(both*n/(x*y))
}

func (b builder) branch(i, parent int, at []int) branch {
	c := b.count(i)
	if parent < 0 {
		return branch{b.chosen[i], -1, 0, c / b.n}
	}
	p, both := b.count(parent), b.both(i, parent)
	return branch{b.chosen[i], at[parent], part(both, p), part(c-both, b.n-p)}
}

func part(a, b float64) float64 {
	if !(b > 0) {
		return 0
	}
	return min(max(a/b, 0), 1)
}

// draw draws the items of n records, branch by branch. Its time is proportional to the number of
// items drawn.
func (t branches) draw(rng *rand.Rand, n int) [][]uint32 {
	have := make([][]int, len(t)) // for each branch, the records with its item
	rows := make([][]uint32, n)
	inParent := make([]bool, n)
	for k, b := range t {
		var list []int
		var parent []int
		if b.parent >= 0 {
			parent = have[b.parent]
		}
		for _, i := range parent {
			inParent[i] = true
		}
		eachHit(rng, b.without, n, func(i int) {
			if !inParent[i] {
				list = append(list, i)
			}
		})
		for _, i := range parent {
			inParent[i] = false
			if rng.Float64() < b.with {
				list = append(list, i)
			}
		}
		for _, i := range list {
			rows[i] = append(rows[i], b.item)
		}
		have[k] = list
	}
	return rows
}
