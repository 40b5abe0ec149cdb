package privacytest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
)

// t takes the place of your test's *testing.T, which an example does not have.
var t testing.TB = printer{}

type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// noisyTotal clips values to [0,1] and releases their sum. With clip false it does not clip.
func noisyTotal(ctx context.Context, ledger *ledger.Ledger, values []float64,
	clip bool) (any, error) {
	const noiseMultiplier = 4.0
	run := mechanism.Begin(ctx, ledger)
	std := noiseMultiplier * mechanism.SumSensitivity(run.Relation(), 1)
	sum := mechanism.NewFixedSum(1, mechanism.GridFor(std))
	for _, v := range values {
		if clip {
			v = min(max(v, 0), 1)
		}
		sum.AddRow64([]float64{v}, 1)
	}
	grant, err := run.Spend("total", accountant.Gaussian{NoiseMultiplier: noiseMultiplier})
	if err != nil {
		return nil, err
	}
	out := make([]float64, 1)
	err = grant.Release(1/noiseMultiplier, mechanism.Part{Sum: sum, Std: std, Out: out})
	return out, err
}

func ExampleReplay() {
	for _, clip := range []bool{true, false} {
		findings := privacytest.Replay[[]float64]{
			Run: func(ctx context.Context, l *ledger.Ledger, values []float64) (any, error) {
				return noisyTotal(ctx, l, values, clip)
			},
			Budget:    accountant.Budget{Epsilon: 2, Delta: 1e-5},
			Data:      []float64{0.2, 0.9},
			Neighbour: []float64{0.2, 0.9, 50},
		}.Findings(t) // in a test: .Check(t)
		fmt.Println("clipped:", clip, "findings:", len(findings))
	}
	// Output:
	// clipped: true findings: 0
	// clipped: false findings: 1
}

func ExampleClaim() {
	noisyCount := func(scale float64) func(rows []int) []float64 {
		return func(rows []int) []float64 {
			noise := -scale * math.Log(1-rand.Float64())
			if rand.Uint64()&1 == 0 {
				noise = -noise
			}
			return []float64{math.Round((float64(len(rows))+noise)*1024) / 1024}
		}
	}
	claim := privacytest.Claim[[]int]{
		Run:        noisyCount(2),
		D0:         []int{1, 2, 3},
		D1:         []int{1, 2},
		Epsilon:    0.5,
		FalseAlarm: 1e-9,
	}
	claim.Check(t) // prints nothing: the claim is not refuted
	claim.Run = noisyCount(1)
	fmt.Println("half the noise refuted:", claim.Refuted(t))
	// Output: half the noise refuted: true
}

// A whole training is audited with a canary: a worst-case record that is present or not.
func ExampleClaim_training() {
	for _, clip := range []bool{true, false} {
		refuted := privacytest.Claim[bool]{
			D0: false, D1: true, // whether the canary is present
			Run: func(planted bool) []float64 { // your training, on tiny data
				values := []float64{0.2, 0.9}
				if planted {
					values = append(values, 50)
				}
				l := ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5})
				out, err := noisyTotal(context.Background(), l, values, clip)
				if err != nil {
					panic(err)
				}
				return out.([]float64) // or one score, higher if the canary seems to have been present
			},
			Epsilon:    2,
			Delta:      1e-5,
			FalseAlarm: 1e-9,
			Samples:    1000,
		}.Refuted(t) // in a test: .Check(t)
		fmt.Println("clipped:", clip, "refuted:", refuted)
	}
	// Output:
	// clipped: true refuted: false
	// clipped: false refuted: true
}

func ExampleSeeded() {
	draw := func() any {
		l := ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5})
		out, err := noisyTotal(privacytest.Seeded(t, context.Background(), 7), l,
			[]float64{1, 1}, true)
		if err != nil {
			return err
		}
		return fmt.Sprint(out, l.NotPrivate())
	}
	fmt.Println(draw() == draw())
	// Output: true
}

func ExampleGoodnessOfFit() {
	rng := rand.New(rand.NewPCG(1, 1))
	fit := privacytest.GoodnessOfFit{
		Draw:       func() float64 { return 2 * rng.NormFloat64() },
		CDF:        privacytest.NormalCDF(2),
		FalseAlarm: 1e-9,
	}
	fit.Check(t)
	fit.CDF = privacytest.NormalCDF(2 * 1.3)
	fmt.Println("another scale is rejected:", fit.Rejected(t))
	// Output: another scale is rejected: true
}

func ExampleOneRun() {
	audit := privacytest.OneRun{
		Canaries:   300,
		Guesses:    200, // on the canaries with the most extreme scores
		FalseAlarm: 1e-9,
		Train: func(planted []bool) ([]float64, error) {
			scores := make([]float64, len(planted))
			for i, in := range planted { // a model that remembers every canary
				if in {
					scores[i] = 1
				}
			}
			return scores, nil
		},
	}.Audit(t)
	fmt.Println("leaks:", audit.Epsilon > 2)
	// Output: leaks: true
}
