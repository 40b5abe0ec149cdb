package sgd_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestPinsOfJourneys holds training to the bits that it had, with all that a caller may do
// meanwhile.
func TestPinsOfJourneys(t *testing.T) {
	for name, j := range journeys(t) {
		if name == "large" {
			continue // takes long
		}
		t.Run(name, func(t *testing.T) {
			params, state := j.travel(t, device.CPU())
			pins.Check(t, map[string][]byte{"params": fmt.Append(nil, params), "state": state})
		})
	}
}

// TestPins holds training with every option to the bits that it had.
func TestPins(t *testing.T) {
	cosine := sgd.Schedule{Decay: sgd.Cosine, Steps: 12, Warmup: 3, Final: 0.1}
	settings := map[string]func(c *sgd.Config){
		"plain": func(c *sgd.Config) {}, "few": func(c *sgd.Config) { c.SamplingProbability = 0.05 },
		"all":        func(c *sgd.Config) { c.SamplingProbability = 1 },
		"allocation": func(c *sgd.Config) { c.RandomAllocation, c.SamplingProbability = true, 0.25 },
		"shuffled":   func(c *sgd.Config) { c.Shuffled, c.SamplingProbability = true, 0.25 },
		"bands":      func(c *sgd.Config) { c.Bands, c.SamplingProbability = 3, 0.2 },
		"one band":   func(c *sgd.Config) { c.Bands = 1 },
		"one by one": func(c *sgd.Config) { c.MicroBatch = 1 },
		"whole":      func(c *sgd.Config) { c.MicroBatch = 0 },
		"sgd":        func(c *sgd.Config) { c.Optimizer = sgd.SGD(0.3) },
		"momentum":   func(c *sgd.Config) { c.Optimizer = sgd.Momentum(0.1, 0.8).Scheduled(cosine) },
		"adam":       func(c *sgd.Config) { c.Optimizer = sgd.AdamWith(0.02, 0.5, 0.9, 1e-3) },
		"no nominal": func(c *sgd.Config) { c.NominalBatch = 0 },
		"warm": func(c *sgd.Config) {
			c.Optimizer = sgd.Adam(0.1).Scheduled(sgd.Schedule{Warmup: 4})
		},
		"own":        func(c *sgd.Config) { c.Optimizer = sgd.Own(0.1, lion{}) },
		"plain rule": func(c *sgd.Config) { c.Optimizer = sgd.Own(0.1, plain{}) },
	}
	clips := policies()
	delete(clips, "fixed")
	clips["groups"] = twoBlocks()
	for policy, clip := range clips {
		settings[policy] = func(c *sgd.Config) { c.Clip, c.ClipNorm = clip, 0 }
		settings[policy+" few"] = func(c *sgd.Config) {
			c.Clip, c.ClipNorm, c.SamplingProbability = clip, 0, 0.04
		}
		settings[policy+" sgd"] = func(c *sgd.Config) {
			c.Clip, c.ClipNorm, c.Optimizer, c.MicroBatch = clip, 0, sgd.SGD(0.2), 3
		}
	}
	settings["low quantile"] = func(c *sgd.Config) {
		c.ClipNorm = 0
		c.Clip = sgd.Quantile{Quantile: 0.2, Initial: 3, Rate: 0.5, NoiseMultiplier: 4}
	}
	settings["norms"] = func(c *sgd.Config) {
		c.ClipNorm = 0
		c.Clip = sgd.DPNorm{MaxNorm: 4, Bins: 5, NoiseMultiplier: 2}
	}
	people := personsOf(t, 5, 3, person{{3, 0, 1, 1, 1}, {-.2, .4, 0, 0, 1}}, person{{1, 2, 3, 4, 5}},
		person{{0, .3, 9, 9, 1}, {5, 5, 1, 1, 1}, {1, 1, 2, 3, 4}}, person{{-4, .1, 5, 0, 0}})
	for name, set := range settings {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			for kind, data := range map[string]records.Data{"rows": table(t, 44, 5, 1), "persons": people} {
				t.Run(fmt.Sprint(name, " ", kind, " ", r), func(t *testing.T) {
					c := with(nil, 0.4, 12)
					c.NoiseMultiplier = 0.4
					set(&c)
					opts := []sgd.Option{sgd.WithAverage(0.8)}
					if kind == "persons" {
						opts = append(opts, sgd.WithPersons(), sgd.WithPurpose("persons"))
					}
					pinTraining(t, c, data, r, opts...)
					if opts[0] = sgd.WithMean(4); name == "plain" {
						t.Run("mean", func(t *testing.T) { pinTraining(t, c, data, r, opts...) })
					}
				})
			}
		}
	}
}

// pinTraining holds the steps, parameters and state of a training run to their bits.
func pinTraining(t *testing.T, c sgd.Config, data records.Data, r accountant.Relation,
	opts ...sgd.Option) {
	t.Helper()
	b := budget(1e6)
	b.Relation = r
	l, net := ledger.New(b, ledger.WithUnit(records.UnitOf(data))), newBlocky(2, 3)
	trainer, err := sgd.New(c, net, l, opts...)
	if err != nil {
		pins.Check(t, map[string][]byte{"error": []byte(err.Error())})
		return
	}
	var seen []byte
	for s, err := range trainer.Steps(privacytest.Seeded(t, t.Context(), 7), data) {
		if seen = fmt.Append(seen, s, err, "\n"); err != nil {
			break
		}
		seen = fmt.Append(seen, net.params.Flat.Data)
	}
	state := trainer.AppendState(nil)
	trainer.UseAverage()
	parts := map[string][]byte{"state": state, "average": fmt.Append(nil, net.params.Flat.Data),
		"steps": seen, "ledger": fmt.Append(nil, l.Entries())}
	text, _ := json.Marshal(c) // a rule of the user is not written
	if c.Bands == 3 {
		c.Bands = -1
	}
	c.NoiseMultiplier = 0
	calibrated, err := c.Calibrate(accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r})
	parts["config"] = fmt.Append(text, calibrated.NoiseMultiplier, calibrated.Bands, err)
	pins.Check(t, parts)
}

// TestPinsOfDescent holds steps along gradients that need no protection to their bits.
func TestPinsOfDescent(t *testing.T) {
	for name, o := range map[string]sgd.Optimizer{"adam": sgd.Adam(0.1), "sgd": sgd.SGD(0.2),
		"momentum": sgd.Momentum(0.1, 0.7), "own": sgd.Own(0.1, lion{}),
		"cosine": sgd.Adam(0.1).Scheduled(sgd.Schedule{Decay: sgd.Cosine, Steps: 5})} {
		t.Run(name, func(t *testing.T) {
			d, params := o.Descent(3), []float32{1, -2, 0.5}
			for i := range 5 {
				d.Step(params, []float32{float32(i), 0.3, -1}, 0.5)
			}
			pins.Check(t, map[string][]byte{"params": fmt.Append(nil, params), "name": []byte(o.String()),
				"state": d.AppendState(nil)})
		})
	}
}

// TestPinsOfNetworks holds training of the package's networks to the bits that it had, on several
// cores, which have rows of their own if there are many.
func TestPinsOfNetworks(t *testing.T) {
	all := divisible(t)
	all["RBM"] = func(be device.Backend) (models.Network, records.Data) {
		_, sparse := all["VAE of sets"](be)
		return must(models.RBM{Hidden: 4, Chains: 3}.New(be, models.Visible{Dim: 36, Sparse: true},
			1))(t), sparse
	}
	for name, of := range all {
		for _, part := range []float64{1, 0.1} {
			be := device.CPUWith(2)
			net, _ := of(be)
			clips := policies()
			clips["groups"] = builtClips(net)["groups"]
			for policy, clip := range clips {
				t.Run(fmt.Sprint(name, " ", policy, " ", part), func(t *testing.T) {
					net, data := of(be)
					c := with(clip, part, 3)
					c.MicroBatch = 250
					trainer, err := sgd.New(c, net, ledger.New(budget(1e12)), sgd.WithBackend(be))
					if err != nil {
						t.Skip(err)
					}
					for _, err := range trainer.Steps(privacytest.Seeded(t, t.Context(), 7), data) {
						if err != nil {
							t.Fatal(err)
						}
					}
					pins.Check(t, map[string][]byte{"params": fmt.Append(nil, net.Params().Flat.Data),
						"state": trainer.AppendState(nil)})
				})
			}
		}
	}
}
