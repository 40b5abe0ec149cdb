package frontdoor_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestDPGMOfTables runs a chain, saves and loads its generator, and draws rows of the table without
// its label, under both relations.
func TestDPGMOfTables(t *testing.T) {
	schema, data := earners(t)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		gen, err := privgen.DPGM(schema, accountant.Budget{Epsilon: 2, Delta: 1e-5, Relation: r}).
			Features(rff.RBF{Dim: 20, Bandwidth: 1}).
			Cluster(kmeans.Config{K: 3, Iterations: 2, Share: 0.2}).
			Model(models.VAE{Hidden: []int{8}, Latent: 2}).
			Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.2, Steps: 5, Optimizer: sgd.Adam(1e-2)}).
			Seed(7).Fit(context.Background(), data)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := gen.Save(&file); err != nil {
			t.Fatal(err)
		}
		back := must(privgen.Load(&file))(t)
		a, b := draws(t, gen, 100, privgen.Seed(3)), draws(t, back, 100, privgen.Seed(3))
		if a != b {
			t.Error("the saved and loaded generator draws other records")
		}
		if !strings.HasPrefix(a, "age,work\n") {
			t.Errorf("got the columns %q, want age and work", strings.SplitN(a, "\n", 2)[0])
		}
		if !gen.Schema().Equal(schema.WithoutLabels()) {
			t.Errorf("the records have the schema %v, want the table's without its label", gen.Schema())
		}
	}
}
