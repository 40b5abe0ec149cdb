// Package regress has regressors that learn from rows of numbers.
package regress

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// A sample holds encoded rows, and their targets, scaled to mean 0 and deviation 1 of the rows that
// are learnt from.
type sample struct {
	x [][]float32
	y []float64
}

// Explained returns R² on test rows of boosting and of a network that learn the target from rows,
// without the columns to drop.
func Explained(rows, test *records.Frame, drop []string) (boosted, predicted float64, err error) {
	schema := rows.Schema()
	target := slices.IndexFunc(schema.Columns(), func(c records.Column) bool {
		return c.Kind() == records.TargetColumn
	})
	if target < 0 {
		return 0, 0, errors.New("the schema has neither a label nor a target")
	}
	var keep []int
	for _, b := range schema.Blocks() {
		name := schema.Columns()[b.Column].Name()
		for j := range b.Width {
			if b.Column != target && !slices.Contains(drop, name) {
				keep = append(keep, b.Offset+j)
			}
		}
	}
	train, held := encode(rows, keep, target), encode(test, keep, target)
	mean, deviation := moments(train.y)
	for _, s := range []sample{train, held} {
		for i := range s.y {
			s.y[i] = (s.y[i] - mean) / max(deviation, 1e-12)
		}
	}
	found, err := network(train, held)
	if err != nil {
		return 0, 0, err
	}
	return explained(held.y, boosting(train, held)), explained(held.y, found), nil
}

func encode(f *records.Frame, keep []int, target int) (s sample) {
	s.y = f.Numbers(target)
	var row []float32
	for i := range f.Len() {
		row = f.Row(row, i)
		x := make([]float32, len(keep))
		for k, j := range keep {
			x[k] = row[j]
		}
		s.x = append(s.x, x)
	}
	return s
}

// moments returns the mean and the standard deviation.
func moments(all []float64) (mean, deviation float64) {
	for _, v := range all {
		mean += v / float64(len(all))
	}
	for _, v := range all {
		deviation += (v - mean) * (v - mean) / float64(len(all))
	}
	return mean, math.Sqrt(deviation)
}

// explained returns R².
func explained(truth, predicted []float64) float64 {
	_, deviation := moments(truth)
	sum := 0.0
	for i, y := range truth {
		sum += (y - predicted[i]) * (y - predicted[i])
	}
	return 1 - sum/(deviation*deviation*float64(len(truth)))
}

// network trains a multilayer perceptron with squared loss.
func network(train, test sample) ([]float64, error) {
	const batch, epochs = 100, 30
	dim, be := len(train.x[0]), device.CPU()
	net, err := models.Build(be, dim+1, 1, func(v models.Value) models.Loss {
		h := v.Columns(0, dim).Dense(100).Apply(device.ReLU).Dense(100).Apply(device.ReLU).Dense(1)
		return h.Likelihood(models.GaussianUnit, v.Columns(dim, dim+1))
	})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 0x6e6574))
	steps := (len(train.x) + batch - 1) / batch
	descent := net.Descent(be, 0.003, epochs*steps)
	for range epochs {
		order := rng.Perm(len(train.x))
		for part := range slices.Chunk(order, batch) {
			b := train.batch(part)
			descent(net.Gradients(b), b.Rows)
		}
	}
	out := make([]float32, len(test.x))
	all := make([]int, len(test.x))
	for i := range all {
		all[i] = i
	}
	net.Predict(test.batch(all), device.HostMatrix(len(out), 1, out))
	predicted := make([]float64, len(out))
	for i, v := range out {
		predicted[i] = float64(v)
	}
	return predicted, nil
}

// batch returns rows with their targets behind them.
func (s sample) batch(rows []int) device.Batch {
	var flat []float32
	for _, i := range rows {
		flat = append(append(flat, s.x[i]...), float32(s.y[i]))
	}
	return device.Batch{Rows: len(rows), Dense: device.HostMatrix(len(rows), len(s.x[0])+1, flat)}
}

// boosting adds up regression trees of depth 5 on 64 bins of every coordinate, each fitted to what
// the trees before leave, with a rate of .1.
func boosting(train, test sample) []float64 {
	const trees, depth, rate = 200, 5, 0.1
	g := newGrower(train)
	predicted, rows := make([]float64, len(test.y)), make([]int, len(train.y))
	for range trees {
		for i := range rows {
			rows[i] = i
		}
		t := g.grow(rows, depth)
		for i, x := range train.x {
			g.left[i] -= rate * t.value(x)
		}
		for i, x := range test.x {
			predicted[i] += rate * t.value(x)
		}
	}
	return predicted
}

type tree struct {
	feature  int
	edge     float32 // smaller coordinates go down
	down, up *tree   // nil in a leaf
	mean     float64
}

func (t *tree) value(x []float32) float64 {
	for t.down != nil {
		if x[t.feature] < t.edge {
			t = t.down
		} else {
			t = t.up
		}
	}
	return t.mean
}

const (
	mostBins  = 64
	leastLeaf = 20 // rows
)

type grower struct {
	edges [][]float32 // of each coordinate
	codes [][]uint8   // of each coordinate, by row: the number of edges that are not above it
	left  []float64   // of the targets
}

func newGrower(s sample) *grower {
	g := &grower{left: slices.Clone(s.y)}
	for j := range s.x[0] {
		values := make([]float32, len(s.x))
		for i, x := range s.x {
			values[i] = x[j]
		}
		slices.Sort(values)
		var edges []float32
		for k := 1; k < mostBins; k++ {
			if e := values[k*len(values)/mostBins]; e > values[0] {
				edges = append(edges, e)
			}
		}
		if last := values[len(values)-1]; last > values[0] {
			edges = append(edges, last) // of a rare level no other edge may be left
		}
		edges = slices.Compact(edges)
		codes := make([]uint8, len(s.x))
		for i, x := range s.x {
			codes[i] = uint8(sort.Search(len(edges), func(k int) bool { return edges[k] > x[j] }))
		}
		g.edges, g.codes = append(g.edges, edges), append(g.codes, codes)
	}
	return g
}

// grow returns a tree for rows, which it reorders.
func (g *grower) grow(rows []int, depth int) *tree {
	total := 0.0
	for _, i := range rows {
		total += g.left[i]
	}
	t := &tree{mean: total / float64(len(rows))}
	if depth == 0 || len(rows) < 2*leastLeaf {
		return t
	}
	best := 1e-9
	at := -1
	for j := range g.edges {
		if gain, k := g.split(rows, j, total); gain > best {
			best, at, t.feature = gain, k, j
		}
	}
	if at < 0 {
		return t
	}
	t.edge = g.edges[t.feature][at]
	n := 0
	for k, i := range rows {
		if int(g.codes[t.feature][i]) <= at {
			rows[n], rows[k] = rows[k], rows[n]
			n++
		}
	}
	t.down, t.up = g.grow(rows[:n], depth-1), g.grow(rows[n:], depth-1)
	return t
}

// split returns the best edge of a coordinate, and how much less the squared error is.
func (g *grower) split(rows []int, j int, total float64) (best float64, at int) {
	var sums, counts [mostBins + 1]float64
	for _, i := range rows {
		sums[g.codes[j][i]] += g.left[i]
		counts[g.codes[j][i]]++
	}
	n, sum, count := float64(len(rows)), 0.0, 0.0
	for k := range g.edges[j] {
		sum, count = sum+sums[k], count+counts[k]
		if count < leastLeaf || n-count < leastLeaf {
			continue
		}
		rest := total - sum
		if gain := sum*sum/count + rest*rest/(n-count) - total*total/n; gain > best {
			best, at = gain, k
		}
	}
	return best, at
}
