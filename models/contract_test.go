package models_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/models/modelstest"
)

var long = flag.Bool("long", false, "check networks with many seeds, too")

// seeds returns the seeds of tests that take one seed unless -long is set.
func seeds() []uint64 {
	if *long {
		return []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	}
	return []uint64{1}
}

// TestOwnOps: the operations of this package keep the contract of operations.
func TestOwnOps(t *testing.T) {
	for name, o := range models.OwnOps() {
		t.Run(name, func(t *testing.T) { modelstest.Op(t, o.Op, o.Widths...) })
	}
	modelstest.Op(t, crossed{}, 3, 3, 2)
}

// TestOwnNetworks: the networks of this package keep the contract of private training.
func TestOwnNetworks(t *testing.T) {
	be := device.CPU()
	flat := models.Visible{Dim: 9}
	image := models.CNN{Height: 3, Width: 3, Channels: 1, Hidden: []int{5}, Activation: models.Tanh,
		Convolutions: []models.Convolution{{Maps: 3, Size: 2}}}
	blocks := models.Visible{Dim: 9, Blocks: []models.Block{{Width: 4, OneHot: true}, {Width: 2},
		{Width: 3, Missing: true}}}
	for name, build := range map[string]func(seed uint64) (models.Network, error){
		"VAE": func(seed uint64) (models.Network, error) {
			return models.VAE{Hidden: []int{6}, Latent: 2, Activation: models.Softplus}.New(be, flat, seed)
		},
		"VAE of blocks": func(seed uint64) (models.Network, error) {
			return models.VAE{Hidden: []int{6}, Latent: 2, Activation: models.Tanh}.New(be, blocks, seed)
		},
		"RBM": func(seed uint64) (models.Network, error) {
			return models.RBM{Hidden: 5, Chains: 3}.New(be, flat, seed)
		},
		"RBM of blocks": func(seed uint64) (models.Network, error) {
			return models.RBM{Hidden: 5, Chains: 3}.New(be, blocks, seed)
		},
		"MLP": func(seed uint64) (models.Network, error) {
			return models.MLP{Hidden: []int{6, 4}}.Classifier(be, 9, 2, seed)
		},
		"CNN": func(seed uint64) (models.Network, error) { return image.Classifier(be, 9, 2, seed) },
	} {
		for _, seed := range seeds() {
			net, err := build(seed)
			if err != nil {
				t.Fatal(err)
			}
			b := batchFor(netCase{dim: 9}, 7, seed)
			if strings.HasSuffix(name, "blocks") {
				for i := range b.Rows {
					x := b.Dense.Row(i)
					clear(x[:4])
					x[i%4], x[8] = 1, float32(i%2)
				}
			}
			t.Run(name, func(t *testing.T) { modelstest.Network(t, net, b) })
		}
	}
}
