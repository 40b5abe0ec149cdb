package tables

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// model is the released result of a fit on a table: a graphical model of groups of values, and
// the fraction of each value.
type model struct {
	schema     records.Schema
	fine       int // number of cells of a column of numbers
	attributes []marginal.Attribute
	groups     []marginal.Grouping
	division   marginal.Division // the divided cells
	weights    []float64         // of their parts
	model      *graphical.Model

	codes   [][][]int // codes of each attribute and group
	choices [][]network.Choice
	spans   [][]records.Span          // spans that numbers are drawn from; nil for all
	parts   []map[int]*marginal.Parts // of the divided cells of each attribute
	joints  []joint                   // conditions on several columns
	spent   float64                   // time that joint conditions took
	trend   *trend                    // draws the target given the rest of a row; may be nil
	target  []float64                 // allowed fraction of each of its codes; nil for all
}

func newModel(s records.Schema, fine int, groups []marginal.Grouping,
	m *graphical.Model) *model {
	t := &model{schema: s.ByPerson(0), fine: fine, attributes: marginal.AttributesIn(s, fine),
		groups: groups, model: m}
	for _, g := range groups {
		codes, choices := g.Members()
		t.codes, t.choices = append(t.codes, codes), append(t.choices, choices)
		t.spans, t.parts = append(t.spans, nil), append(t.parts, nil)
	}
	return t
}

// divided sets the divided cells and the weights of their parts.
func (t *model) divided(d marginal.Division, weights []float64) (*model, error) {
	parts, ok := d.Parts(t.attributes, weights)
	if !ok {
		return nil, malformed("weights that do not fit the divided cells")
	}
	t.division, t.weights, t.parts = d, weights, parts
	return t, nil
}

// Schema returns the schema of the synthetic records.
func (t *model) Schema() records.Schema { return t.schema }

// Sampler starts a draw. Draw.Means has no effect on rows. Rows of one class are drawn from the
// model conditioned on the class.
func (t *model) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng := rand.New(rand.NewPCG(d.Seed, 0x7461626c65))
	model := t.model
	if d.Class >= 0 {
		weights := make([]float64, t.groups[len(t.groups)-1].Size)
		if d.Class < len(weights) {
			weights[d.Class] = 1
		}
		model, _ = model.Given(graphical.Observation([]int{len(t.groups) - 1}, weights))
	}
	pools := newPools(model.Drawer(), d.Seed)
	codes := make([]int, len(t.attributes))
	var again *redraw
	if t.trend != nil {
		again = t.newRedraw(model, codes, d.Err)
	}
	draw := func(rows *records.Nonzeros) { t.row(pools.next, again, codes, rows, rng) }
	next := ahead{draw: draw, now: new(records.Nonzeros), other: new(records.Nonzeros)}
	out := synth.Sampler{Schema: t.schema, Next: func(n int) (records.Data, error) {
		return records.DecodeNonzeros(t.schema, next.rows(n))
	}}
	if again != nil && again.allowed != nil {
		next.alone = true // so that no row is counted before it is wanted
		out.Unaccepted = func() int { return again.unmet }
	}
	return out, nil
}

// row adds a row with values of drawn groups, some of which again replaces if it is not nil. It
// uses the memory of codes.
func (t *model) row(drawn func() (group func(j int) int), again *redraw, codes []int,
	rows *records.Nonzeros, rng *rand.Rand) {
	var group func(j int) int
	if again != nil {
		group = again.next(drawn, rng)
	} else {
		group = drawn()
		t.drawTogether(group, codes, rng)
	}
	for j, a := range t.attributes {
		code := codes[j]
		if code < 0 {
			code = t.pick(j, group(j), rng)
		}
		if a.Class() {
			rows.Labels = append(rows.Labels, int32(code))
			continue
		}
		a.Write(rows, code, t.spans[j], t.parts[j][code], rng)
	}
	rows.End()
}

// drawTogether sets the codes of columns under joint conditions, and all others to -1.
func (t *model) drawTogether(group func(j int) int, codes []int, rng *rand.Rand) {
	for j := range codes {
		codes[j] = -1
	}
	for _, j := range t.joints {
		j.draw(t.model.Domain, group, codes, rng)
	}
}

// pick draws the code of an attribute given its group.
func (t *model) pick(j, group int, rng *rand.Rand) int {
	return t.codes[j][group][t.choices[j][group].Pick(rng, -1)]
}

// modelHeader describes a model in a file. The file's sections hold the factors, the groups
// and the fractions of values.
type modelHeader struct {
	Schema  records.Schema `json:"schema"`
	Factors [][]int        `json:"factors"`
	Fine    int            `json:"fine"`
	// Divided lists the codes of divided cells.
	Divided marginal.Division `json:"divided,omitempty"`
	Trend   *trend            `json:"trend,omitempty"`
}

const (
	sectionFactors = "factors"
	sectionGroups  = "groups"
	sectionParts   = "parts"
	sectionWithin  = "within"
)

// Encode returns a file of the released state, and nothing else.
func (t *model) Encode() (*synth.File, error) {
	h := modelHeader{Schema: t.schema, Fine: t.fine, Divided: t.division, Trend: t.trend}
	var theta, parts []float64
	for _, f := range t.model.Factors {
		h.Factors = append(h.Factors, f.Attributes)
		theta = append(theta, f.Theta...)
	}
	for _, g := range t.groups {
		parts = append(parts, g.Part...)
	}
	groups := synth.Part{Name: sectionGroups,
		Save: func() ([]byte, error) { return marginal.GroupState(t.groups), nil }}
	sections := []synth.Part{synth.FloatsPart(sectionFactors, &theta, len(theta)), groups,
		synth.FloatsPart(sectionParts, &parts, len(parts))}
	if len(t.weights) > 0 {
		sections = append(sections, synth.FloatsPart(sectionWithin, &t.weights, len(t.weights)))
	}
	return synth.NewFile(h, sections...)
}

// readModel reads a model. The memory for factors is bounded by the size of their section, and
// the memory for their tree by the largest tree that a plan may have, and by the limits.
func readModel(f *synth.File, l synth.Loading) (synth.Model, error) {
	var h modelHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	if err := h.Schema.Validate(); err != nil || h.Schema.Kind() != records.MixedTable {
		return nil, malformed("the schema is not one of tables")
	}
	if h.Fine < leastFine || h.Fine > marginal.MostCells {
		return nil, malformed(fmt.Sprintf("numbers in %d cells; want %d to %d", h.Fine, leastFine,
			marginal.MostCells))
	}
	attributes := marginal.AttributesIn(h.Schema, h.Fine)
	if len(attributes) > mostAttributes {
		return nil, malformed(fmt.Sprintf("%d columns; want at most %d", len(attributes), mostAttributes))
	}
	state, err := f.Section(sectionGroups)
	if err != nil {
		return nil, err
	}
	groups, ok := marginal.ReadGroups(attributes, state)
	if !ok {
		return nil, malformed("groups that do not fit the schema's columns")
	}
	if err := readParts(f, groups); err != nil {
		return nil, err
	}
	domain := domainOf(groups)
	factors, err := readFactors(f, h.Factors, domain, l.Limits)
	if err != nil {
		return nil, err
	}
	t := newModel(h.Schema, h.Fine, groups, graphical.NewModel(domain, factors))
	if t.trend = h.Trend; t.trend != nil &&
		!t.trend.valid(attributes, domainOf(trendGroups(attributes, groups)), true) {
		return nil, malformed("a trend that no plan has")
	}
	if h.Divided == nil {
		return t, nil
	}
	return readDivided(f, t, h.Divided)
}

// readDivided reads the weights within divided cells.
func readDivided(f *synth.File, t *model, d marginal.Division) (*model, error) {
	if !d.Valid(t.attributes) || d.Columns() == 0 {
		return nil, malformed("divided cells that no plan has")
	}
	data, err := f.Section(sectionWithin)
	if err != nil {
		return nil, err
	}
	weights, err := synth.ReadFloats[float64](data, len(data)/8)
	if err != nil {
		return nil, err
	}
	return t.divided(d, weights)
}

// readParts reads the fraction of records with each code. Every group must have a code.
func readParts(f *synth.File, groups []marginal.Grouping) error {
	data, err := f.Section(sectionParts)
	if err != nil {
		return err
	}
	parts, err := synth.ReadFloats[float64](data, len(data)/8)
	if err != nil {
		return err
	}
	for i := range groups {
		g := &groups[i]
		if len(parts) < len(g.Group) {
			return malformed("fewer fractions than the columns have codes")
		}
		g.Part, parts = parts[:len(g.Group)], parts[len(g.Group):]
		held := make([]bool, g.Size)
		for code, p := range g.Part {
			if !(p >= 0 && p <= 2) {
				return malformed("a fraction outside [0, 2]")
			}
			held[g.Group[code]] = true
		}
		if slices.Contains(held, false) {
			return malformed("a group without values")
		}
	}
	if len(parts) > 0 {
		return malformed("more fractions than the columns have codes")
	}
	return nil
}

// readFactors reads a factor for each group of attributes, and checks that their tree is not too
// large.
func readFactors(f *synth.File, list [][]int, d graphical.Domain,
	l records.Limits) ([]graphical.Factor, error) {
	data, err := f.Section(sectionFactors)
	if err != nil {
		return nil, err
	}
	theta, err := synth.ReadFloats[float64](data, len(data)/8)
	if err != nil {
		return nil, err
	}
	if len(list) > mostRounds+2*len(d) {
		return nil, malformed("more factors than a plan has rounds and columns")
	}
	var factors []graphical.Factor
	seen := map[[mostFlags]int]bool{}
	for _, group := range list {
		for i, a := range group {
			if a < 0 || a >= len(d) || i > 0 && a <= group[i-1] {
				return nil, malformed("a factor with unknown columns")
			}
		}
		cells := d.Cells(group)
		if len(group) < 1 || len(group) > mostFlags || cells > float64(len(theta)) {
			return nil, malformed(fmt.Sprintf("a factor with %d columns and too few numbers", len(group)))
		}
		key := attributeKey(group)
		if seen[key] {
			return nil, malformed("two factors of the same columns")
		}
		seen[key] = true
		if slices.ContainsFunc(theta[:int(cells)], func(x float64) bool { return x-x != 0 }) {
			return nil, malformed("a factor that is not finite")
		}
		factors = append(factors, graphical.Factor{Attributes: group, Theta: theta[:int(cells)]})
		theta = theta[int(cells):]
	}
	if len(theta) > 0 {
		return nil, malformed("factors that no plan has")
	}
	return factors, checkCells(l, graphical.Cells(d, list), float64(len(data)/8))
}

// checkCells returns an error for more cells than half the limit of values, of which a part of a
// composition has its share, and than the file has numbers, as many as single columns have cells.
//
// Errors: synth.ErrFormat, with a *records.LimitError.
func checkCells(l records.Limits, cells, numbers float64) error {
	if most := network.Values(l); cells > max(float64(most)/2, numbers) {
		what := fmt.Sprintf("a model of tables has %.0f cells, more than half of %d", cells, most)
		return synth.Malformed(&records.LimitError{Limit: "Values", What: what})
	}
	return nil
}
