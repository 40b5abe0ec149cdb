package mix

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// A population describes the records of a table or of sets by estimates from released mixtures:
// the distribution of every coordinate in every class, and the dependence between coordinates.
//
// A record of a class is drawn from latent numbers z, independent and normal. The probability of a
// level, an item or a flag is a logistic function of z, and a number is a logistic function of z
// and noise. Intercepts are set so that on average over z every coordinate has the class's
// estimated mean; slopes give pairs of coordinates the estimated correlation. A mixture itself,
// rounded to a record, would be an average record, with the most frequent level of every column,
// whatever was mixed.
//
// Guarantee: post-processing of released rows.
type population struct {
	schema  records.Schema
	blocks  []block
	shares  network.Choice // of the classes; records without labels form one class
	classes []margins
	factors int // number of latent numbers of a record
}

// Limits of what is estimated: the correlations are a matrix of at most maxDrawn rows and columns,
// and every class has separate numbers for each coordinate.
const (
	maxDrawn   = 1 << 11 // coordinates, and classes
	maxNumbers = 1 << 20 // coordinates of all classes together
)

// decoded reports whether records of a configuration are drawn from a population. Mixtures of
// vectors and images are vectors and images, and projected records are vectors.
func (c Config) decoded() bool {
	k := c.Schema.Kind()
	return (k == records.ItemSet || k == records.MixedTable) && !c.Projection.wanted()
}

// validateWidth returns an error for records that could be mixed but not drawn; it names a
// system that supports them.
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

// block is a group of encoded coordinates that are drawn together. Items of a set are flags.
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

// of returns the block's coordinates of a record.
func (b block) of(row []float64) []float64 { return row[b.Offset : b.Offset+b.Width] }

// number reports whether coordinate j can be any number in [0, 1]. Other coordinates are 0 or 1:
// levels, flags and missing indicators.
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
