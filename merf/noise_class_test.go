package merf_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/synth"
)

// promising is a backend that computes like the CPU but makes other promises.
type promising struct {
	device.Backend
	promises device.Promises
}

func (p promising) Promises() device.Promises { return p.promises }

// TestBackendsWithoutPromisesAreNotExact checks that a release on a backend without both promises
// has a guarantee with real-valued noise: of one sum or of sums of samples, with and without a
// checkpoint. On the CPU the noise must be exact.
func TestBackendsWithoutPromisesAreNotExact(t *testing.T) {
	data := drawTable(t, 40, 1)
	whole := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	samples := whole
	samples.Batches = merf.Batches{Probability: 0.9, Steps: 2}
	for name, be := range map[string]device.Backend{"cpu": device.CPU(),
		"silent": promising{device.CPU(), device.Promises{}},
		"rows":   promising{device.CPU(), device.Promises{RowsAlone: true}},
		"bits":   promising{device.CPU(), device.Promises{SameBits: true}}} {
		for _, c := range []merf.Config{whole, samples} {
			for _, kept := range []bool{false, true} {
				opts := []synth.Option{synth.On(be)}
				if kept {
					opts = append(opts, synth.Checkpoint(filepath.Join(t.TempDir(), "run")))
				}
				e := must(mustPlan(t, c).Embed(t.Context(), ledger.New(c.Budget), data, opts...))(t)
				class := e.Guarantee().NoiseClass
				if real := slices.Contains(class, ledger.RealNoise); real != (name != "cpu") {
					t.Errorf("%s, %d samples, checkpoint %v: got noise class %v", name, c.Batches.Steps, kept,
						class)
				}
			}
		}
	}
}
