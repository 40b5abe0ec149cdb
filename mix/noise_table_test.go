package mix_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// sigmaRows tabulates the standard deviation of the noise on means, σ_X = σ_Y, for n = T = 60,000
// and δ = 1/n, with Poisson samples under both relations. Records have 784 pixels in [0, 1], ten
// classes and norms clipped to 9.2. 0 means that there is no value.
var sigmaRows = []struct {
	epsilon         float64
	degree          int
	poison, replace float64
}{
	{20, 64, .063, .0657}, {10, 64, .073, .0775}, {10, 16, .227, 0}, {10, 128, .044, 0},
	{10, 256, .029, 0}, {2, 128, .088, .147}, {1, 64, .168, .275}, {1, 128, .146, .273},
}

// equalNoise returns the configuration of the table. Features and labels have the same noise
// because a label has length 1, the largest value of a pixel.
func equalNoise(sampling mix.Sampling, epsilon float64) mix.Config {
	return mix.Config{
		Schema:   records.Image(28, 28).WithLabels("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		Budget:   accountant.Budget{Epsilon: epsilon, Delta: 1.0 / 60000, Relation: sampling.Relation()},
		Sampling: sampling, Mixtures: 60000, ClipNorm: 9.2, LabelShare: 1 / (1 + 9.2*9.2),
	}
}

// TestNoiseOfTheTable checks that the planned σ agrees with the table within 1 % or the last digit,
// for Poisson samples under both relations.
func TestNoiseOfTheTable(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	for i, row := range sigmaRows {
		if i%3 != 0 {
			continue // pricing takes a second for each row
		}
		samplings := map[float64]mix.Sampling{row.poison: mix.Poisson{Nominal: 60000, Degree: row.degree}}
		if row.replace > 0 {
			samplings[row.replace] = mix.PoissonReplaceOne{Records: 60000, Degree: row.degree}
		}
		for want, sampling := range samplings {
			p := mustPlan(t, equalNoise(sampling, row.epsilon))
			x, y := p.Noise()
			if math.Abs(x-y) > 1e-9 {
				t.Fatalf("noise %v on features, %v on labels", x, y)
			}
			// The plan may use a tighter analysis than the tabulated one.
			better := want == row.replace && x < want
			if !better && math.Abs(x-want) > 0.0006 && math.Abs(x/want-1) > 0.01 {
				t.Errorf("ε = %g, degree %d, %v: σ = %.4f, want %g", row.epsilon, row.degree,
					sampling.Relation(), x, want)
			}
		}
	}
}
