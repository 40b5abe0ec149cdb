package kmeans

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// merge merges centres into k groups by Ward's method (Ward 1963). Each step merges the two groups
// whose union increases the sum of squared distances least. This sum is computed from centres and
// counts. merge uses released numbers only, so it costs no privacy.
//
// With more centres than clusters, a cluster can have a shape other than a ball. Two centres may
// also start in the same cluster, and iterations seldom separate them. A centre whose noisy count
// is below one counts as one record, so it is soon merged with its nearest neighbour.
func merge(centers [][]float64, counts []float64, k int) []int {
	n := len(centers)
	group, size := make([]int, n), make([]float64, n)
	for i := range group {
		group[i], size[i] = i, max(counts[i], 1)
	}
	cost := make([][]float64, n) // cost of merging two groups
	for i := range cost {
		cost[i] = make([]float64, n)
		for j := range i {
			c := size[i] * size[j] / (size[i] + size[j]) * distance(centers[i], centers[j:j+1])
			cost[i][j], cost[j][i] = c, c
		}
	}
	gone := make([]bool, n)
	for left := n; left > k; left-- {
		a, b := cheapest(cost, gone)
		for o := range n { // Lance and Williams 1967
			if gone[o] || o == a || o == b {
				continue
			}
			c := ((size[a]+size[o])*cost[a][o] + (size[b]+size[o])*cost[b][o] - size[o]*cost[a][b]) /
				(size[a] + size[b] + size[o])
			cost[a][o], cost[o][a] = c, c
		}
		size[a] += size[b]
		gone[b] = true
		for i, g := range group {
			if g == b {
				group[i] = a
			}
		}
	}
	return renumbered(group)
}

// cheapest returns the pair of groups with the smallest cost, the lower number first.
func cheapest(cost [][]float64, gone []bool) (a, b int) {
	best := math.Inf(1)
	a, b = -1, -1
	for i := range cost {
		for j := i + 1; j < len(cost); j++ {
			if !gone[i] && !gone[j] && (a < 0 || cost[i][j] < best) {
				a, b, best = i, j, cost[i][j]
			}
		}
	}
	return a, b
}

// renumbered numbers the groups from 0 in the order of their first centres.
func renumbered(group []int) []int {
	number := map[int]int{}
	out := make([]int, len(group))
	for i, g := range group {
		if _, known := number[g]; !known {
			number[g] = len(number)
		}
		out[i] = number[g]
	}
	return out
}

// grouped adds up counts by group.
func grouped(counts []float64, group []int, k int) []float64 {
	total := make([]float64, k)
	for i, g := range group {
		total[g] += counts[i]
	}
	return total
}

// merge replaces the centres by the k means of groups of centres. From then on only k centres are
// in use, although releases keep a row for each original centre. The unused centres are so far away
// that no clipped record is nearest to them, so their rows of later releases consist of noise.
func (u *updater) merge(centers [][]float64, counts []float64, k int) [][]float64 {
	group := merge(centers, counts, k)
	means, sizes := make([][]float64, k), make([]float64, k)
	for i, g := range group {
		if means[g] == nil {
			means[g] = make([]float64, u.dim)
		}
		size := max(counts[i], 1)
		floats.AddScaled(means[g], size, centers[i])
		sizes[g] += size
	}
	for g, m := range means {
		floats.Scale(1/sizes[g], m)
	}
	far := make([]float64, u.dim)
	far[0] = 4 * u.noise.clip
	for range len(centers) - k {
		means = append(means, far)
	}
	u.reset()
	u.active = k
	return means
}
