package evaluate

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// assign assigns rows to columns one to one at the smallest total cost: row i to column match[i].
// If there are more rows than columns, the remaining rows have match -1.
//
// Shapes: cost is rows × columns, every row of the same length.
// Errors: *[param.Error] for a ragged matrix or a cost that is not finite.
// Source: Kuhn 1955; found by shortest augmenting paths with potentials, as in
// Jonker and Volgenant 1987, in O(n²·m) for n ≤ m.
func assign(cost [][]float64) (match []int, total float64, err error) {
	rows, columns := len(cost), 0
	if rows > 0 {
		columns = len(cost[0])
	}
	for i, row := range cost {
		if len(row) != columns {
			return nil, 0,
				param.New(fmt.Sprintf("evaluate: assign row %d", i), len(row),
					fmt.Sprintf("%d columns", columns))
		}
		for j, c := range row {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return nil, 0, param.New(fmt.Sprintf("evaluate: assign cost %d,%d", i, j), c, "a finite cost")
			}
		}
	}
	if rows <= columns {
		match = augment(rows, columns, func(i, j int) float64 { return cost[i][j] })
	} else {
		match = inverse(augment(columns, rows, func(i, j int) float64 { return cost[j][i] }), rows)
	}
	for i, j := range match {
		if j >= 0 {
			total += cost[i][j]
		}
	}
	return match, total, nil
}

// inverse returns the inverse of a matching.
func inverse(match []int, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	for i, j := range match {
		out[j] = i
	}
	return out
}

// augment matches each of n rows to one of m ≥ n columns, row by row. It adds a row and flips the
// cheapest alternating path from this row to a free column. The potentials keep all reduced costs
// non-negative, and the reduced costs of matched pairs 0. The path can therefore be found as in
// Dijkstra's algorithm.
func augment(n, m int, cost func(i, j int) float64) []int {
	s := matching{
		cost: cost, m: m,
		u: make([]float64, n), v: make([]float64, m),
		rowOf: make([]int, m), before: make([]int, m),
		slack: make([]float64, m), done: make([]bool, m),
	}
	for j := range s.rowOf {
		s.rowOf[j] = free
	}
	for i := range n {
		s.flip(i, s.path(i))
	}
	match := make([]int, n)
	for j, i := range s.rowOf {
		if i != free {
			match[i] = j
		}
	}
	return match
}

const free = -1

type matching struct {
	cost   func(i, j int) float64
	m      int
	u, v   []float64 // potentials of rows and columns
	rowOf  []int     // row matched to a column
	before []int     // column before this one on the cheapest path to it
	slack  []float64 // cheapest reduced cost of reaching a column
	done   []bool    // column is on the tree
}

// path grows the tree of cheapest paths from a new row until it reaches a free column, and returns
// this column.
func (s *matching) path(root int) int {
	for j := range s.m {
		s.slack[j], s.before[j], s.done[j] = math.Inf(1), free, false
	}
	row, column := root, free
	for {
		next, step := s.nearest(row, column)
		s.shift(root, step)
		if s.rowOf[next] == free {
			return next
		}
		s.done[next] = true
		row, column = s.rowOf[next], next
	}
}

// nearest relaxes the edges of a row that has joined the tree by a column. It returns the cheapest
// column outside the tree.
func (s *matching) nearest(row, column int) (next int, step float64) {
	step = math.Inf(1)
	for j := range s.m {
		if s.done[j] {
			continue
		}
		if c := s.cost(row, j) - s.u[row] - s.v[j]; c < s.slack[j] {
			s.slack[j], s.before[j] = c, column
		}
		if s.slack[j] < step {
			next, step = j, s.slack[j]
		}
	}
	return next, step
}

// shift changes the potentials. The reduced cost of the next column's edge becomes 0.
func (s *matching) shift(root int, step float64) {
	s.u[root] += step
	for j := range s.m {
		if s.done[j] {
			s.u[s.rowOf[j]] += step
			s.v[j] -= step
		} else {
			s.slack[j] -= step
		}
	}
}

// flip matches the columns of the path to the rows before them.
func (s *matching) flip(root, column int) {
	for s.before[column] != free {
		s.rowOf[column] = s.rowOf[s.before[column]]
		column = s.before[column]
	}
	s.rowOf[column] = root
}
