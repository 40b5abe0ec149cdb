package frontdoor_test

import (
	"bytes"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestChangedChain checks that a chain with a classifier and a choice spends its budget on three
// stages, and that its generator can be read back.
func TestChangedChain(t *testing.T) {
	s := records.Image(6, 6).WithLabels("dark", "bright")
	b := accountant.Budget{Epsilon: 4, Delta: 1e-5}
	flat, labels := make([]float32, 36*60), make([]int32, 60)
	for i := range flat {
		labels[i/36] = int32(i / 36 % 2)
		flat[i] = float32(i/36%2) / 2
	}
	data := must(records.FromFlat(s, flat, labels...))(t)
	of := privgen.MERF(s, b).Nominal(60).Embed(merf.Config{Kernel: rff.RBF{Dim: 20, Bandwidth: 1}}).
		Train(merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}}, Steps: 5, Batch: 12})
	changed := func(of privgen.Design) privgen.ComposedChain {
		return privgen.Compose(s, b, compose.Changes{Of: of, Records: 40, Seed: 3})
	}
	chain := changed(compose.Labels{Of: of, Nominal: 60, Features: rff.RBF{Dim: 10, Bandwidth: 1}})
	plan := must(chain.Plan())(t)
	if got := plan.Total().Upper; got > 4 || got < 3.8 || len(plan.Stages()) != 3 {
		t.Errorf("the plan costs ε = %v in %d stages, want 3.8 to 4 in 3", got, len(plan.Stages()))
	}
	gen := must(chain.Fit(t.Context(), data))(t)
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	back := must(privgen.Load(&file))(t)
	want, wrong := compose.Chosen(gen)
	if got, err := compose.Chosen(back); got != want || err != nil || wrong != nil {
		t.Errorf("the generator read back has the change %v, want %v; %v, %v", got, want, err, wrong)
	}
	small := gan.Config{Critic: models.MLP{Hidden: []int{4}}, Generator: models.MLP{Hidden: []int{4}},
		Latent: 2, Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 2,
			Optimizer: sgd.Adam(0.01)}, CriticSteps: 1, GeneratorBatch: 4}
	for name, chain := range map[string]privgen.ComposedChain{"merf": changed(of),
		"gan": changed(privgen.GAN(s, b).Train(small))} {
		plan, err := chain.Plan()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := plan.Total().Upper; got > 4 || len(plan.Stages()) < 2 {
			t.Errorf("%s costs ε = %v in %d stages", name, got, len(plan.Stages()))
		}
	}
	if _, err := (privgen.ComposedChain{}).Plan(); err == nil {
		t.Error("the zero value of a chain is planned")
	}
}
