package tabular

import "math"

// A Share is the fraction of all records with one level, or with a number in [From, To). The last
// bin includes its end.
type Share struct {
	Level    string // the level; empty for a bin
	From, To float64
	Part     float64
}

// Histogram is the distribution of one column.
type Histogram struct {
	Column     string
	Kind       string // as in the schema
	Number     bool
	Shares     []Share
	HasMissing bool
	Missing    float64 // fraction of the records whose value is missing
}

// Histograms returns the distributions of all columns, with numbers in bins between their public
// bounds, of equal width on the scale of the schema's encoding.
func (t *Table) Histograms(bins int) []Histogram {
	var out []Histogram
	for _, c := range t.columns {
		h := Histogram{Column: c.name, Kind: c.kind, Number: c.number, HasMissing: c.missing}
		codes, levels := c.coded(bins)
		counts := make([]float64, levels)
		for _, code := range codes {
			counts[code]++
		}
		for i := range counts {
			counts[i] /= float64(max(len(codes), 1))
		}
		h.Missing = counts[levels-1]
		edges := c.edges(bins)
		for i, part := range counts[:levels-1] {
			if c.number {
				h.Shares = append(h.Shares, Share{From: edges[i], To: edges[i+1], Part: part})
			} else {
				h.Shares = append(h.Shares, Share{Level: c.levels[i], From: math.NaN(), To: math.NaN(),
					Part: part})
			}
		}
		out = append(out, h)
	}
	return out
}

// edges returns the bounds of the bins of a column of numbers.
func (c column) edges(bins int) []float64 {
	if !c.number {
		return nil
	}
	edges := make([]float64, bins+1)
	for i := range edges {
		at := float64(i) / float64(bins)
		edges[i] = c.lo + at*(c.hi-c.lo)
		if c.log > 0 {
			edges[i] = c.lo + c.log*math.Expm1(at*c.logs)
		}
	}
	return edges
}

// place returns the position of a number on the scale of the schema, in [0, 1].
func (c column) place(v float64) float64 {
	if c.log > 0 {
		return math.Log1p((v-c.lo)/c.log) / c.logs
	}
	return (v - c.lo) / (c.hi - c.lo)
}

// coded returns the column as levels. The last level is for missing values.
func (c column) coded(bins int) (codes []int32, levels int) {
	codes = make([]int32, c.len())
	if !c.number {
		levels = len(c.levels) + 1
		for i, code := range c.codes {
			if code < 0 {
				code = int32(levels - 1)
			}
			codes[i] = code
		}
		return codes, levels
	}
	for i, v := range c.values {
		codes[i] = int32(bins)
		if !math.IsNaN(v) {
			codes[i] = int32(min(max(int(c.place(v)*float64(bins)), 0), bins-1))
		}
	}
	return codes, bins + 1
}
