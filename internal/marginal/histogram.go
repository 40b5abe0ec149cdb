package marginal

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// Histogram counts the rows in each cell, in steps of records.ShareStep.
type Histogram struct {
	attributes []Attribute
	sums       []*mechanism.FixedSum
	counts     []int64 // counts of all sums, one after another
	codes      [][]uint16
	cells      func(codes [][]uint16, shares []int64, counts []int64)
	rest       func(counts []int64) // computes counts that cells leaves out; may be nil
}

// BatchRows is the number of rows read at a time. After flushBatches batches the counts are added
// to the sums.
const (
	BatchRows    = 4096
	flushBatches = 128
)

// Add counts the records of data.
func (c *Histogram) Add(ctx context.Context, data records.Data) error {
	data, weights := records.RowsOf(data)
	shares := make([]int64, 0, BatchRows)
	batches := 0
	err := network.EachNonzeros(ctx, data, BatchRows, func(lo int, z *records.Nonzeros) {
		CodesOf(c.attributes, z, c.codes)
		shares = shares[:0]
		for i := range z.Rows {
			shares = append(shares, int64(weights.Of(lo+i)/records.ShareStep))
		}
		c.cells(c.codes, shares, c.counts)
		if batches++; batches%flushBatches == 0 {
			c.flush()
		}
	})
	c.flush()
	return err
}

// flush adds the counts to the sums. This is exact, because the grids divide ShareStep.
func (c *Histogram) flush() {
	if c.rest != nil {
		c.rest(c.counts)
	}
	at := 0
	for _, s := range c.sums {
		for i := range s.Dim() {
			if n := c.counts[at+i]; n != 0 {
				s.AddShare(i, float64(n)*records.ShareStep)
				c.counts[at+i] = 0
			}
		}
		at += s.Dim()
	}
}

// Sums returns the counts.
func (c *Histogram) Sums() []*mechanism.FixedSum { return c.sums }

// NewHistogram returns a histogram without rows. The function cells adds the weights of rows to
// their cells.
func NewHistogram(attributes []Attribute,
	cells func(codes [][]uint16, shares, counts []int64), sums ...*mechanism.FixedSum) *Histogram {
	total := 0
	for _, s := range sums {
		total += s.Dim()
	}
	return &Histogram{attributes: attributes, sums: sums, counts: make([]int64, total),
		codes: make([][]uint16, len(attributes)), cells: cells}
}

// Completed sets the function that computes the counts that cells leaves out from the other counts.
// It returns the histogram.
func (c *Histogram) Completed(rest func(counts []int64)) *Histogram {
	c.rest = rest
	return c
}

// TableGrid returns a grid step that is small compared with the noise, divides ShareStep, and
// leaves room for billions of records.
func TableGrid(std float64) float64 {
	return min(mechanism.GridFor(std)*(1<<18), records.ShareStep)
}

// InParallel calls f with 0, …, n−1, concurrently.
func InParallel(n int, f func(int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := w; i < n; i += workers {
				f(i)
			}
		}()
	}
	wait.Wait()
}

// CountCells adds the weight of each row to its cell of a table.
func CountCells(sizes []int, attributes []int, codes [][]uint16, shares, counts []int64) {
	n := len(shares) // no other index of a row is checked
	switch len(attributes) {
	case 1:
		for i, x := range codes[attributes[0]] {
			counts[x] += shares[i]
		}
	case 2:
		first, second := codes[attributes[0]][:n], codes[attributes[1]][:n]
		size := sizes[attributes[1]]
		for i, share := range shares {
			counts[int(first[i])*size+int(second[i])] += share
		}
	case 3:
		first, second := codes[attributes[0]][:n], codes[attributes[1]][:n]
		third, size, last := codes[attributes[2]][:n], sizes[attributes[1]], sizes[attributes[2]]
		for i, share := range shares {
			counts[(int(first[i])*size+int(second[i]))*last+int(third[i])] += share
		}
	default:
		for i, share := range shares {
			counts[cellOf(sizes, attributes, codes, i)] += share
		}
	}
}

// CountRows adds one for each row to its cell of a table. Without weights it is a third faster.
func CountRows(sizes []int, attributes []int, codes [][]uint16, counts []int64) {
	first := codes[attributes[0]]
	n, last := len(first), attributes[len(attributes)-1]
	final, size := codes[last][:n], sizes[last]
	switch len(attributes) {
	case 2:
		for i, x := range first {
			counts[int(x)*size+int(final[i])]++
		}
	case 3:
		second, middle := codes[attributes[1]][:n], sizes[attributes[1]]
		for i, x := range first {
			counts[(int(x)*middle+int(second[i]))*size+int(final[i])]++
		}
	default:
		for i := range n {
			counts[cellOf(sizes, attributes, codes, i)]++
		}
	}
}

// cellOf returns the cell of row i.
func cellOf(sizes []int, attributes []int, codes [][]uint16, i int) (cell int) {
	for _, a := range attributes {
		cell = cell*sizes[a] + int(codes[a][i])
	}
	return cell
}

// ExpectedNoise returns the expected sum of the absolute values of the noise in a table.
func ExpectedNoise(cells int, std float64) float64 {
	return math.Sqrt(2/math.Pi) * std * float64(cells)
}
