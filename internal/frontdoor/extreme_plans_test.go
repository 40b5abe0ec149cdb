package frontdoor_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestPlansRefuseNoiseThatCannotBeDrawn checks that mechanism.MaxNoiseMultiplier is accepted as a
// noise multiplier, and that larger ones, infinity and NaN are refused.
func TestPlansRefuseNoiseThatCannotBeDrawn(t *testing.T) {
	s := records.Interval(3, -1, 1).WithLabels("a", "b")
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	for name, plan := range map[string]func(z float64) error{
		"merf": func(z float64) error {
			_, err := privgen.MERF(s, b).Embed(merf.Config{NoiseMultiplier: z}).Plan()
			return err
		},
		"mix": func(z float64) error {
			_, err := privgen.Mix(s, b).Nominal(200).Mixtures(mix.Config{Mixtures: 40, ClipNorm: 1,
				NoiseMultiplier: z, Sampling: mix.Poisson{Nominal: 200, Degree: 8}}).Plan()
			return err
		},
		"gan": func(z float64) error {
			_, err := privgen.GAN(s, b).Nominal(200).Train(gan.Config{Train: sgd.Config{Steps: 2,
				NoiseMultiplier: z}}).Plan()
			return err
		},
		"dpgm": func(z float64) error {
			_, err := privgen.DPGM(s, b).Nominal(200).Train(sgd.Config{Steps: 2,
				NoiseMultiplier: z}).Plan()
			return err
		},
		"dpgm, clusters": func(z float64) error {
			_, err := privgen.DPGM(s, b).Nominal(200).Cluster(kmeans.Config{K: 2, Iterations: 2,
				NoiseMultiplier: z}).Train(sgd.Config{Steps: 2, NoiseMultiplier: 10}).Plan()
			return err
		},
		"dpgm, marginals": func(z float64) error {
			_, err := privgen.DPGM(records.Sets(8, 2), b).Nominal(200).
				Marginals(dpgm.Marginals{NoiseMultiplier: z}).
				Train(sgd.Config{Steps: 2, NoiseMultiplier: 10}).Plan()
			return err
		},
	} {
		if err := plan(mechanism.MaxNoiseMultiplier); err != nil {
			t.Errorf("%s: the largest noise: %v", name, err)
		}
		for _, z := range []float64{2 * mechanism.MaxNoiseMultiplier, 1e300, math.Inf(1), math.NaN()} {
			var wrong *param.Error
			if err := plan(z); !errors.As(err, &wrong) {
				t.Errorf("%s: noise multiplier %v: %v", name, z, err)
			}
		}
	}
}
