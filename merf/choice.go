package merf

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// Choice describes a private choice of pairs of columns. The embedding of a wide table then has the
// chosen pairs instead of all pairs, and each of them gets less noise.
//
// The counts of each column's values are released first, and divide each column's values into
// groups. A pair has a table of the two columns' groups. Its score is the distance of this table
// (the sum of absolute differences) from the product of the two columns' released counts, minus the
// distance that is expected of independent columns. Pairs are chosen one after another by the
// exponential mechanism, without replacement. Then the features of single columns and of the chosen
// pairs are released for each class, so every pair of a column and the class is included.
//
// Guarantee: the plan has three stages: one Gaussian release of all columns' counts, one
// exponential mechanism for each chosen pair, all with the same ε, and one Gaussian release of the
// features. A record is in one cell of each pair's table, so the distance from public numbers
// changes by at most 1 if a record is added or removed, and by at most 2 if a record is replaced.
// The exponential mechanism uses this bound as the sensitivity. Rows of persons count with their
// weights.
//
// Source: the score and the mechanism are those of McKenna, Miklau and Sheldon, "Winning the NIST
// Contest", 2021.
type Choice struct {
	// Pairs is the number of pairs of columns to choose. 0 means no choice: the kernel determines the
	// pairs. If Pairs is 0, and Groups and Config.Nominal are given, the number is the largest that
	// the noise permits.
	Pairs int `json:"pairs,omitempty"`
	// Groups is the number of groups into which the values of a column are divided, from 2 to 16. 0
	// means 8, or fewer if there are many columns.
	Groups int `json:"groups,omitempty"`
}

// Names of the stages of a plan with a Choice, and the purposes of their ledger entries. The last
// stage is PurposeEmbed.
const (
	PurposeColumns = "column counts"
	PurposePairs   = "pair choices"
)

// Fractions of the squared effect for the stages before the embedding.
const (
	columnsPart = 0.05
	pairsPart   = 0.05
)

const (
	defaultGroups  = 8
	mostGroups     = 16
	mostPairs      = 1 << 14 // chosen pairs; each takes 3 of the 100,000 values of a file's header
	mostPairCells  = 1 << 23 // cells of all pairs' tables together
	mostPairCodes  = 1 << 18 // codes of all columns together
	mostPairColumn = 1 << 12 // columns
)

func (c Choice) none() bool { return c.Pairs == 0 }

// cellsOf bounds the number of cells of a pair's table. A column has fewer than 3/2·groups groups,
// or at most groups + 1.
func cellsOf(groups int) int {
	side := max((3*groups+1)/2, groups+1)
	return side * side
}

// pairsOf returns the number of pairs of columns.
func pairsOf(columns int) int { return columns * (columns - 1) / 2 }

// withDefaults sets Groups.
func (c Choice) withDefaults(columns int) Choice {
	if c.none() || c.Groups != 0 {
		return c
	}
	c.Groups = defaultGroups
	for c.Groups > 2 && pairsOf(columns)*cellsOf(c.Groups) > mostPairCells {
		c.Groups--
	}
	return c
}

// columnsOf returns the attributes of a table without its class.
func columnsOf(s records.Schema) []marginal.Attribute {
	list := marginal.AttributesOf(s)
	if n := len(list); n > 0 && list[n-1].Class() {
		list = list[:n-1]
	}
	return list
}

// validateChoice returns the mistakes in Choice, or nil if the schema is invalid.
func (c Config) validateChoice() error {
	const path = "merf.Config.Choice"
	if c.Schema.Validate() != nil {
		return nil // Validate reports it separately
	}
	var k param.Checker
	if c.Choice.none() {
		k.OK(c.Choice.Groups == 0, path+".Pairs", c.Choice.Pairs, "a positive number, or Groups of 0; "+
			"a default needs Nominal, no Kernel, and enough records for a pair of each column")
		return k.Err()
	}
	if c.Schema.Kind() != records.MixedTable {
		return param.New(path, c.Schema.String(), "a table, or no choice")
	}
	k.OK(c.Batches.none(), path, c.Batches, "a single release: pairs are chosen for all records")
	k.OK(c.Features == 0, path, c.Features, "0 Features: they are random features, not pairs")
	if c.Kernel != nil {
		pairs, ok := c.Kernel.(rff.Pairs)
		k.OK(ok && pairs.Order != 1 && pairs.Only == nil, path, fmt.Sprintf("%T", c.Kernel),
			"an rff.Pairs with pairs of columns and without a list of them, or no Kernel")
	}
	columns, codes := columnsOf(c.Schema), 0
	for _, a := range columns {
		codes += a.Codes
	}
	n := len(columns)
	if n < 2 || n > mostPairColumn || codes > mostPairCodes {
		k.Add(param.New(path, fmt.Sprintf("%d columns with %d values", n, codes),
			fmt.Sprintf("2 to %d columns with at most %d values in all", mostPairColumn, mostPairCodes)))
		return k.Err()
	}
	k.OK(c.Choice.Pairs > 0 && c.Choice.Pairs <= min(pairsOf(n), mostPairs), path+".Pairs",
		c.Choice.Pairs, fmt.Sprintf("from 1 to %d for these columns, or 0 for no choice",
			min(pairsOf(n), mostPairs)))
	groups := c.Choice.withDefaults(n).Groups
	k.OK(groups >= 2 && groups <= mostGroups && pairsOf(n)*cellsOf(groups) <= mostPairCells,
		path+".Groups", groups, fmt.Sprintf(
			"2 to %d, with at most %d cells of all pairs' tables, or 0 for the default", mostGroups,
			mostPairCells))
	return k.Err()
}

// stages returns the stages for a noise multiplier. With a Choice, the stages together have about
// the cost of a single Gaussian release of this multiplier, and with Learned exactly this cost.
func (c Config) stages(z float64) []synth.Stage {
	if !c.Learned.none() {
		return []synth.Stage{c.stage(c.embedNoise(z)), c.learnedStage(z)}
	}
	if c.Choice.none() {
		return []synth.Stage{c.stage(z)}
	}
	columns := columnsNoise(z)
	return []synth.Stage{
		{Purpose: PurposeColumns, Event: accountant.Gaussian{NoiseMultiplier: columns}, Count: 1,
			NoiseMultiplier: columns, Once: true},
		{Purpose: PurposePairs, Event: accountant.ExponentialMechanism{Epsilon: c.Choice.epsilon(z)},
			Count: c.Choice.Pairs},
		c.stage(c.embedNoise(z))}
}

// columnsNoise returns the noise multiplier of the columns' counts.
func columnsNoise(z float64) float64 { return z / math.Sqrt(columnsPart) }

// embedNoise returns the noise multiplier of the embedding.
func (c Config) embedNoise(z float64) float64 {
	if !c.Learned.none() {
		return z / math.Sqrt(1-c.Learned.Part)
	}
	if c.Choice.none() {
		return z
	}
	return z / math.Sqrt(1-columnsPart-pairsPart)
}

// epsilon returns the ε of one choice. An exponential mechanism of ε has zero-concentrated privacy
// ε²/8, and a Gaussian of noise multiplier z has 1/(2z²). These formulas only divide the budget
// among the stages; the accountant prices the events themselves.
func (c Choice) epsilon(z float64) float64 {
	return 2 / z * math.Sqrt(pairsPart/float64(c.Pairs))
}

// survey returns the release of the columns' counts.
func (c Config) survey() marginal.Survey {
	return marginal.Survey{Attributes: columnsOf(c.Schema), Relation: c.Budget.Relation}
}

// widest returns the kernel with the given number of pairs: those with the most features. The
// bounds on norms do not depend on which pairs are used.
func widest(k rff.Pairs, l rff.Layout, pairs int) rff.Pairs {
	widths := k.Widths(l)
	var list [][2]int
	for j := range widths {
		for i := range j {
			list = append(list, [2]int{i, j})
		}
	}
	size := func(p [2]int) int { return widths[p[0]] * widths[p[1]] }
	slices.SortStableFunc(list, func(a, b [2]int) int { return cmp.Compare(size(b), size(a)) })
	return only(k, list[:min(pairs, len(list))])
}

// only returns the kernel with the given pairs only, in ascending order.
func only(k rff.Pairs, pairs [][2]int) rff.Pairs {
	if len(pairs) == 0 {
		k.Order, k.Only = 1, nil
		return k
	}
	k.Only = slices.Clone(pairs)
	slices.SortFunc(k.Only, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return k
}
