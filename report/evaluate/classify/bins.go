package classify

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// maxBins is the number of values of a byte.
const maxBins = 256

// binSample is the number of records that the edges of bins are computed from.
const binSample = 8192

// bins holds records for trees: for each coordinate, a byte per record with the number of its bin,
// of at most 256. A coordinate with few values has a bin for each of them, which makes trees exact.
// The bins of other coordinates hold equally many records.
//
// Source: the histograms of Ke et al. 2017, "LightGBM", section 2.1.
type bins struct {
	codes  [][]uint8
	lo, hi [][]float32 // the smallest and largest value in every bin
	// A flag is a coordinate of two values that is set, to the larger one, in at most half of the
	// records.
	isFlag []bool
	flags  [][]int32 // of each record, that are set
}

// binsOf returns the binned records, which the first method that needs them computes.
func binsOf(x *judge.Design) (*bins, error) {
	if int64(x.Rows())*int64(x.Dim) > 1<<32 {
		const want = "records that fit into 4 GiB with a byte for each coordinate"
		return nil, param.New("classify.Method.Fit", fmt.Sprintf("%d coordinates", x.Dim), want)
	}
	return x.Shared(func() any { return makeBins(x) }).(*bins), nil
}

func makeBins(x *judge.Design) *bins {
	out := &bins{codes: make([][]uint8, x.Dim), lo: make([][]float32, x.Dim),
		hi: make([][]float32, x.Dim)}
	const together = 64 // number of columns copied in one pass over the rows
	blocks := (x.Dim + together - 1) / together
	compare.Each(blocks, func(block int) {
		first, last := block*together, min((block+1)*together, x.Dim)
		columns := columns(x, first, last)
		for j, values := range columns {
			out.codes[first+j], out.lo[first+j], out.hi[first+j] = binColumn(values)
		}
	})
	out.findFlags(x.Rows())
	return out
}

// findFlags lists the flags of all records that are set.
func (b *bins) findFlags(rows int) {
	b.isFlag, b.flags = make([]bool, len(b.codes)), make([][]int32, rows)
	for f, codes := range b.codes {
		if b.isFlag[f] = len(b.lo[f]) == 2 && 2*bytes.Count(codes, []byte{1}) <= rows; b.isFlag[f] {
			for r, c := range codes {
				if c == 1 {
					b.flags[r] = append(b.flags[r], int32(f))
				}
			}
		}
	}
}

// columns copies some coordinates of all records.
func columns(x *judge.Design, first, last int) [][]float32 {
	out := make([][]float32, last-first)
	for j := range out {
		out[j] = make([]float32, x.Rows())
	}
	if s := x.Batch.Sparse; s != nil {
		for i := range x.Rows() {
			for _, item := range s.Row(i) {
				if int(item) >= first && int(item) < last {
					out[int(item)-first][i] = 1
				}
			}
		}
		return out
	}
	for i := range x.Rows() {
		for j, v := range x.Batch.Dense.Row(i)[first:last] {
			out[j][i] = v
		}
	}
	return out
}

func binColumn(values []float32) (codes []uint8, lo, hi []float32) {
	edges := binEdges(values)
	codes = make([]uint8, len(values))
	lo, hi = make([]float32, len(edges)+1), make([]float32, len(edges)+1)
	seen := make([]bool, len(edges)+1)
	for i, v := range values {
		c := sort.Search(len(edges), func(k int) bool { return v <= edges[k] })
		codes[i] = uint8(c)
		if !seen[c] {
			lo[c], hi[c], seen[c] = v, v, true
		}
		lo[c], hi[c] = min(lo[c], v), max(hi[c], v)
	}
	return codes, lo, hi
}

// binEdges returns the largest value of each bin but the last. If there are many records, it uses a
// sample of equally spaced records.
func binEdges(values []float32) []float32 {
	sample := make([]float32, 0, min(len(values), binSample))
	for i := range cap(sample) {
		sample = append(sample, values[i*len(values)/cap(sample)])
	}
	slices.Sort(sample)
	distinct := slices.Compact(slices.Clone(sample))
	if len(distinct) <= maxBins {
		return distinct[:max(len(distinct)-1, 0)]
	}
	edges := make([]float32, 0, maxBins-1)
	for b := 1; b < maxBins; b++ {
		edge := sample[b*len(sample)/maxBins-1]
		if len(edges) == 0 || edge > edges[len(edges)-1] {
			edges = append(edges, edge)
		}
	}
	if len(edges) > 0 && edges[len(edges)-1] == sample[len(sample)-1] {
		edges = edges[:len(edges)-1]
	}
	return edges
}
