package frontdoor_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func ganChain(s records.Schema) privgen.GANChain {
	return privgen.GAN(s, accountant.Budget{Epsilon: 5, Delta: 1e-5}).
		Critic(models.MLP{Hidden: []int{16}, Activation: models.LeakyReLU}).
		Generator(models.MLP{Hidden: []int{16}}, 4).
		Train(gan.Config{CriticSteps: 5, Seed: 1,
			Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 30, Optimizer: sgd.Adam(1e-3)}})
}

func ganRecords(t testing.TB) (records.Schema, records.Data) {
	s := records.Interval(3, -1, 1).WithLabels("low", "high")
	rng := rand.New(rand.NewPCG(1, 2))
	flat, labels := []float32{}, []int32{}
	for i := range 200 {
		labels = append(labels, int32(i%2))
		for range 3 {
			flat = append(flat, float32(i%2)-0.5+0.1*float32(rng.NormFloat64()))
		}
	}
	data := must(records.FromFlat(s, flat, labels...))(t)
	return s, data
}

func TestGANChain(t *testing.T) {
	s, data := ganRecords(t)
	chain := ganChain(s)
	plan := must(chain.Plan())(t)
	text := must(json.Marshal(plan))(t)
	back, err := privgen.ReadPlan(text)
	if err != nil || back.String() != plan.String() || back.Total() != plan.Total() {
		t.Fatalf("%v: %v", err, back)
	}
	steps, seen := 0, []int{}
	gen, err := back.Fit(t.Context(), data, privgen.OnProgress(func(privgen.Progress) { steps++ }),
		privgen.OnPreview(15, func(step int, g *privgen.Generator) {
			if rows, err := g.Sample(t.Context(), 4); err != nil || rows.Len() != 4 {
				t.Errorf("preview at step %d: %v", step, err)
			}
			seen = append(seen, step)
		}))
	if err != nil || steps != 30 || !reflect.DeepEqual(seen, []int{0, 15, 30}) {
		t.Fatalf("%v after %d steps, previews at %v", err, steps, seen)
	}
	if g := gen.Guarantee(); g.Epsilon != plan.Total().Upper || len(g.Entries) != len(plan.Stages()) {
		t.Errorf("%v", g)
	}
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded := must(privgen.Load(&file))(t)
	a := must(gen.Sample(t.Context(), 20, privgen.Seed(3), privgen.OfClass(1)))(t)
	b, err := loaded.Sample(t.Context(), 20, privgen.Seed(3), privgen.OfClass(1))
	if err != nil || !reflect.DeepEqual(a, b) || a.(*records.Table).Label(7) != 1 {
		t.Errorf("the loaded generator makes other records (%v)", err)
	}
	path := filepath.Join(t.TempDir(), "run")
	for range 2 { // the second call finds a finished run
		if _, err := plan.Fit(t.Context(), data, privgen.CheckpointEvery(path, 10)); err != nil {
			t.Error(err)
		}
	}
	if _, err := chain.Critic(nil).Plan(); err == nil {
		t.Error("a chain without a critic was planned")
	}
}
