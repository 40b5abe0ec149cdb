package dpgm

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestModelsShareNothingWithTheirRun checks that the released model shares neither networks nor
// features with the run, because both have buffers of private rows.
func TestModelsShareNothingWithTheirRun(t *testing.T) {
	c := Config{Schema: records.Binary(6), Features: rff.RBF{Dim: 8, Bandwidth: 1},
		Cluster: kmeans.Config{K: 2}, Model: models.VAE{Hidden: []int{3}, Latent: 2}}
	features, err := newFeatures(c)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Run: &synth.Run{Backend: device.CPU()}, config: c, router: &router{features: features}}
	if err := r.build(); err != nil {
		t.Fatal(err)
	}
	r.trained = newMixture(r.Backend, r.nets, []float64{1, 1}, func(int32) int { return 0 })
	released, err := r.model()
	if err != nil {
		t.Fatal(err)
	}
	m := released.(*Model)
	if m.router == r.router || m.router.features == features {
		t.Error("the model and the run share features")
	}
	for i, net := range m.nets {
		if net == r.nets[i] || &net.Params().Flat.Data[0] == &r.nets[i].Params().Flat.Data[0] {
			t.Errorf("the model and the run share network %d", i)
		}
		for k, v := range r.nets[i].Params().Flat.Data {
			if net.Params().Flat.Data[k] != v {
				t.Fatalf("network %d of the model has other parameters than the run's", i)
			}
		}
	}
}
