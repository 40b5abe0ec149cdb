package mix

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// A population describes table rows or sets by estimates from released mixtures: the distribution
// of every coordinate in every class, and the dependence between coordinates.
//
// A record of a class is drawn from latent numbers z, which are independent standard normal
// variables. The probability of an item or a flag is a logistic function of z. The probabilities of
// a column's levels are a softmax of linear functions of z. A number is a logistic function of z
// and noise. Intercepts are set so that every coordinate, averaged over z, has the class's
// estimated mean. Slopes are set so that pairs of coordinates have the estimated correlation. (If
// mixtures themselves were rounded to records, each would give an average record, with the most
// frequent level of every column.)
//
// Guarantee: post-processing of released rows.
type population struct {
	schema  records.Schema
	blocks  []block
	shares  network.Choice // of the classes; records without labels are one class
	classes []margins
	factors int // how many latent numbers a record has
}

// Limits of the estimates. The correlation matrix has at most maxDrawn rows and columns. Every
// class has its own parameters for each coordinate, so maxNumbers bounds the total number of
// coordinates.
const (
	maxDrawn   = 1 << 11 // coordinates, and classes
	maxNumbers = 1 << 20 // coordinates of all classes together
)

// decoded reports whether records of a configuration are drawn from a population. Vectors, images
// and projected records (which are vectors) need none: a mixture of vectors is itself a vector, and
// a mixture of images is an image.
func (c Config) decoded() bool {
	k := c.Schema.Kind()
	return (k == records.ItemSet || k == records.MixedTable) && !c.Projection.wanted()
}

// validateWidth adds an error for records that could be mixed but are too wide to be drawn. The
// error names a system that supports them.
func (c Config) validateWidth(k *param.Checker) {
	if !c.decoded() {
		return
	}
	other := "package merf supports more"
	dim, classes := c.Schema.Dim(), c.Schema.Classes()
	if c.Schema.Sparse() && classes == 0 {
		other = "package dpgm supports more"
	}
	k.OK(dim <= maxDrawn, "mix.Config.Schema.Dim", dim,
		fmt.Sprintf("at most %d coordinates for tables and sets; %s", maxDrawn, other))
	most := min(maxDrawn, maxNumbers/max(dim, 1))
	k.OK(classes <= most || dim > maxDrawn, "mix.Config.Schema.Classes", classes,
		fmt.Sprintf("at most %d classes for tables and sets with this number of coordinates; %s",
			most, other))
}

// newPopulation estimates a population from a release.
func newPopulation(m *Model) *population {
	p := &population{schema: m.work.config.Schema, blocks: blocksOf(m.work.config.Schema)}
	seen := newSurvey(m)
	p.shares = network.NewChoice(seen.shares)
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

// block is a group of encoded coordinates that are drawn together. Every item of a set is a block
// of its own, like a flag.
type block struct{ rff.Block }

// blocksOf lists the blocks of a schema.
func blocksOf(s records.Schema) (list []block) {
	for _, b := range network.TableBlocks(s) {
		list = append(list, block{b})
	}
	if s.Kind() != records.MixedTable {
		for j := range s.Dim() {
			list = append(list, block{rff.Block{Offset: j, Width: 1, Levels: 2}})
		}
	}
	return list
}

// of returns the coordinates of a record that belong to the block.
func (b block) of(row []float64) []float64 { return row[b.Offset : b.Offset+b.Width] }

// number reports whether coordinate j can lie between 0 and 1. Levels, flags and missing indicators
// are always 0 or 1.
func (b block) number(j int) bool { return !b.OneHot && b.Levels != 2 && j == b.Offset }

// missing reports whether the last coordinate is a missing indicator.
func (b block) missing() bool { return !b.OneHot && b.Width == 2 }

// within clamps x to [lo, hi]; NaN becomes lo.
func within(x, lo, hi float64) float64 {
	if !(x > lo) {
		return lo
	}
	return math.Min(x, hi)
}
