package mix

import (
	"cmp"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
)

// The constants of the default rules. docs/defaults.md has the measurements that they come from.
const (
	mostRows     = 60_000
	centersShare = 0.15
	imageClip    = 0.32 // fraction of the largest norm; most pixels are dark
	// fraction of the largest norm: √⅓ is the root mean square of a uniform number in [0, 1]
	colourClip    = 0.58
	deviationClip = 0.72 // fraction of the clip norm
	rowCost       = 500  // operations on each feature of each row
	recordCost    = 37   // operations on each feature of each record in a mixture
	usualDegree   = 40   // records in a mixture, for predictions before the plan chooses the degree
	bytesOfValue  = 10   // bytes for each number of a row while it is computed
)

// chosen returns the configuration with its zero fields set by the default rules if Nominal is set,
// and unchanged otherwise.
func (c Config) chosen() (Config, error) {
	if c.Nominal == 0 {
		return c, nil
	}
	if _, err := defaults.Checked("mix", c.Schema, c.Budget, c.Nominal); err != nil {
		return c, err
	}
	c.choices = nil
	c.chooseSampling()
	c.chooseNorms()
	rows, dim := float64(c.Mixtures), float64(c.dim())
	_, degree := c.Sampling.public()
	operations := rows * dim * (float64(cmp.Or(degree, usualDegree))*recordCost + rowCost)
	bytes := rows * dim * bytesOfValue
	c.choices.Add("", "", defaults.CostOf(operations, bytes).String())
	c.Nominal = 0
	return c, nil
}

func (c *Config) chooseSampling() {
	if c.Sampling == nil {
		c.Sampling = Poisson{Nominal: c.Nominal}
		if c.Budget.Relation == accountant.ReplaceOne {
			c.Sampling = PoissonReplaceOne{Records: c.Nominal}
		}
		c.choices.Add("Sampling", c.Sampling.kind(),
			"the sampling of the budget's relation; the plan chooses its degree")
	}
	classes := c.Schema.Classes()
	if _, subsets := c.Sampling.(WithoutReplacement); classes > 1 && !subsets &&
		c.Schema.RowsPerPerson() == 0 {
		defaults.Fill(&c.choices, &c.ByClass, true, "ByClass",
			"mixtures of one class preserve the properties of that class")
	}
	rows := max(min(c.Nominal, mostRows)/c.parts(), 1) * c.parts()
	defaults.Fill(&c.choices, &c.Mixtures, rows, "Mixtures",
		fmt.Sprintf("the nominal number of records, at most %d", mostRows))
}

func (c *Config) chooseNorms() {
	norm, why := c.Schema.MaxNorm(), "the largest norm of a record"
	switch {
	case c.Schema.Channels() > 1:
		norm, why = colourClip*norm, "the norm of an image of uniformly random colours"
	case c.Schema.IsImage():
		norm, why = imageClip*norm, "few images have a larger norm"
	}
	defaults.Fill(&c.choices, &c.ClipNorm, norm, "ClipNorm", why)
	if !c.Projection.wanted() {
		defaults.Fill(&c.choices, &c.Centers,
			Centers{Share: centersShare, ClipNorm: deviationClip * c.ClipNorm}, "Centers",
			"deviations from means are shorter than records")
	}
}
