package tables

import (
	"context"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/graphical"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// MST measures pairs of columns that form a tree over all columns. The exponential mechanism
// chooses the pairs one after another, by their distance from the model of independent columns.
//
// Guarantee: see [AIM]; Rounds is the number of columns minus 1.
//
// Source: McKenna, Miklau and Sheldon, "Winning the NIST Contest", 2021.
type MST struct{ Common }

const nameMST = "mst"

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c MST) Plan() (synth.PassProgram, error) {
	if err := c.validate("MST").Err(); err != nil {
		return synth.PassProgram{}, err
	}
	common, err := c.chosen()
	if err != nil {
		return synth.PassProgram{}, err
	}
	attributes := marginal.AttributesIn(c.Schema, common.Fine)
	return newPlan(method{Common: common, strategy: spanningTree{}, rounds: len(attributes) - 1,
		order: 2, coarse: 1, classWeight: 1, attributes: attributes})
}

// spanningTree is the strategy of MST: pairs that join two parts of the tree, compared once with
// the model of independent columns. The model is fitted at the end.
type spanningTree struct{}

func (spanningTree) name() string { return nameMST }

func (spanningTree) measures(c candidate) bool { return len(c.attributes) == 2 }

func (spanningTree) work(m method, list []candidate) (compared, passes, cells float64) {
	largest := 0
	for _, c := range list {
		largest = max(largest, c.cells)
	}
	return 1, usualPasses, min(float64(m.Cells), float64(m.rounds)*float64(largest))
}

func (spanningTree) begin(*fitting) error { return nil }

func (spanningTree) fits(f *fitting) func([]int) bool {
	part, cells := graphical.Parts(len(f.domain), f.measured()), 0
	for _, size := range f.domain {
		cells += size
	}
	for _, v := range f.values {
		cells += f.list[v.candidate].cells
	}
	return func(pair []int) bool {
		return part[pair[0]] != part[pair[1]] && float64(cells)+f.domain.Cells(pair) <= float64(f.Cells)
	}
}

func (spanningTree) units(f *fitting) int {
	return max(f.measures.Remaining()/max(f.choices.Remaining(), 1), 1)
}

func (spanningTree) compared(_ context.Context, _ *fitting, _ int, _ float64,
	guesses [][]float64) ([][]float64, error) {
	return guesses, nil
}

// PlanFor implements [synth.Design].
func (c MST) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}
