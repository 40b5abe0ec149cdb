package frontdoor_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var long = flag.Bool("long", false, "fit systems and a chain to images in colour, too")

// colourPlan plans the chain of examples/merf-images on colour images: MERF's release of patches,
// a private classifier that chooses among its images, and a private choice of their change.
func colourPlan(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
	if s.Kind() != records.ColourImage || s.Classes() == 0 {
		return nil, param.New("colourPlan.s", s, "colour images with classes")
	}
	of := privgen.MERF(s, b).Nominal(n).
		Embed(merf.Config{Kernel: rff.Patches{Dim: 12, Windows: []float64{0.5}, Low: 1, High: 2}}).
		Train(merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}, BatchNorm: true},
			Latent: 3, Steps: 4, Batch: 12, Generators: 1})
	return compose.Changes{Share: 0.1, Records: 30,
		Candidates: []compose.Change{{}, {Distortion: 1}},
		Of: compose.Labels{Of: of, Nominal: n, Features: rff.RBF{Dim: 6, Bandwidth: 1}, Share: 0.4,
			Tries: 3,
			Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4,
				Optimizer: sgd.Momentum(2, 0.5)}}}.PlanFor(s, b)
}

// changesSystem returns the system of changes.
func changesSystem() synth.System {
	all := privgen.Systems()
	return all[slices.IndexFunc(all, func(s synth.System) bool { return s.Name == "changes" })]
}

// TestColourChainContract runs the contract suite on the whole chain. Its replays record the chain
// on neighbouring records: what the three stages draw must be on the ledger, and the sums and
// choices of neighbours must differ by no more than the stages state.
func TestColourChainContract(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, synthtest.Subject{System: changesSystem(), Interrupts: 5,
		Plan: colourPlan})
}
