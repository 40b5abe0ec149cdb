package frontdoor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// everyPlan returns one plan of each system for sets.
func everyPlan(t testing.TB, s records.Schema, b accountant.Budget) []privgen.Plan {
	t.Helper()
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 3, Optimizer: sgd.Adam(1e-2)}
	common := sets.Common{Schema: s, Budget: b}
	var list []privgen.Plan
	add := func(p privgen.Plan, err error) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	dpgm, err := privgen.DPGM(s,
		b).Cluster(kmeans.Config{K: 1}).Model(models.VAE{Hidden: []int{4}, Latent: 2}).
		Train(train).Plan()
	add(dpgm, err)
	embedding, err := privgen.MERF(s, b).Embed(merf.Config{Features: 20}).
		Train(merf.GeneratorConfig{Steps: 3, Batch: 8, Latent: 2}).Plan()
	add(embedding, err)
	critic, err := privgen.GAN(s,
		b).Critic(models.MLP{Hidden: []int{4}}).Generator(models.MLP{Hidden: []int{4}}, 2).
		Train(gan.Config{Train: train}).Plan()
	add(critic, err)
	items, err := sets.Independent{Common: common}.Plan()
	add(items, err)
	mwem, err := sets.MWEM{Common: common, Rounds: 3, Queries: 20, Domain: 50}.Plan()
	add(mwem, err)
	return list
}

// TestSystemsAreExchangeable checks that the same code runs five systems on one ledger. Each plan
// is read back from JSON and each generator from a file.
func TestSystemsAreExchangeable(t *testing.T) {
	s := records.Sets(15, 4)
	var sets [][]uint32
	for i := range uint32(20) {
		sets = append(sets, []uint32{i % 5, 5 + i%7})
	}
	data := must(records.FromItems(s, sets))(t)
	l := ledger.New(accountant.Budget{Epsilon: 20, Delta: 1e-5})
	for _, p := range everyPlan(t, s, accountant.Budget{Epsilon: 1, Delta: 1e-5}) {
		text := must(json.Marshal(p))(t)
		read, err := privgen.ReadPlan(text)
		if err != nil {
			t.Fatalf("%s: %v", p.System(), err)
		}
		gen, err := read.FitOn(context.Background(), l, data)
		if err != nil {
			t.Fatalf("%s: %v", p.System(), err)
		}
		path := t.TempDir() + "/generator"
		if err := gen.SaveFile(path); err != nil {
			t.Fatal(err)
		}
		back, err := privgen.LoadFile(path)
		if err != nil {
			t.Fatalf("%s: %v", p.System(), err)
		}
		drawn, err := back.Sample(t.Context(), 9)
		if err != nil || drawn.Len() != 9 || records.Check(drawn) != nil || back.System() != p.System() {
			t.Errorf("%s: %v, %v", p.System(), err, records.Check(drawn))
		}
	}
}

// TestZeroValuesPrint checks that zero values can be printed, and that running them is an error.
func TestZeroValuesPrint(t *testing.T) {
	for _, zero := range []any{&privgen.Generator{}, (*privgen.Generator)(nil), &merf.Plan{},
		&mix.Plan{}, &gan.Plan{},
		synth.PassProgram{}, &merf.Embedding{}, &mix.Model{}, &merf.Model{}, &gan.Model{},
		synth.Stage{},
		privgen.Progress{}, privgen.Interrupted{Err: context.Canceled}} {
		if text := fmt.Sprintf("%v %+v %s", zero, zero, zero); text == "" {
			t.Errorf("%T prints nothing", zero)
		}
		if p, ok := zero.(privgen.Plan); ok {
			if _, err := p.Fit(t.Context(), nil); err == nil || len(p.Stages()) != 0 {
				t.Errorf("%T: the zero value runs or has stages", zero)
			}
			if _, err := json.Marshal(p); err == nil {
				t.Errorf("%T: the zero value is encoded in JSON", zero)
			}
		}
	}
}
