package mix_test

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// sigmaRows tabulates the standard deviation of the noise on means, σ_X = σ_Y, for n = T = 60,000
// and δ = 1/n. Records have 784 pixels in [0, 1], clipped to norm 9.2, and ten classes.
var sigmaRows = []struct {
	epsilon float64
	degree  int
	// The first column is σ by Theorem 1 with ranges. The second is σ by Theorem 1 with norms
	// (√2·9.2, √2). The third is σ with Poisson sampling under add/remove. 0 means that there is no
	// value.
	paper, clipped, poison float64
	replace                float64 // Poisson sampling under replace-one
}{
	{20, 64, .215, .100, .063, .0657},
	{10, 64, .270, .125, .073, .0775},
	{10, 16, .871, 0, .227, 0},
	{10, 128, .172, 0, .044, 0},
	{10, 256, .150, 0, .029, 0},
	{2, 128, .586, .272, .088, .147},
	{1, 64, 1.149, .534, .168, .275},
	{1, 128, 1.117, .519, .146, .273},
}

// TestPaperTheorem1 checks that the tabulated σ gives the target ε, up to a change of σ in its last
// digit.
func TestPaperTheorem1(t *testing.T) {
	const n = 60000
	for _, row := range sigmaRows {
		for _, c := range []struct {
			sigma, square float64 // Δ²·σ²
		}{{row.paper, 784 + 10}, {row.clipped, 2*9.2*9.2 + 2}} {
			if c.sigma == 0 {
				continue
			}
			epsilon := func(sigma float64) float64 {
				e, err := mix.PaperTheorem1(n, row.degree, n, c.square/sigma/sigma, 1.0/n)
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			slack := max(0.0006, 0.01*c.sigma) // the table's last digit, or 1 %
			if less, more := epsilon(c.sigma-slack),
				epsilon(c.sigma+slack); !(less > row.epsilon && more < row.epsilon) {
				t.Errorf("degree %[2]d, σ = %[3]g: ε is between %.4g and %.4g, want %[1]g", row.epsilon,
					row.degree, c.sigma,
					more, less)
			}
		}
	}
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
