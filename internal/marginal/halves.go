package marginal

import (
	"context"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Halves is the release of the counts of columns of numbers in intervals of all lengths. The codes
// of a column are halved again and again until single codes remain. For each interval, the
// difference between the records in its first and in its second half is released, and for all
// columns together the number of records. The first two parts of a column are its neighbouring
// codes, and its other codes: a missing value and, if the column is divided into cells, both
// bounds.
//
// Noise of long intervals is thereby much smaller than in a release of single codes, whose noise
// adds up.
//
// Source: Xiao, Wang and Gehrke, "Differential Privacy via Wavelet Transforms", 2010; here with
// Gaussian noise, and the same noise in each level.
type Halves struct {
	Attributes []Attribute
	Relation   accountant.Relation
}

// layout is the order of a column's codes: first those whose counts are likely to be similar to
// their neighbours', then the other ones.
type layout struct {
	position   []int // of each code
	neighbours int   // number of codes in the first part
}

func layoutOf(a Attribute) layout {
	l := layout{position: make([]int, a.Codes), neighbours: a.Ordered()}
	for code := range l.position {
		l.position[code] = code
	}
	if a.Cells == 0 {
		return l
	}
	l.neighbours -= 2
	for code := range l.neighbours {
		l.position[code+1] = code
	}
	l.position[0], l.position[l.neighbours+1] = l.neighbours, l.neighbours+1
	return l
}

// interval is an interval of positions, from first to before end. Its halves meet at mid.
type interval struct {
	first, mid, end int
	level           int    // the number of longer intervals that hold it
	halves          [2]int // positions of its halves in the list; 0 for a single position
}

// intervals returns the intervals of at least two positions, level by level. The first holds all
// positions.
func (l layout) intervals() []interval {
	if len(l.position) < 2 {
		return nil
	}
	list := []interval{{end: len(l.position)}}
	for i := 0; i < len(list); i++ {
		n := list[i]
		if n.mid = (n.first + n.end) / 2; i == 0 && l.parted() {
			n.mid = l.neighbours
		}
		for k, half := range [2][2]int{{n.first, n.mid}, {n.mid, n.end}} {
			if half[1]-half[0] >= 2 {
				n.halves[k] = len(list)
				list = append(list, interval{first: half[0], end: half[1], level: n.level + 1})
			}
		}
		list[i] = n
	}
	return list
}

// parted reports whether both parts have codes.
func (l layout) parted() bool { return l.neighbours > 0 && l.neighbours < len(l.position) }

// depth returns the largest number of intervals that hold one position.
func (l layout) depth() (levels int) {
	for _, n := range l.intervals() {
		levels = max(levels, n.level+1)
	}
	return levels
}

// squaredSensitivity returns a bound of the squared Euclidean norm of the change of all released
// numbers.
//
// A record changes one difference in each level of each column by 1, and the number of records by
// 1. If a record is replaced, the number of records stays. In each column, differences above the
// level where the two records part stay, the one in this level changes by 2, and in each deeper
// level two differences change by 1. This is largest if they part in the first level.
func (h Halves) squaredSensitivity() float64 {
	sum := 0.0
	for _, a := range h.Attributes {
		if d := float64(layoutOf(a).depth()); h.Relation == accountant.ReplaceOne {
			sum += 4 + 2*max(d-1, 0)
		} else {
			sum += d
		}
	}
	if h.Relation == accountant.ReplaceOne {
		return sum
	}
	return sum + 1
}

// Std returns the standard deviation of the noise of every released number. The joint release then
// has an effect of 1/noise.
func (h Halves) Std(noise float64) float64 { return noise * math.Sqrt(h.squaredSensitivity()) }

// size returns the number of released numbers.
func (h Halves) size() int {
	n := 1
	for _, a := range h.Attributes {
		n += max(a.Codes-1, 0)
	}
	return n
}

// Drawable reports whether noise of the given multiplier can be drawn on the grid of the sums; see
// Survey.Drawable.
func (h Halves) Drawable(noise float64) bool {
	const inShares = 1 << 43
	std, grid := h.Std(noise), TableGrid(h.Std(1))
	return std >= grid && std <= inShares*grid
}

// Counter returns a counter of the differences. Its numbers are private.
func (h Halves) Counter() *Histogram {
	layouts, trees := make([]layout, len(h.Attributes)), make([][]interval, len(h.Attributes))
	for j, a := range h.Attributes {
		layouts[j] = layoutOf(a)
		trees[j] = layouts[j].intervals()
	}
	cells := func(codes [][]uint16, shares, counts []int64) {
		for _, s := range shares {
			counts[0] += s
		}
		first := 1
		for j, tree := range trees {
			own := counts[first : first+len(tree)]
			for i, code := range codes[j] {
				add(tree, layouts[j].position[code], shares[i], own)
			}
			first += len(tree)
		}
	}
	return NewHistogram(h.Attributes, cells,
		mechanism.NewFixedSum(h.size(), TableGrid(h.Std(1))))
}

// add adds a record at a position to the differences of the intervals that hold the position.
func add(tree []interval, position int, share int64, differences []int64) {
	for i, more := 0, len(tree) > 0; more; more = i > 0 {
		if n := &tree[i]; position < n.mid {
			differences[i] += share
			i = n.halves[0]
		} else {
			differences[i] -= share
			i = n.halves[1]
		}
	}
}

// Release counts the run's records and releases the differences with noise of the given multiplier.
// It returns, for each column, the estimated fraction of records with each code.
//
// Errors: ctx.Err(); synth.ErrData if the records cannot be read; all errors of Run.Once.
func (h Halves) Release(ctx context.Context, r *synth.Run, purpose string,
	noise float64) (parts [][]float64, err error) {
	std := h.Std(noise)
	out, err := r.Once(purpose, []int{h.size()}, func() (float64, []mechanism.Part, error) {
		counter := h.Counter()
		if err := counter.Add(ctx, r.Data); err != nil {
			return 0, nil, err
		}
		if records.Failed(r.Data) {
			return 0, nil, synth.ErrData
		}
		return 1 / noise, []mechanism.Part{{Sum: counter.Sums()[0], Std: std}}, nil
	})
	if err != nil {
		return nil, err
	}
	r.Report(purpose, 1, 1)
	std *= r.Wider(purpose)
	total, rest := max(out[0][0], 1), out[0][1:]
	for _, a := range h.Attributes {
		n := max(a.Codes-1, 0)
		parts = append(parts, layoutOf(a).fractions(rest[:n], total, std))
		rest = rest[n:]
	}
	return parts, nil
}

// explained is the largest difference, in standard deviations of the noise, that is taken for
// noise.
const explained = 2.5

// fractions estimates the fraction of records with each code from the released differences of a
// column. A difference between neighbours that noise explains is replaced by the difference that
// the neighbouring intervals suggest. If noise explains the records outside of the first part,
// there are none.
//
// The differences are divided by the number of records first, so that no sum overflows.
func (l layout) fractions(differences []float64, total, std float64) []float64 {
	list := l.intervals()
	shares := make([]float64, len(l.position)) // by position; an interval's records are evenly spread
	for i := range shares {
		shares[i] = 1 / float64(len(shares))
	}
	for level := range l.depth() {
		next := slices.Clone(shares)
		for i, n := range list {
			if n.level == level {
				n.write(l.difference(n, differences[i]/total, shares, std/total), shares, next)
			}
		}
		shares = next
	}
	parts := make([]float64, len(shares))
	for code, at := range l.position {
		parts[code] = shares[at]
	}
	return parts
}

// difference estimates the difference between the halves of an interval. The argument shares has
// the fractions of records of all intervals of this level.
func (l layout) difference(n interval, released float64, shares []float64, std float64) float64 {
	width := float64(n.end - n.first)
	mean := shares[n.first]
	guess := released
	switch {
	case n.level == 0 && l.parted():
		guess = mean * width
	case n.end <= l.neighbours:
		before, after := mean, mean
		if n.first > 0 {
			before = shares[n.first-1]
		}
		if n.end < l.neighbours {
			after = shares[n.end]
		}
		// the parabola with the means before, mean and after in three intervals of this width
		guess = mean*float64(2*n.mid-n.first-n.end) + (before-after)*width/8
	}
	if math.Abs(released-guess) > explained*std {
		guess = released
	}
	return min(max(guess, -mean*width), mean*width)
}

// write writes the shares of an interval's halves to next.
func (n interval) write(difference float64, shares, next []float64) {
	share := shares[n.first] * float64(n.end-n.first)
	for i := n.first; i < n.end; i++ {
		if i < n.mid {
			next[i] = (share + difference) / 2 / float64(n.mid-n.first)
		} else {
			next[i] = (share - difference) / 2 / float64(n.end-n.mid)
		}
	}
}
