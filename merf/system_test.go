package merf_test

import (
	"flag"
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

var (
	kills = flag.Int("kills", 4, "number of processes to kill")
	long  = flag.Bool("long", false, "run the contract suite of samples and ensembles, too")
)

// subject returns the system with one release of all records or, with Batches, one release of each
// sample.
func subject(b merf.Batches) synthtest.Subject { return subjectOf(b, quick) }

func subjectOf(b merf.Batches, g merf.GeneratorConfig) synthtest.Subject {
	return synthtest.Subject{System: merf.System(),
		Plan: func(s records.Schema, budget accountant.Budget, n int) (synth.Plan, error) {
			c := merf.Config{Schema: s, Budget: budget, Kernel: rff.RBF{Dim: 12, Bandwidth: 1}, Batches: b,
				Generator: g}
			if budget.Relation == accountant.ReplaceOne {
				c.Nominal = n
			}
			p, err := c.Plan()
			if err != nil {
				return nil, err
			}
			return p, nil
		}}
}

// some has enough samples for an interruption between two of them.
var some = merf.Batches{Probability: 0.3, Steps: 12}

func TestContract(t *testing.T) { synthtest.Run(t, subject(merf.Batches{})) }
func TestContractOfSamples(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, subject(some))
}
func TestKilledRunsGoOn(t *testing.T)    { synthtest.Kill(t, subject(merf.Batches{}), *kills) }
func TestKilledSamplesGoOn(t *testing.T) { synthtest.Kill(t, subject(some), *kills) }
func TestProcessesShareACheckpoint(t *testing.T) {
	synthtest.Race(t, subject(merf.Batches{}), max(*kills/4, 1))
}
