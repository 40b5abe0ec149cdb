package sgd_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestRowsAreNoUsers checks training on a ledger that protects users. Rows that are not declared to
// be users are refused, and nothing is spent.
func TestRowsAreNoUsers(t *testing.T) {
	train := func(data records.Data) (*ledger.Ledger, error) {
		l := ledger.New(budget(1e4), ledger.WithUnit(records.UnitUser))
		trainer := must(sgd.New(with(nil, 1, 1), newCentre(2), l))(t)
		for _, err := range trainer.Steps(t.Context(), data) {
			if err != nil {
				return l, err
			}
		}
		return l, nil
	}
	data := table(t, 5, 2, 0)
	l, err := train(data)
	if wrong := (*param.Error)(nil); !errors.As(err, &wrong) || len(l.Entries()) != 0 {
		t.Errorf("training on rows: error %v, ledger %v; want a refusal", err, l.Entries())
	}
	if _, err := train(records.WithUnit(data, records.UnitUser)); err != nil {
		t.Errorf("users are refused: %v", err)
	}
}

// TestGroupsClipAllTheirBlocks checks that a group of several blocks is clipped as one vector, for
// gradients in one block and in all blocks.
func TestGroupsClipAllTheirBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	lists := [][]sgd.Group{
		{{Blocks: []int{0, 1, 2}, ClipNorm: 0.5}},
		{{Blocks: []int{2, 0}, ClipNorm: 0.5}, {Blocks: []int{1}, ClipNorm: 2}},
		{{Blocks: []int{1}, ClipNorm: 1}, {Blocks: []int{0, 2}, ClipNorm: 0.2}},
	}
	const z = 1.2
	for i, list := range lists {
		longest := 0.0
		for trial := range 30 {
			row := make([]float32, 9)
			for j := range row {
				if trial%4 == 3 || trial%4 == [9]int{0, 0, 1, 1, 1, 1, 2, 2, 2}[j] {
					row[j] = float32(20 * rng.NormFloat64())
				}
			}
			cfg := with(sgd.Groups{List: list}, 1, 1)
			cfg.NoiseMultiplier = z
			s := observe(t, cfg, accountant.AddOrRemoveOne, newBlocky(2, 4, 3), fromFlat(t, 9, row))
			effect := norm(s.sums[0]) / s.releases[0].Std[0]
			if effect > 1/z*(1+1e-6) {
				t.Errorf("groups %d: one record has the effect %v, want at most %v", i, effect, 1/z)
			}
			longest = max(longest, effect*z)
		}
		if longest < 0.99 {
			t.Errorf("groups %d: no record comes near the clip norms (%v): the test has no power",
				i, longest)
		}
	}
}

// TestSavedStateHidesTheBatch checks the saved state of a trainer. For the same released values, it
// does not depend on the size of the batch.
func TestSavedStateHidesTheBatch(t *testing.T) {
	for name, clip := range policies() {
		var states [][]byte
		for _, rows := range []int{0, 1, 7, 200} {
			s := &recorder{seed: 2, force: func(r *entropy.Release) {
				for i := range r.Outputs[0] {
					r.Outputs[0][i] = 1
				}
			}}
			trainer := must(sgd.New(with(clip, 0.5, 3), newCentre(2), ledger.New(budget(1e4)),
				sgd.WithAverage(0.9)))(t)
			for _, err := range trainer.Steps(s.context(t.Context()), table(t, rows, 2, 0)) {
				if err != nil {
					t.Fatal(err)
				}
			}
			states = append(states, trainer.AppendState(nil))
		}
		for _, state := range states[1:] {
			if string(state) != string(states[0]) {
				t.Errorf("%s: the saved state depends on the records", name)
			}
		}
	}
}

// TestQuantileStaysWithinLimits checks that the clip norm of Quantile stays within the limits of
// float32 gradients, even if the released values are extreme.
func TestQuantileStaysWithinLimits(t *testing.T) {
	for _, out := range []float64{-1e12, 1e12} {
		initial := 0x1p58
		if out > 0 {
			initial = 0x1p-58
		}
		cfg := with(sgd.Quantile{Quantile: 0.5, Initial: initial, Rate: 1, NoiseMultiplier: 3}, 1, 12)
		s := &recorder{seed: 2, force: func(r *entropy.Release) {
			for i := range r.Outputs[0] {
				r.Outputs[0][i] = 0
				if r.Mechanism == "Gaussian" {
					r.Outputs[0][i] = out
				}
			}
		}}
		trainer := must(sgd.New(cfg, newCentre(1), ledger.New(budget(1e4))))(t)
		last := 0.0
		for step, err := range trainer.Steps(s.context(t.Context()), table(t, 5, 1, 0)) {
			if err != nil {
				t.Fatal(err)
			}
			last = step.ClipNorm
		}
		if want := math.Copysign(60, -out); math.Log2(last) != want {
			t.Errorf("the clip norm ends at %v, want 2^%v", last, want)
		}
	}
}
