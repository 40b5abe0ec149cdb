package synth_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestCheckpointsCountUsesOfSeveralSteps: a checkpoint counts the uses of events whose use has
// several steps, such as an epoch. A run that is killed and resumed, with a ledger of each process,
// takes no more uses than the plan has, and a run that stops within a use leaves a file that can be
// read.
func TestCheckpointsCountUsesOfSeveralSteps(t *testing.T) {
	const uses, steps = 3, 4
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	for name, e := range map[string]accountant.Event{
		"epochs": accountant.RandomAllocation{Steps: steps, NoiseMultiplier: 20},
		"bands": accountant.BandedSum{Probability: .5, NoiseMultiplier: 20,
			Band: []float64{1, .5, .25, .125}},
	} {
		for _, kill := range []int{1, steps, steps + 1, uses * steps, 2 * uses * steps} {
			tap, taken := &usesTap{}, 0
			work := func(r *synth.Run) error {
				for a := r.Allowance("steps"); a.Remaining() > 0; {
					g, err := a.Next()
					if err != nil {
						return err
					}
					g.PoissonSample(table.Len(), nil, nil)
					sum := mechanism.Gradient{Sum: make([]float32, 1), Sensitivity: 1,
						NoiseMultiplier: 20, Workers: 1}
					if err := g.ReleaseGradient(sum, func(int, []float64) {}); err != nil {
						return err
					}
					if taken++; taken == kill && kill%2 == 0 {
						panic("killed")
					} else if taken == kill {
						return errStopped
					}
				}
				return nil
			}
			p, err := synth.NewProgram("reading", table.Schema(), budget,
				[]synth.Stage{{Purpose: "steps", Event: e, Count: uses}}, reading{work})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "run")
			run := func() (err error) {
				defer func() { _ = recover() }()
				_, err = p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), table,
					synth.CheckpointEvery(path, 1))
				return err
			}
			for range 3 {
				if err := run(); err != nil && !errors.Is(err, errStopped) {
					t.Errorf("%s, killed after step %d: %v", name, kill, err)
				}
			}
			if tap.taken != uses {
				t.Errorf("%s, killed after step %d: %d uses were taken, want %d", name, kill, tap.taken,
					uses)
			}
		}
	}
}

var errStopped = errors.New("stopped")

// usesTap counts the uses that were taken.
type usesTap struct {
	releasesTap
	taken int
}

func (u *usesTap) Spend(_ string, _ any, count int, err error) {
	if count == 0 && err == nil {
		u.taken++
	}
}
