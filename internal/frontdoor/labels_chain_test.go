package frontdoor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestLabelledChain checks that a chain with a classifier spends its budget, and that its plan and
// its generator can be read back.
func TestLabelledChain(t *testing.T) {
	s := records.Interval(4, 0, 1).WithLabels("dark", "bright")
	b := accountant.Budget{Epsilon: 4, Delta: 1e-5}
	flat, labels := make([]float32, 4*60), make([]int32, 60)
	for i := range flat {
		labels[i/4] = int32(i / 4 % 2)
		flat[i] = float32(i/4%2) / 2
	}
	data := must(records.FromFlat(s, flat, labels...))(t)
	of := privgen.MERF(s, b).Nominal(60).Embed(merf.Config{Kernel: rff.RBF{Dim: 20, Bandwidth: 1}}).
		Train(merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}}, Steps: 5, Batch: 12})
	chain := privgen.Compose(s, b, compose.Labels{Of: of, Nominal: 60, Seed: 3,
		Features: rff.RBF{Dim: 10, Bandwidth: 1}})
	plan := must(chain.Plan())(t)
	if got := plan.Total().Upper; got > 4 || got < 3.9 || len(plan.Stages()) != 2 {
		t.Errorf("the plan costs ε = %v in %d stages, want 3.9 to 4 in 2", got, len(plan.Stages()))
	}
	text := must(json.Marshal(plan))(t)
	read, err := privgen.ReadPlan(text)
	if err != nil || read.String() != plan.String() {
		t.Fatalf("the plan read back differs, error %v:\n%v", err, read)
	}
	gen := must(read.Fit(t.Context(), data))(t)
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	back := must(privgen.Load(&file))(t)
	var drawn [2][]float32
	for i, g := range []*privgen.Generator{gen, back} {
		rows := must(g.Sample(t.Context(), 30, privgen.Seed(1)))(t)
		drawn[i], _ = rows.(*records.Table).Flat()
	}
	if !slices.Equal(drawn[0], drawn[1]) {
		t.Error("a generator that was read back draws other records")
	}
	small := gan.Config{Critic: models.MLP{Hidden: []int{4}}, Generator: models.MLP{Hidden: []int{4}},
		Latent: 2, Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 2,
			Optimizer: sgd.Adam(0.01)}, CriticSteps: 1, GeneratorBatch: 4}
	alone := privgen.Compose(s, b, compose.Labels{Of: privgen.GAN(s, b).Train(small), Nominal: 60,
		Features: rff.RBF{Dim: 10, Bandwidth: 1}})
	if p, err := alone.Plan(); err != nil || p.Total().Upper > 4 {
		t.Errorf("a GAN with a classifier: error %v, or over the budget", err)
	}
	var wrong *param.Error
	if _, err := privgen.Compose(s, b, compose.Labels{Nominal: 60}).Plan(); !errors.As(err, &wrong) {
		t.Errorf("the zero value: got error %v, want a *param.Error", err)
	}
}
