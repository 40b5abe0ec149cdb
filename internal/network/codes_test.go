package network

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// TestNetworksTakeTurns: network i mod 3 generates record i of a draw from code i, for all batch
// sizes.
func TestNetworksTakeTurns(t *testing.T) {
	const n, latent, dim = 11, 2, 4
	be := device.CPU()
	var nets []models.Generator
	for seed := range uint64(3) {
		net, err := models.MLP{Hidden: []int{5}}.NewGenerator(be, latent,
			[]models.Head{{Width: dim, Out: models.SigmoidHead}}, seed)
		if err != nil {
			t.Fatal(err)
		}
		nets = append(nets, net)
	}
	draw := func(m Maker, sizes ...int) (all []float32) {
		m.Codes = Codes{Backend: be, Latent: latent}
		rng := rand.New(rand.NewPCG(7, 7))
		for _, size := range sizes {
			_, flat := m.State(rng, -1, size)
			all = append(all, flat...)
		}
		return all
	}
	together := draw(Maker{Net: nets[0], Others: nets[1:]}, n)
	for i := range n {
		alone := draw(Maker{Net: nets[i%3]}, n)
		if got, want := together[i*dim:(i+1)*dim], alone[i*dim:(i+1)*dim]; !slices.Equal(got, want) {
			t.Errorf("record %d is %v; network %d generates %v", i, got, i%3, want)
		}
	}
	for _, sizes := range [][]int{{1, 10}, {4, 4, 3}, {2, 1, 8}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		if !slices.Equal(draw(Maker{Net: nets[0], Others: nets[1:]}, sizes...), together) {
			t.Errorf("batches of %v records give different records", sizes)
		}
	}
}
