package mix

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A population describes the records of a table or of sets as far as released mixtures show them:
// what every coordinate of every class is like on its own, and what coordinates have in common.
//
// A record of a class is drawn from latent numbers z, independent and normal. A level, an item or
// a flag has a probability that is a logistic function of z, and a number is one itself.
// Intercepts are set so that on average over z every coordinate has the class's estimated mean;
// the slopes are those that give pairs of coordinates the estimated correlation. A mixture
// itself, rounded to a record, would be a blurred average: the most frequent level of every
// column, whoever was mixed.
//
// Guarantee: post-processing of released rows.
type population struct {
	schema  records.Schema
	blocks  []block
	shares  []float64 // of the classes; one where records carry no label
	classes []margins
	factors int // how many latent numbers a record has
}

// Limits of what is estimated: correlations are a matrix of maxDrawn rows and columns, and every
// class has numbers of its own for each coordinate.
const (
	maxDrawn   = 1 << 11 // coordinates, and classes
	maxNumbers = 1 << 20 // coordinates of all classes together
)

// decoded reports whether records of a configuration are drawn from a population. Vectors and
// images are their own mixtures' kind, and projected records are vectors.
func (c Config) decoded() bool {
	k := c.Schema.Kind()
	return (k == records.ItemSet || k == records.MixedTable) && !c.Projection.wanted()
}

// validateWidth refuses records that could be mixed but not drawn, and names a system that draws
// them.
func (c Config) validateWidth(k *param.Checker) {
	if !c.decoded() {
		return
	}
	other := "package merf takes more"
	dim, classes := c.Schema.Dim(), c.Schema.Classes()
	if c.Schema.Sparse() && classes == 0 {
		other = "package dpgm takes more"
	}
	k.OK(dim <= maxDrawn, "mix.Config.Schema.Dim", dim,
		fmt.Sprintf("at most %d coordinates, to draw tables or sets from mixtures: %s", maxDrawn, other))
	most := min(maxDrawn, maxNumbers/max(dim, 1))
	k.OK(classes <= most || dim > maxDrawn, "mix.Config.Schema.Classes", classes,
		fmt.Sprintf("at most %d classes of so many coordinates, to draw tables or sets from mixtures: %s",
			most, other))
}

// newPopulation reads a population off a release.
func newPopulation(m *Model) *population {
	p := &population{schema: m.work.config.Schema, blocks: blocksOf(m.work.config.Schema)}
	seen := newSurvey(m)
	p.shares = seen.shares
	variance := seen.variances(p.blocks)
	shared := seen.loadings(p.blocks, variance)
	if len(shared) > 0 {
		p.factors = len(shared[0])
	}
	for class := range seen.means {
		p.classes = append(p.classes, newMargins(p.blocks, seen.means[class], variance, shared))
	}
	return p
}

// pick draws a class by the released shares.
func (p *population) pick(rng *rand.Rand) int {
	u := rng.Float64()
	for class, share := range p.shares {
		if u -= share; u < 0 {
			return class
		}
	}
	return len(p.shares) - 1
}

// block is a group of coordinates that are drawn together.
type block struct {
	offset, width int
	kind          blockKind
	missing       bool // the last coordinate of a number or a choice says that there is none
}

type blockKind int

const (
	levelBlock  blockKind = iota // exactly one coordinate is 1
	choiceBlock                  // one coordinate, 0 or 1
	numberBlock                  // one coordinate in [0, 1]
)

// blocksOf lists the blocks of a schema. Items of a set are choices of their own.
func blocksOf(s records.Schema) []block {
	var out []block
	if s.Kind() != records.MixedTable {
		for j := range s.Dim() {
			out = append(out, block{offset: j, width: 1, kind: choiceBlock})
		}
		return out
	}
	columns := s.Columns()
	for _, b := range s.Blocks() {
		one := block{offset: b.Offset, width: b.Width, kind: numberBlock}
		switch {
		case b.OneHot:
			one.kind = levelBlock
		case columns[b.Column].Kind() == records.FlagColumn:
			one.kind = choiceBlock
		}
		one.missing = one.kind != levelBlock && b.Width == 2
		out = append(out, one)
	}
	return out
}

// coordinate says what coordinate j of a block is, numberBlock or choiceBlock: levels and missing
// values are choices as well.
func (b block) coordinate(j int) blockKind {
	if b.kind == numberBlock && j == b.offset {
		return numberBlock
	}
	return choiceBlock
}

// within moves a number into [lo, hi]; what is not a number becomes lo.
func within(x, lo, hi float64) float64 {
	if !(x > lo) {
		return lo
	}
	return math.Min(x, hi)
}
