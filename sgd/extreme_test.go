package sgd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestExtremeNoiseIsRefusedOrTrains: New refuses noise that cannot be drawn, before anything is
// reserved. The largest and the least noise that it accepts can be drawn for gradients, private
// norms and quantiles, with the smallest and largest clip norms, under both relations.
func TestExtremeNoiseIsRefusedOrTrains(t *testing.T) {
	const most = mechanism.MaxNoiseMultiplier
	table := must(records.FromFlat(records.Binary(9), make([]float32, 30*9)))(t)
	quantile := func(z, initial float64) sgd.Clip {
		return sgd.Quantile{Quantile: 1e-9, Initial: initial, Rate: 1, NoiseMultiplier: z}
	}
	median := func(z float64) sgd.Clip {
		return sgd.Quantile{Quantile: 0.5, Initial: 1, Rate: 1, NoiseMultiplier: z}
	}
	private := func(z, norm float64) sgd.Clip {
		return sgd.DPNorm{MaxNorm: norm, Bins: 2, NoiseMultiplier: z}
	}
	for _, c := range []struct {
		name  string
		norm  float64
		clip  sgd.Clip
		noise float64
		runs  bool
	}{
		{"smallest norm", 0x1p-60, nil, most, true},
		{"largest norm", 0x1p60, nil, most, true},
		{"larger noise", 1, nil, 2 * most, false},
		{"huge noise", 1, nil, 1e20, false},
		{"largest noise of a quantile", 0, quantile(most, 0x1p60), most, true},
		{"smallest norm of a quantile", 0, quantile(most, 0x1p-60), most, true},
		{"huge noise of a quantile", 0, quantile(1e10, 1), 1, false},
		{"largest noise of a private norm", 0, private(most, 0x1p60), most, true},
		{"smallest private norm", 0, private(most, 0x1p-58), most, true},
		{"huge noise of a private norm", 0, private(1e300, 1), 1, false},
		{"least noise of a quantile", 0, median(0x1p-19), 1, true},
		{"too little noise of a quantile", 0, median(0x1.fp-20), 1, false},
		{"least noise of a private norm", 0, private(0x1p-24, 1), 1, true},
		{"too little noise of a private norm", 0, private(0x1.fp-25, 1), 1, false},
	} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			t.Run(fmt.Sprintf("%s/%v", c.name, r), func(t *testing.T) {
				net := must(models.VAE{Hidden: []int{5}, Latent: 2}.New(device.CPU(),
					models.Visible{Dim: 9}, 1))(t)
				l := ledger.New(accountant.Budget{Epsilon: 1e18, Delta: 1e-5, Relation: r})
				cfg := sgd.Config{ClipNorm: c.norm, Clip: c.clip, SamplingProbability: 0.3, Steps: 1,
					NoiseMultiplier: c.noise, Optimizer: sgd.Adam(1e-3), NominalBatch: 9}
				trainer, err := sgd.New(cfg, net, l)
				var wrong *param.Error
				if !c.runs {
					if !errors.As(err, &wrong) || len(l.Entries()) > 0 {
						t.Errorf("not refused before reserving: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range trainer.Steps(context.Background(), table) {
					if err != nil {
						t.Errorf("accepted before, and then: %v", err)
					}
				}
			})
		}
	}
}

// TestSmallBudgetsAreWithinTheLargestNoise: noise for ε as small as 10⁻⁶ is accepted.
func TestSmallBudgetsAreWithinTheLargestNoise(t *testing.T) {
	for delta, steps := range map[float64]int{1e-5: 100, 1e-7: 1, 1e-9: 1} {
		cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: steps,
			Optimizer: sgd.Adam(1e-3)}
		cfg, err := cfg.Calibrate(accountant.Budget{Epsilon: 1e-6, Delta: delta})
		if err == nil {
			err = cfg.Validate()
		}
		if err != nil {
			t.Errorf("δ = %v: noise multiplier %.4g: %v", delta, cfg.NoiseMultiplier, err)
		}
	}
	z, _, err := accountant.CalibrateNoise(accountant.Budget{Epsilon: 1e-6, Delta: 1e-9},
		func(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} })
	if err != nil || !mechanism.IsNoiseMultiplier(z) {
		t.Errorf("one release at ε = 1e-6, δ = 1e-9: noise multiplier %v, %v", z, err)
	}
}
